#include "controller/cli/rollout_watch.h"

#include <optional>
#include <thread>

#include "controller/cli/rollout_view.h"
#include "controller/cli/watch_view.h"
#include "core/text/times.h"

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGone{60'000};  // so long a controller that was seen may be away (a restart)
constexpr milliseconds kBetween{1000};
constexpr milliseconds kAnswer{10'000};
constexpr std::size_t kLiveLines = 10;  // fits any terminal

class Watcher {
 public:
  explicit Watcher(Context& context) : context_(context), begin_(context.console.clock().Now()) {}

  ExitCode Run() {
    for (;;) {
      const CallOptions call{.deadline = std::min(kAnswer, std::max(Left(), milliseconds(1))),
                             .tick = [&console = context_.console] { console.Tick(); }};
      const auto answer = context_.controller.Rollouts({}, call);
      if (context_.interrupted.load()) return Interrupted();
      if (answer.ok()) {
        if (const auto code = See(*answer)) return End(*code);
      } else if (seen_ && Left().count() <= 0) {
        return TimedOut();
      } else if (const auto code = Missed(answer.status())) {
        return End(*code);
      }
      if (const auto code = Pause()) return *code;
    }
  }

 private:
  const Clock& clock() const { return context_.console.clock(); }
  milliseconds Left() const {
    const milliseconds bound = context_.globals.timeout;
    if (bound.count() <= 0) return milliseconds::max();
    return bound - std::chrono::duration_cast<milliseconds>(clock().Now() - begin_);
  }

  // The exit code when this was the end of it.
  std::optional<ExitCode> See(const v1::RolloutsResponse& answer) {
    if (!seen_ && !context_.table()) EmitObject(context_, {{"type", "version"}, {"ui", "1.0"}});
    seen_ = true;
    gone_since_.reset();
    const bool any = !answer.rollouts().empty();
    if (any && generation_ == 0) generation_ = answer.rollouts(0).generation();
    const bool overtaken = any && answer.rollouts(0).generation() != generation_;
    if (overtaken) superseded_by_ = answer.rollouts(0).generation();

    std::optional<ExitCode> code;
    if (BreakerOpen(answer)) {
      code = ExitCode::kStopped;
    } else if (overtaken || !any) {
      code = ExitCode::kDone;
    } else {
      switch (answer.rollouts(0).state()) {
        case v1::ROLLOUT_STATE_DONE:
        case v1::ROLLOUT_STATE_SUPERSEDED:
        case v1::ROLLOUT_STATE_HALTED:
        case v1::ROLLOUT_STATE_ABORTED: code = RolloutExit(answer); break;
        default: break;
      }
    }
    Show(answer, code.has_value());
    return code;
  }

  void Show(const v1::RolloutsResponse& answer, bool last) {
    const auto now = clock().WallNow();
    if (!context_.table()) {
      const Json all = RolloutsJson(answer);
      if (!News(all.dump(-1, ' ', false, Json::error_handler_t::replace))) return;
      Json object = {{"type", "rollout"}, {"at", Rfc3339(now)}};
      object.update(all);
      EmitObject(context_, object);
      return;
    }
    if (superseded_by_ != 0) {
      context_.console.Print("generation " + std::to_string(superseded_by_) + " took the place of " +
                             std::to_string(generation_) + "; follow: railctl rollout status --watch\n");
      if (!BreakerOpen(answer)) return;
    }
    if (context_.console.live_is_drawn()) {
      if (last) {
        context_.console.Print(RolloutText(answer, context_.console.out_terminal(), now));
      } else {
        context_.console.Live(RolloutLive(answer, kLiveLines));
      }
      return;
    }
    const std::string line = RolloutLine(answer);
    if (!News(line)) return;
    std::string next;
    if (!answer.rollouts().empty()) next = Printable(answer.rollouts(0).next());
    context_.console.Print(TimeOfDay(now) + "  " + line + (next.empty() ? "" : "; next: " + next) + "\n");
    context_.console.Flush();
  }

  bool News(const std::string& text) {
    std::string key = WithoutCountdown(text);
    if (key == shown_) return false;
    shown_ = std::move(key);
    return true;
  }

  // A controller that was seen may be restarted meanwhile.
  std::optional<ExitCode> Missed(const Status& status) {
    if (!seen_ || status.code() != Code::kUnavailable) return Fail(context_, status);
    if (!gone_since_) {
      context_.console.Note("the controller is gone; trying again every second");
      gone_since_ = clock().Now();
    }
    if (clock().Now() - *gone_since_ > kGone) return Fail(context_, status);
    return std::nullopt;
  }

  std::optional<ExitCode> Pause() {
    const auto until = clock().Now() + kBetween;
    while (clock().Now() < until) {
      if (context_.interrupted.load()) return Interrupted();
      if (Left().count() <= 0) return TimedOut();
      context_.console.Tick();
      std::this_thread::sleep_for(milliseconds(50));
    }
    return std::nullopt;
  }

  ExitCode Interrupted() {
    context_.console.EndLive();
    context_.console.Error(seen_ ? "interrupted; the rollout goes on\nnext: railctl rollout status"
                                 : "interrupted");
    return End(ExitCode::kInterrupted);
  }
  ExitCode TimedOut() {
    context_.console.EndLive();
    context_.console.Error("the time is over; the rollout goes on\nnext: railctl rollout status --watch");
    return End(ExitCode::kTimedOut);
  }
  ExitCode End(ExitCode code) {
    context_.console.EndLive();
    if (seen_ && !context_.table())
      EmitObject(context_,
                 {{"type", "result"}, {"exit", static_cast<int>(code)}, {"superseded_by", superseded_by_}});
    return code;
  }

  Context& context_;
  const Clock::Steady begin_;
  bool seen_ = false;
  std::uint64_t generation_ = 0, superseded_by_ = 0;
  std::string shown_;
  std::optional<Clock::Steady> gone_since_;
};

}  // namespace

ExitCode WatchRollout(Context& context) { return Watcher(context).Run(); }

}  // namespace railwright::cli
