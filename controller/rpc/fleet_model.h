// FleetModel: everything the controller knows of its fleet, and every rule about it. One thread owns it; it
// never blocks but on the store's commits, and knows no gRPC, no thread and no time but the clock it is
// given.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/rpc/agent_link.h"
#include "controller/rpc/drift_breaker.h"
#include "controller/rpc/fleet_view.h"
#include "controller/rpc/rollout_keeper.h"
#include "controller/sign/endorser.h"
#include "controller/store/store.h"
#include "railwright/catalog.h"
#include "railwright/clock.h"

namespace railwright {

struct FleetOptions {
  std::chrono::milliseconds silent_after{30'000};   ///< three heartbeats: from then on a node is stale
  std::chrono::milliseconds hello_within{10'000};   ///< of a new stream, or it is ended
  std::chrono::milliseconds probe_every{2'000};     ///< while the store takes no writes
  std::chrono::milliseconds dropped_grace{15'000};  ///< a node that dropped off during an apply is waited for
  std::size_t batch = 100;             ///< reports in one commit (performance: 29,300 rows a second)
  std::size_t unsaved_changes = 4096;  ///< a node's, while the disk is full; then its stream waits
  std::size_t findings_most = 20'000;  ///< of one node
  std::size_t findings_bytes_most =
      8 << 20;                       ///< of one node's findings, together (40 of them have some 12 KiB)
  std::size_t catalogs_most = 1000;  ///< hashes of other builds' catalogues that are remembered
  Endorser* endorser = nullptr;      ///< without one no node is sent a state: agents take signed ones only
  std::chrono::milliseconds renewal_look_every{60'000};  ///< whether signed states are to be renewed
  RolloutPolicy built_in{};  ///< how a generation spreads where no document says so
};

/// What watchers are told.
struct FleetNews {
  std::vector<std::string> nodes;       ///< whose status changed
  std::vector<v1::NodeChange> changes;  ///< durable history that came
  std::uint64_t generation = 0;         ///< a new one was stored; 0 = none
};

/// What all questions to agents share: one command a node, a deadline, who did not answer and why.
struct AgentQuestion {
  std::string feature;             ///< that an agent must have announced: "plan", "observe"
  std::vector<std::string> nodes;  ///< sorted
  std::chrono::milliseconds timeout{10'000};
  /// The command for a node, with this id.
  std::function<Outbound(std::uint64_t id, const std::string& node)> command;
  std::function<bool(const v1::PlanProgress&)> progress;  ///< false: nobody listens any more
  /// An answer without an error; false when it does not hold what was asked for.
  std::function<bool(const std::string& node, v1::CommandResult& result)> answered;
  std::function<void(std::vector<v1::NotAnswered>)> done;  ///< sorted by node; called once
};

/// A dry run on the agents.
struct PlanQuestion {
  std::uint64_t generation = 0;
  std::map<std::string, NodeDesired> states;
  std::chrono::milliseconds timeout{10'000};
  std::function<bool(const v1::PlanProgress&)> progress;  ///< false: nobody listens any more
  std::function<void(std::vector<v1::Plan>, std::vector<v1::NotAnswered>)> done;
};

/// What is every setting on these nodes now?
struct ObserveQuestion {
  std::vector<std::string> nodes;  ///< sorted
  std::chrono::milliseconds timeout{30'000};
  std::function<bool(const v1::PlanProgress&)> progress;
  std::function<void(v1::ObservedNode)> node;  ///< as each answers; its name is the asked one
  std::function<void(std::vector<v1::NotAnswered>)> done;
};

/// A new generation, ready to be stored.
struct Installation {
  std::shared_ptr<const FleetState> state;
  std::uint64_t base =
      0;  ///< the generation that it was made from; Aborted when that is no longer the latest
  AuditRow audit;
  std::function<void(const Status&)> done;
  std::string person{};  ///< who may not approve it; "" = the author
};

/// How far has the present rollout got?
struct RolloutQuestion {
  std::string node;  ///< this one in any case
  std::function<void(v1::RolloutsResponse)> done;
};

/// What a person orders of the present rollout, or of the brakes.
struct RolloutCommand {
  enum class What : std::uint8_t { kPause, kResume, kAbort, kApprove, kResetBreaker };
  What what = What::kPause;
  std::uint64_t generation = 0;  ///< that is meant; 0 = the present
  std::string reason;
  std::string person;  ///< by his certificate
  Caller caller;       ///< his scope must hold the nodes that the rollout changes
  AuditRow by{};       ///< who, from where, by which certificate; the model fills in the rest
  std::function<void(const Status&, v1::RolloutsResponse)> done;  ///< with the rollout, or the brakes reset
};

/// What waits for signatures, with what it is about.
struct UnsignedQuestion {
  std::function<void(std::shared_ptr<const FleetState>, std::vector<Unsigned>)> done;
};

struct SignatureOrder {
  std::vector<SignatureOffer> offers;
  AuditRow by{};  ///< who, from where, by which certificate; the model fills in the rest
  std::function<void(const Status&, std::uint64_t taken)> done;
};

struct PauseOrder {
  Pause pause;
  bool resume = false;
  std::function<void(const Status&, v1::SetPauseResponse)> done;
  AuditRow by{};  ///< who, from where, by which certificate; the model fills in the rest
};

class FleetModel {
 public:
  FleetModel(Store& store, const Clock& clock, const CatalogDeclarations& catalog, FleetOptions options);

  /// Everything from the store. A generation that this build cannot resolve is no error: FleetState::problem.
  Status Load();
  std::shared_ptr<const FleetView> view() const { return view_; }
  /// In force; the view shows it at the end of the batch.
  std::uint64_t generation() const { return state_->number(); }
  /// `show` gets the present view, and from then on each new one before anybody is told of what it shows: who
  /// has been answered finds his own write, and a watcher who is woken finds the news.
  void ShowTo(std::function<void(std::shared_ptr<const FleetView>)> show);

  // What agents' streams say.
  void OnOpened(const std::shared_ptr<AgentLink>& link);
  void OnMessage(const std::shared_ptr<AgentLink>& link, v1::AgentMessage& message);
  void OnGone(const std::shared_ptr<AgentLink>& link);

  // What operators order.
  void Install(Installation order);
  void Ask(AgentQuestion question);
  void Ask(PlanQuestion question);
  void Ask(ObserveQuestion question);
  /// Tells how far `generation` has got until every connected node has settled or `deadline`. `tell` gives
  /// false when nobody listens any more.
  void Follow(std::uint64_t generation, Clock::Steady deadline, std::function<bool(v1::ApplyEvent)> tell);
  /// Tells every node at once, and from then on what changes, until `tell` gives false.
  void Watch(std::function<bool(const FleetNews&)> tell);
  void SetPause(PauseOrder order);
  void Ask(UnsignedQuestion question);
  void Sign(SignatureOrder order);
  void Ask(RolloutQuestion question);
  void Do(RolloutCommand command);
  /// `done` is given the pauses that were dropped with the node.
  void Forget(const std::string& node, AuditRow by,
              std::function<void(const Status&, std::vector<Pause>)> done);

  /// To be called when a batch of the above is done, and at least each 200 ms: publishes, commits,
  /// acknowledges, answers, and does what is due. Orders are answered here, not before.
  void EndBatch();
  /// Ends every stream; dry runs are answered with what there is.
  void Shutdown();

 private:
  struct Node {
    std::string name;
    bool declared = false;
    std::shared_ptr<AgentLink> link;
    Clock::Steady linked_at{}, lost_at{};
    std::string agent_version, boot_id, catalog_hash;
    std::set<std::string> features;
    std::vector<std::string> missing;
    bool same_build = false;            // its report hashes can be checked here
    std::string enforced_hash;          // the state that it says it has
    std::string sent_hash;              // the state that this link was sent last
    std::uint64_t sent_number = 0;      // and its statement
    std::uint64_t told_generation = 0;  // that it said it enforces, or was sent since; what it reports of
                                        // older ones says nothing about that
    std::string uuid;                   // as its link proved
    std::uint64_t held_number = 0;      // the newest statement that it says it accepted
    std::string held_digest;
    std::string waits;  // why it is not sent its state; "" = it is
    std::string nack, nack_hash;
    std::shared_ptr<Heard> heard = std::make_shared<Heard>();
    bool silent = true;                                // as watchers were told
    std::shared_ptr<const StoredReport> report;        // the newest, durable or not
    std::shared_ptr<const StoredReport> acknowledged;  // the newest that the agent knows to be durable
    std::uint64_t durable_change = 0, known_change = 0;
    std::uint64_t counted_generation = 0;    // of `changed`
    std::uint32_t changed = 0;               // intended and restored changes for that generation
    std::vector<KeyTarget> ailing, failing;  // settings that are enforced and not so; checks
    bool held_back = false;                  // one message was not Consumed: its history waits for the disk
    std::vector<ChangeRecord> unsaved_changes;
    std::optional<v1::ReportAck> ack;  // to be sent when all is durable
  };
  struct Asking {
    AgentQuestion question;
    Clock::Steady deadline;
    std::map<std::uint64_t, std::string> waiting;  // command id → node
    std::vector<v1::NotAnswered> missing;
    std::uint32_t asked = 0;
    bool moved = true;  // since the last progress event
    Clock::Steady told{};
  };
  struct Following {
    std::uint64_t generation;
    Clock::Steady deadline;
    std::function<bool(v1::ApplyEvent)> tell;
    std::set<std::string> open;  // not told as done yet
    std::vector<std::string> last_waiting, last_unreachable;
    Clock::Steady looked{};
    bool first = true;
  };

  // fleet_model.cc, fleet_orders.cc
  Node& Touch(Node& node);
  void Publish();
  std::shared_ptr<const NodeView> ViewOf(const Node& node) const;
  NodeDesired DesiredOf(const Node& node) const;
  void Push(Node& node) { Push(std::vector<Node*>{&node}); }
  void PushPauses(Node& node);
  void Flush();
  void BreakMassDrift();
  bool Writable();
  void CannotWrite(const Status& status);
  /// The row with the present time.
  AuditRow Stamped(AuditRow row) const;
  /// `why`, after it was written into the audit as this order's outcome.
  Status Refused(AuditRow row, const Status& why);
  void Unlink(Node& node);
  Status UnknownNode(const std::string& name) const;
  /// `done`, called by EndBatch when what the order did is shown.
  template <class... Answer>
  std::function<void(Answer...)> WhenShown(std::function<void(Answer...)> done) {
    return [this, done = std::move(done)](Answer... answer) {
      answers_.push_back([done, answer...] { done(answer...); });
    };
  }

  // fleet_sign.cc
  void Push(const std::vector<Node*>& nodes);
  std::vector<Result<Endorsed>> Endorse(const std::vector<Node*>& nodes);
  void NoteWaits(Node& node, const Status& endorsed);
  std::vector<Node*> Connected();
  void LookAtRenewals(Clock::Steady now);

  // fleet_rollout.cc
  void MoveRollout();
  MemberSight SightOf(const std::string& name) const;
  bool Holds(const std::string& name, const std::string& hash) const;
  std::vector<std::string> ReadyOf(const std::vector<std::string>& names);
  void NoteAiling(Node& node);
  const std::string& RackOf(const std::string& name) const;
  void PushAllPauses();

  // fleet_agents.cc
  void OnHello(const std::shared_ptr<AgentLink>& link, const v1::Hello& hello);
  void Welcome(Node& node, const v1::Hello& hello);
  void OnReport(Node& node, v1::Report& report);
  std::uint64_t OnHistory(Node& node, const v1::Report& report);
  bool Merge(const Node& node, const v1::Report& report, NodeReport& merged) const;
  void OnHeartbeat(Node& node, const v1::Heartbeat& heartbeat);
  void OnNack(Node& node, const v1::Nack& nack);

  // fleet_follow.cc
  void OnResult(Node& node, v1::CommandResult& result);
  void TellAskers();
  void FinishAsking(Asking& asking);
  void TellFollowers();
  bool TellFollower(Following& following);
  std::optional<v1::NodeOutcome> OutcomeOf(const Node& node) const;
  void NoteSilence(Clock::Steady now);
  void TellWatchers();

  Store& store_;
  const Clock& clock_;
  const CatalogDeclarations& catalog_;
  const FleetOptions options_;

  std::shared_ptr<const FleetState> state_;
  std::map<std::string, Node> nodes_;
  std::map<const AgentLink*, Node*> by_link_;
  std::map<std::shared_ptr<AgentLink>, Clock::Steady> strangers_;  // no Hello yet
  std::vector<Pause> pauses_;
  DriftBreaker breaker_;
  bool drifted_ = false;            // since the breaker was asked last
  std::set<std::string> catalogs_;  // hashes whose content is known
  std::uint64_t highest_generation_ = 0;
  RolloutKeeper rollouts_;

  std::string read_only_;
  Clock::Steady next_probe_{}, next_silence_look_{}, next_renewal_look_{};
  struct ByName {  // not by address: one simulated run is to be like the other
    bool operator()(const Node* a, const Node* b) const { return a->name < b->name; }
  };
  std::set<Node*, ByName> unsaved_;

  std::set<std::string> touched_;  // since the last Publish
  bool reshaped_ = true;           // nodes came or went, or something beside nodes changed
  std::shared_ptr<const FleetView> view_;
  std::function<void(std::shared_ptr<const FleetView>)> show_;
  std::vector<std::function<void()>> answers_;  // of WhenShown

  std::uint64_t next_command_ = 1;
  std::deque<Asking> asking_;
  std::deque<Following> following_;
  std::vector<std::function<bool(const FleetNews&)>> watchers_;
  std::vector<v1::NodeChange> fresh_changes_;  // durable since the last TellWatchers
  std::uint64_t fresh_generation_ = 0;
};

/// How far an agent may be ahead of this controller, in generations: as many as were stored between the
/// backup that was restored and the loss of the store. A million is an apply a second for eleven days. What
/// an agent claims beyond that is not believed, or the next apply would take a number near the end of all
/// numbers, and none could follow.
inline constexpr std::uint64_t kGenerationsAheadMost = 1'000'000;

/// The highest wire revision that both ends speak, or the sentence that refuses the agent.
Result<unsigned> NegotiateWire(const v1::Hello& hello, unsigned newest, unsigned oldest);

}  // namespace railwright
