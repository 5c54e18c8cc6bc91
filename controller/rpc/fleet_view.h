// FleetView: what the fleet looks like now, as an immutable snapshot that any thread may read.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "controller/rpc/desired.h"
#include "railwright/clock.h"
#include "railwright/v1/admin.pb.h"

namespace railwright {

/// When a node was last heard of. The one part of a view that moves: heartbeats publish nothing.
struct Heard {
  std::atomic<std::int64_t> wall_us{0};    ///< since 1970; 0 = never
  std::atomic<std::int64_t> steady_us{0};  ///< of the controller's steady clock; 0 = not in this life of it

  /// Longer than `silent_after` without a word, or never a word in this life of the controller. A stream that
  /// ended is no silence by itself: an agent that dials again at once was never gone.
  bool Silent(Clock::Steady now, std::chrono::milliseconds silent_after) const;
  /// A word came now.
  void Note(const Clock& clock);
};

struct NodeView {
  std::string name;
  bool declared = false;   ///< in the inventory; false: it left it and was not forgotten
  bool connected = false;  ///< a stream of it is open now
  std::shared_ptr<const Heard> heard;
  std::shared_ptr<const StoredReport> report;  ///< null: never reported
  std::string agent_version, boot_id, catalog_hash;
  std::vector<std::string> missing;  ///< features that one end lacks, as sentences
  std::string nack;                  ///< why the newest state is not in force there
  std::string waits;                 ///< why that state is not sent to it: signatures are missing …
  std::string desired_hash;          ///< of the state that it should have
};

struct FleetView {
  std::shared_ptr<const FleetState> state;             ///< never null
  std::vector<std::shared_ptr<const NodeView>> nodes;  ///< sorted by name
  std::vector<Pause> pauses;
  std::string read_only;                 ///< why the store takes no writes; "" = it does
  std::uint64_t highest_generation = 0;  ///< ever seen here or in an agent's Hello
  std::chrono::milliseconds silent_after{30'000};

  /// Null when nothing is known of it.
  const NodeView* Find(std::string_view name) const;
  /// Three heartbeats without a word, connected or not, or never seen.
  bool Stale(const NodeView& node, Clock::Steady now) const;
  /// The report is one against the state that the node should have now.
  static bool UpToDate(const NodeView& node);
  v1::NodeStatus StatusOf(const NodeView& node, Clock::Steady now) const;
  /// The nodes of names and ranges; none = the whole inventory. NotFound names what is not known and the
  /// nearest name.
  Result<std::vector<const NodeView*>> Select(const std::vector<std::string>& patterns) const;
};

}  // namespace railwright
