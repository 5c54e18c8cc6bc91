#include <thread>

#include "controller/cli/verbs.h"
#include "controller/cli/watch_view.h"

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGone{60'000};  // so long a controller that was seen may be away (a restart)
constexpr milliseconds kBetween{1000};

}  // namespace

ExitCode Run(Context& context, const WatchOptions& options) {
  v1::WatchRequest request;
  for (const std::string& name : options.nodes) request.add_nodes(name);
  WatchView view(context.console.out_terminal());
  const Clock& clock = context.console.clock();
  bool seen = false;
  const auto begin = [&] {  // the first line of a stream says how to read the rest
    if (!seen && !context.table()) EmitObject(context, {{"type", "version"}, {"ui", "1.0"}});
    seen = true;
  };
  const auto end = [&](ExitCode code) {
    if (seen && !context.table()) EmitObject(context, {{"type", "result"}, {"exit", static_cast<int>(code)}});
    return code;
  };
  auto lost = clock.Now();
  for (bool told = false;;) {
    const CallOptions call{.deadline = milliseconds(0), .tick = [] {}};
    const Status status = context.controller.Watch(request, call, [&](const v1::WatchEvent& event) {
      begin();
      told = false;
      lost = clock.Now();
      if (context.table()) {
        context.console.Print(view.Line(event, clock.WallNow()));
        context.console.Flush();
      } else {
        for (const Json& object : view.Objects(event, clock.WallNow())) EmitObject(context, object);
      }
    });
    if (context.interrupted.load()) return end(ExitCode::kInterrupted);
    const bool away = status.ok() || status.code() == Code::kUnavailable;
    if (!away || !seen)
      return end(FailNamed(
          context, status.ok() ? Status(Code::kUnavailable, "the controller ended the watch") : status));
    if (!told) {
      context.console.Note("the controller is gone; trying again every second");
      lost = clock.Now();
      told = true;
    }
    if (clock.Now() - lost > context.TimeoutOr(kGone))
      return end(Fail(context, Status(Code::kUnavailable,
                                      status.ok() ? "the controller ended the watch" : status.message())));
    for (milliseconds waited{0}; waited < kBetween && !context.interrupted.load(); waited += milliseconds(50))
      std::this_thread::sleep_for(milliseconds(50));
    if (context.interrupted.load()) return end(ExitCode::kInterrupted);
  }
}

}  // namespace railwright::cli
