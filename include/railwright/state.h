// The words for what should be, what is, and how the two compare. Plain values, no I/O.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railwright {

/// Numbered state of a fleet's desired documents; 0 means "none yet". Never goes back.
struct Generation {
  std::uint64_t value = 0;
  auto operator<=>(const Generation&) const = default;
};

/// Whether a deviation is only reported or also corrected. The default is to observe.
enum class Mode : std::uint8_t { kObserve, kEnforce };

enum class PortRole : std::uint8_t { kUnspecified, kFabric, kStorage, kManagement };

/// A port as the operator declares it in a Cluster document, with this node's addresses filled in.
struct Port {
  std::string name;  ///< "rail0": unique within a node
  PortRole role = PortRole::kUnspecified;
  std::string pci;                     ///< select by BDF, "0000:18:00.0"; or
  std::string netdev;                  ///< select by interface name
  std::vector<std::string> addresses;  ///< CIDR, "10.10.0.1/24", "fd00:10::1/64"
  std::vector<std::string> gateways;   ///< next hops for the rail's own table, "10.10.0.254"
  friend bool operator==(const Port&, const Port&) = default;
};

/// Where a resolved value came from.
struct Origin {
  std::string document;  ///< "Profile/roce-lossless"
  std::string place;     ///< "site.yaml:14:5"
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// How much a change disturbs; ordered. Source: fact sheet section 14 and vendor documents named per setting.
enum class Disruption : std::uint8_t { kNone, kTrafficBlip, kLinkFlap, kFunctionReset, kReboot, kPowerCycle };

/// One resolved wish: this key, on this target, has this value.
struct SettingSpec {
  std::string key;     ///< full key, "sysctl.net.ipv4.conf.all.arp_ignore"
  std::string target;  ///< port name, or "" for the node
  std::string value;   ///< as declared (canonical by the catalogue); lists joined by ","
  Mode mode = Mode::kObserve;
  Origin origin;
  /// The highest class that a write of it may be of without a further approval, by its profile.
  Disruption max_disruption = Disruption::kTrafficBlip;
  friend bool operator==(const SettingSpec&, const SettingSpec&) = default;
};

struct KeyTarget {
  std::string key;
  std::string target;
  auto operator<=>(const KeyTarget&) const = default;
};

/// Another node's address on the rail of a port.
struct RailPeer {
  std::string port;     ///< of this node
  std::string address;  ///< without a prefix length
  friend bool operator==(const RailPeer&, const RailPeer&) = default;
};

/// How long an operator may let a try wait for its confirmation, and what counts when none said so.
inline constexpr std::chrono::milliseconds kShortestTry{30'000}, kLongestTry{900'000}, kDefaultTry{120'000};

/// The whole intended state of one node.
struct DesiredState {
  Generation generation;
  std::string hash;  ///< lower-case hex SHA-256 over the original bytes (group, then overlay)
  std::string node;
  std::string cluster;
  std::vector<std::string> subnets;  ///< the cluster's fabric subnets, CIDR, for firewall.rdma
  std::vector<Port> ports;
  std::vector<SettingSpec> settings;
  std::vector<KeyTarget> restore;  ///< no longer declared; the journalled original is to be put back
  std::vector<RailPeer> peers;     ///< whom a port may ask whether the rail works; a few for each
  /// Set: the operator allows changes that touch the way to the controller, each undone by itself unless it
  /// is confirmed within this time. 0: he did not.
  std::chrono::milliseconds try_for{0};
};

/// No evidence is Unknown, and Unknown never passes anything.
enum class Verdict : std::uint8_t { kUnknown, kCompliant, kDrifted, kPending, kNotApplicable };

/// The verdict on one (key, target), with its evidence.
struct Finding {
  std::string code;  ///< "RW-1101": railctl explain RW-1101
  std::string key;   ///< setting or check key
  std::string target;
  std::string desired;   ///< "" for checks
  std::string observed;  ///< as read; "" when nothing could be read
  Verdict verdict = Verdict::kUnknown;
  std::string
      reason;  ///< one CamelCase word, stable: ReadFailed, Contended, NeedsReboot … ("" when compliant)
  std::string message;  ///< a sentence for a person: what, where, seen, allowed, the kernel's own words
  std::string fix;      ///< the next step, as a command or a sentence
  std::vector<std::string> evidence;  ///< "/rtnl/link/rail0/mtu = 1500"
  Mode mode = Mode::kObserve;
  Origin origin;
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Worst of Drifted > Unknown > Pending > Compliant; NotApplicable does not count; nothing applicable is
/// Unknown.
Verdict WorstOf(const std::vector<Finding>& findings);

/// Everything one node has to say, for one generation.
struct NodeReport {
  std::string node;
  Generation generation;   ///< the generation that was observed against
  std::string state_hash;  ///< hash of the desired state it was observed against
  Verdict verdict = Verdict::kUnknown;
  std::vector<Finding> findings;  ///< sorted by (key, target)
  bool settled = false;  ///< a full pass over this generation has ended (applied what may be applied)
};

/// Why a value changed.
enum class ChangeKind : std::uint8_t {
  kIntended,    ///< a new generation asked for it
  kCorrective,  ///< drift was put right
  kRestored,    ///< an original was put back
  kUndone,      ///< a failed plan was rolled back
  kDrift,       ///< seen to deviate from what had been compliant; nothing written
  kContended,   ///< enforcement of it stopped
};

/// One line of a node's history. Kept on the node until the controller has stored it.
struct ChangeRecord {
  std::uint64_t sequence = 0;  ///< grows by one per node; the controller drops what it already has
  ChangeKind kind = ChangeKind::kIntended;
  std::string key;
  std::string target;
  std::string from;
  std::string to;
  std::string by;       ///< for drift: who did it, when the kernel told ("nft[4711]"); else ""
  std::string noticed;  ///< "event" or "scan"
  bool ok = false;      ///< read back as wanted
  std::string message;  ///< when not ok: why
  Generation generation;
  std::chrono::system_clock::time_point at;
  /// From the hint (or the start of the scan) to the read-back.
  std::chrono::microseconds took{0};
  /// Of a drift: the link of the port went, and this value goes with its link. Not kept in the history.
  bool with_link = false;
};

/// One write that a plan would do, or why it would not.
struct Step {
  std::string key;
  std::string target;
  std::string from;
  std::string to;
  Disruption disruption = Disruption::kNone;
  std::vector<std::string> blast;  ///< netdevs, cards, units that the write disturbs; {} = the target only
  std::string why;                 ///< one sentence from the catalogue
  Origin origin;
  Mode mode = Mode::kObserve;
  std::string refused;          ///< "" = would be done; else Reason word: ObserveMode, ManagementPath …
  std::string refused_message;  ///< the sentence that goes with it
  bool next_boot = false;       ///< the write only stores it; it takes effect at the next boot
  friend bool operator==(const Step&, const Step&) = default;
};

struct Plan {
  std::string node;
  Generation generation;
  std::vector<Step> steps;        ///< in the order of execution
  std::vector<Finding> findings;  ///< what the plan was made from
};

/// What an operator has stopped: "" for node means all nodes, "" for key means all keys.
struct Pause {
  std::string node;
  std::string key;
  std::string by;
  std::string reason;
  friend bool operator==(const Pause&, const Pause&) = default;
};

// Stable spellings, as machine output and the wire's JSON show them.
std::string_view Name(Mode);        ///< observe enforce
std::string_view Name(PortRole);    ///< unspecified fabric storage management
std::string_view Name(Disruption);  ///< None TrafficBlip LinkFlap FunctionReset Reboot PowerCycle
std::string_view Name(Verdict);     ///< Compliant Drifted Pending NotApplicable Unknown
std::string_view Name(ChangeKind);  ///< intended corrective restored undone drift contended
std::optional<Mode> ParseMode(std::string_view);
std::optional<PortRole> ParsePortRole(std::string_view);
std::optional<Disruption> ParseDisruption(std::string_view);

}  // namespace railwright
