#include "controller/rpc/fleet_core.h"

#include "controller/rpc/intake.h"
#include "core/wire/wire.h"

namespace railwright {
namespace {

/// How long the core may sleep when nothing comes: deadlines, probes and progress are looked after that
/// often.
constexpr std::chrono::milliseconds kTick{100};
/// Events handled before a commit, so that the first report of a flood is not acknowledged after the last.
constexpr std::size_t kBatch = 256;

const Status& Stopping() {
  static const Status kStatus(Code::kUnavailable, "the controller is stopping");
  return kStatus;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

FleetCore::FleetCore(Store& store, const Clock& clock, const CatalogDeclarations& catalog,
                     FleetOptions options)
    : clock_(clock), model_(store, clock, catalog, options) {
  model_.ShowTo([this](std::shared_ptr<const FleetView> view) {
    std::lock_guard lock(mutex_);
    view_.swap(view);
  });
}

FleetCore::~FleetCore() { Stop(); }

void FleetCore::Start() {
  thread_ = std::thread([this] { Run(); });
}

void FleetCore::Stop() {
  events_.Close();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const FleetView> FleetCore::view() const {
  std::lock_guard lock(mutex_);
  return view_;
}

void FleetCore::Run() {
  while (true) {
    auto events = events_.WaitAllFor(kTick);
    std::size_t handled = 0;
    for (Event& event : events) {
      Handle(event);
      if (++handled % kBatch == 0) model_.EndBatch();
    }
    model_.EndBatch();
    if (events.empty() && events_.closed()) break;
  }
  model_.Shutdown();
}

void FleetCore::Handle(Event& event) {
  std::visit(
      Overloaded{
          [&](OpenedEvent& e) { model_.OnOpened(e.link); },
          [&](SaidEvent& e) { model_.OnMessage(e.link, *e.message); },
          [&](GoneEvent& e) { model_.OnGone(e.link); },
          [&](Installation& e) { model_.Install(std::move(e)); },
          [&](PlanQuestion& e) { model_.Ask(std::move(e)); },
          [&](ObserveQuestion& e) { model_.Ask(std::move(e)); },
          [&](FollowEvent& e) { model_.Follow(e.generation, clock_.Now() + e.timeout, std::move(e.tell)); },
          [&](WatchEvent& e) { model_.Watch(std::move(e.tell)); },
          [&](PauseOrder& e) { model_.SetPause(std::move(e)); },
          [&](ForgetEvent& e) { model_.Forget(e.node, e.by, std::move(e.done)); },
          [&](UnsignedQuestion& e) { model_.Ask(std::move(e)); },
          [&](SignatureOrder& e) { model_.Sign(std::move(e)); },
          [&](RolloutQuestion& e) { model_.Ask(std::move(e)); },
          [&](RolloutCommand& e) { model_.Do(std::move(e)); },
      },
      event);
}

void FleetCore::Opened(std::shared_ptr<AgentLink> link) {
  if (!events_.Post(OpenedEvent{link})) link->End(Stopping());
}

bool FleetCore::Said(std::shared_ptr<AgentLink> link, std::unique_ptr<v1::AgentMessage> message) {
  Bound(*message);
  return events_.Post(SaidEvent{std::move(link), std::move(message)});
}

void FleetCore::Gone(std::shared_ptr<AgentLink> link) { (void)events_.Post(GoneEvent{std::move(link)}); }

void FleetCore::Install(Installation order) {
  const auto done = order.done;
  if (!events_.Post(std::move(order))) done(Stopping());
}

void FleetCore::Ask(PlanQuestion question) {
  const auto done = question.done;
  if (!events_.Post(std::move(question))) done({}, {});
}

void FleetCore::Ask(ObserveQuestion question) {
  const auto done = question.done;
  if (!events_.Post(std::move(question))) done({});
}

void FleetCore::Follow(std::uint64_t generation, std::chrono::milliseconds timeout,
                       std::function<bool(v1::ApplyEvent)> tell) {
  (void)events_.Post(FollowEvent{generation, timeout, std::move(tell)});
}

void FleetCore::Watch(std::function<bool(const FleetNews&)> tell) {
  (void)events_.Post(WatchEvent{std::move(tell)});
}

void FleetCore::Ask(UnsignedQuestion question) {
  const auto done = question.done;
  if (!events_.Post(std::move(question))) done(nullptr, {});
}

void FleetCore::Sign(SignatureOrder order) {
  const auto done = order.done;
  if (!events_.Post(std::move(order))) done(Stopping(), 0);
}

void FleetCore::Ask(RolloutQuestion question) {
  const auto done = question.done;
  if (!events_.Post(std::move(question))) done({});
}

void FleetCore::Do(RolloutCommand command) {
  const auto done = command.done;
  if (!events_.Post(std::move(command))) done(Stopping(), {});
}

void FleetCore::SetPause(PauseOrder order) {
  const auto done = order.done;
  if (!events_.Post(std::move(order))) done(Stopping(), {});
}

void FleetCore::Forget(std::string node, AuditRow by,
                       std::function<void(const Status&, std::vector<Pause>)> done) {
  const auto refused = done;
  if (!events_.Post(ForgetEvent{std::move(node), std::move(by), std::move(done)})) refused(Stopping(), {});
}

}  // namespace railwright
