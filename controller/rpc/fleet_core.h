// FleetCore: the one thread that owns the fleet model and writes the store, fed by a queue.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <variant>

#include "controller/rpc/fleet_model.h"
#include "railwright/mailbox.h"

namespace railwright {

/// All calls but Load, Start and Stop may come from any thread; none blocks. Callbacks of orders run in the
/// core's thread and must not block either.
class FleetCore {
 public:
  FleetCore(Store& store, const Clock& clock, const CatalogDeclarations& catalog, FleetOptions options = {});
  ~FleetCore();
  FleetCore(const FleetCore&) = delete;
  FleetCore& operator=(const FleetCore&) = delete;

  Status Load() { return model_.Load(); }
  void Start();
  /// Commits what waits, ends all streams, joins. What is posted later is answered Unavailable, or dropped.
  void Stop();

  std::shared_ptr<const FleetView> view() const;

  // Agents' streams.
  void Opened(std::shared_ptr<AgentLink> link);
  /// The message is cut to what may be kept (intake.h), in the caller's thread. False: the core has stopped.
  bool Said(std::shared_ptr<AgentLink> link, std::unique_ptr<v1::AgentMessage> message);
  void Gone(std::shared_ptr<AgentLink> link);

  // Operators' orders.
  void Install(Installation order);
  void Ask(PlanQuestion question);
  void Ask(ObserveQuestion question);
  void Follow(std::uint64_t generation, std::chrono::milliseconds timeout,
              std::function<bool(v1::ApplyEvent)> tell);
  void Watch(std::function<bool(const FleetNews&)> tell);
  void SetPause(PauseOrder order);
  void Forget(std::string node, AuditRow by, std::function<void(const Status&, std::vector<Pause>)> done);
  void Ask(UnsignedQuestion question);
  void Sign(SignatureOrder order);
  void Ask(RolloutQuestion question);
  void Do(RolloutCommand command);

 private:
  struct OpenedEvent {
    std::shared_ptr<AgentLink> link;
  };
  struct SaidEvent {
    std::shared_ptr<AgentLink> link;
    std::unique_ptr<v1::AgentMessage> message;
  };
  struct GoneEvent {
    std::shared_ptr<AgentLink> link;
  };
  struct FollowEvent {
    std::uint64_t generation;
    std::chrono::milliseconds timeout;
    std::function<bool(v1::ApplyEvent)> tell;
  };
  struct WatchEvent {
    std::function<bool(const FleetNews&)> tell;
  };
  struct ForgetEvent {
    std::string node;
    AuditRow by;
    std::function<void(const Status&, std::vector<Pause>)> done;
  };
  using Event = std::variant<OpenedEvent, SaidEvent, GoneEvent, Installation, PlanQuestion, ObserveQuestion,
                             FollowEvent, WatchEvent, PauseOrder, UnsignedQuestion, SignatureOrder,
                             RolloutQuestion, RolloutCommand, ForgetEvent>;

  void Run();
  void Handle(Event& event);

  const Clock& clock_;
  FleetModel model_;  // of the core's thread once it runs
  Queue<Event> events_;
  mutable std::mutex mutex_;
  std::shared_ptr<const FleetView> view_;
  std::thread thread_;
};

}  // namespace railwright
