// Invariants: what was promised to whom, and whether it is kept. Independent of the code under test: it
// remembers what went over the wire and to operators, and compares.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/rpc/desired.h"
#include "controller/store/store.h"
#include "railwright/v1/agent.pb.h"
#include "tests/sim/events.h"

namespace railwright::sim {

class World;
class NodeHost;

/// What one node should look like: machine path → raw value.
struct Wished {
  std::string node, hash;
  std::set<std::uint64_t> generations;  ///< that say so
  std::map<std::string, std::string> values;
  Duration try_for{0};
};

/// The machine path of a (key, target), and what the machine holds when `value` is fulfilled.
std::string PathOf(const std::string& key, const std::string& target);
std::string RawOf(const std::string& key, const std::string& value);

class Invariants {
 public:
  explicit Invariants(World& world) : world_(world) {}

  // What operators were told.
  void Proposed(const FleetState& base, const FleetState& state);
  void Stored(const FleetState& state, const std::string& who);
  void PauseOrdered(const Pause& pause, bool resume);
  void PauseAnswered(const Pause& pause, bool resume, const std::string& who);
  void ForgetOrdered(const std::string& node);
  void Answered(const std::string& who);
  /// An order about the rollout of `generation` was given, and was answered Ok.
  void RolloutOrdered(std::uint64_t generation);
  void RolloutAnswered(std::uint64_t generation, RolloutPhase phase, const std::string& who);
  /// A person orders that those which failed be let be; until he is answered nobody can say how many change.
  void ResumeOrdered() { ++resuming_; }
  void ResumeAnswered(const std::vector<std::string>& accepted);
  /// I1, I5 over the store, after a restart and at the end.
  void CheckStore(const Store& store);

  // What goes over the wire.
  void Hello(NodeHost& node, const v1::Hello& hello);
  void FromAgent(NodeHost& node, const v1::AgentMessage& message);
  void ReportAcked(const std::string& node, const v1::ReportAck& ack);
  /// I3: a state leaves the controller for a node; what a node said reaches the controller.
  void Given(const std::string& node, const v1::DesiredState& state);
  void Received(const std::string& node, const v1::AgentMessage& message);

  // What happens on a node.
  void BeforeSet(NodeHost& node, const std::string& path, const std::string& value,
                 const std::string& present);
  /// `kept`: nothing kept the agent from making them durable.
  void PausesHandled(NodeHost& node, const v1::PauseList& list, bool kept);
  void MachineChanged(NodeHost& node);
  void AgentDied(NodeHost& node);
  void LostPower(NodeHost& node);
  /// Over a connection that was dialled at `dialled` a large report went up and its answer has come down.
  void LargeAnswered(NodeHost& node, Duration dialled);

  /// I3, I4, I7: after every step.
  void Check();
  /// I6: when nothing has gone wrong for long enough.
  void CheckConverged();

  /// What the agent of a node last acknowledged; null when nothing.
  const Wished* InForce(const std::string& node) const;

 private:
  // A value on the way to the controller that may be there for a while only.
  struct Tried {
    std::string before, value;
    Duration since{0}, ends{0};
  };
  struct NodeLedger {
    std::uint64_t acked = 0;  // generation
    std::string acked_hash;
    std::uint64_t answered_report = 0;             // index in `reports` of the newest that was acknowledged
    std::vector<std::string> reports;              // hashes, in the order sent
    std::map<std::uint64_t, std::string> changes;  // by sequence
    std::uint64_t stored_change = 0;               // that the controller said is stored
    std::vector<Pause> pauses;                     // that the agent has taken in
    bool pauses_sure = true;                       // and must remember
    std::map<std::string, std::set<std::string>> seen;  // values that a path held once
    std::optional<Duration> deviates_since;
    Duration looked{0};
    int deaths = 0;                      // since the last acknowledged state
    std::map<std::string, Tried> tried;  // by path
    std::map<std::string, std::set<std::string>>
        reached_with;  // values of it that the controller was reached with
    Duration disk_ok_since{0};
  };
  enum class PauseState { kSet, kCleared, kMaybe };
  // What a node was given, or said that it has.
  struct Having {
    std::string hash;
    std::uint64_t generation = 0;
  };
  // How a generation may spread.
  struct Spread {
    std::size_t cap = 0;
    RolloutPolicy terms;
    std::set<std::string> declared;
  };

  void CheckChanging();
  void CheckTries(NodeHost& node, NodeLedger& ledger);
  bool Deviates(const NodeHost& node) const;
  void Broken(const std::string& why) const;

  World& world_;
  std::map<std::string, Wished> wishes_;         // by hash and node
  std::map<std::uint64_t, std::string> stored_;  // generation → digest of its documents
  std::map<std::string, NodeLedger> nodes_;
  std::map<std::pair<std::string, std::string>, PauseState> pauses_;
  std::set<std::string> audited_;            // who was answered Ok
  std::map<std::uint64_t, Spread> spreads_;  // by generation
  std::map<std::string, Having> changing_;   // I3: not known to be at rest with it
  std::map<std::string, Having> rests_;      // at rest with it
  std::map<std::string, Having>
      reported_;  // the last settled report that came in, whatever it was given since
  std::map<std::string, std::string> given_;  // the hash of the last one
  std::size_t cap_ = 0;                       // of the generation that was given last
  int resuming_ = 0;
  bool begun_meanwhile_ = false;  // somebody was begun while a resume was open
  std::map<std::uint64_t, std::optional<RolloutPhase>> rollouts_;  // as answered; none: an order is open
};

}  // namespace railwright::sim
