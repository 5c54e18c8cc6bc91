// Setting: one thing that Railwright manages. One file in agent/settings/ each; no state, knows no other.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/machine.h"
#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright {

enum class TargetKind : std::uint8_t { kNode, kPort };

/// When a written value takes effect.
enum class Effect : std::uint8_t {
  kRuntime,      ///< at once
  kNeedsReboot,  ///< at the next boot, and Railwright does not write it
  kObserveOnly,  ///< Railwright does not write it (yet)
  /// At the next boot; the write itself only stores it. What is stored and not yet in force is observed as
  /// `pending_reboot`, which counts as read back.
  kNextBoot,
};

/// How drift of a setting is noticed, and the longest it can take.
struct Noticed {
  bool by_event = false;  ///< false: only by the periodic scan
  std::string source;     ///< "rtnetlink", "inotify", "nftables", "ethtool", "scan" …
  std::chrono::milliseconds worst{
      0};  ///< worst delay; 0 = one scan interval; by scan: an answer is kept so long
};

/// A setting's data: everything that explain, catalog, plan and the README table show.
struct SettingInfo {
  std::string key;   ///< "link.mtu", or a family "sysctl.<name>" whose <…> is the param
  std::string code;  ///< code of its drift finding, "RW-1101"; unique
  std::string help;  ///< one line
  std::string why;   ///< one or two sentences: what goes wrong without it
  TargetKind targets = TargetKind::kNode;
  std::string syntax;                         ///< allowed values for a person: "68…65535 bytes, or `max`"
  std::string default_value;                  ///< what a fresh host has, for explain
  std::string interface;                      ///< "rtnetlink IFLA_MTU"
  std::string source;                         ///< kernel file, man page or standard behind it
  Disruption disruption = Disruption::kNone;  ///< worst class of any change
  Noticed noticed;
  Effect effect = Effect::kRuntime;
  int order = 100;  ///< plans execute in ascending order
  /// Settings of one word lean on one another: what one generation asks of them on one port is undone
  /// together when a step of it fails. "": stands alone.
  std::string group{};
  /// The kernel (or networkd) drops the value when the port's link goes: nobody did that drift.
  bool goes_with_link = false;
  std::vector<std::string>
      likely_owners;  ///< process names known to fight over it: "lldpad", "NetworkManager"
  /// Of a family: params that `railwright-agent record` reads although nobody declares them (the well-known
  /// sysctls, the modules of this field), so that a recorded machine answers the questions of tomorrow.
  std::vector<std::string> recorded{};
};

/// A declared port, bound to what this machine has.
struct BoundPort {
  Port port;
  std::string netdev;  ///< "" when not found; then `unbound` says why
  std::string bdf;
  std::string ibdev;  ///< RDMA device of the port, "" when none
  int index = 0;      ///< position among the node's ports, from 0
  std::string unbound;
};

/// What settings and checks may know of their node beside the Machine.
struct NodeFacts {
  std::string node;
  std::vector<std::string> subnets;
  std::vector<BoundPort> ports;
};

/// What a setting is applied to. Pointers outlive the call and are never null for the declared kind.
struct Target {
  std::string name;                 ///< port name, or "" for the node
  std::string param;                ///< what stands for <…> in a family key
  const BoundPort* port = nullptr;  ///< for TargetKind::kPort, bound (netdev not empty)
  const NodeFacts* facts = nullptr;
  /// What will be compared with the observation (from Desired, or an original that was put back); "" when
  /// there is none. It tells Observe where to look (the table of rail.routing), never what to see there.
  std::string wish;
};

/// What was read.
struct Observation {
  enum class Kind : std::uint8_t { kValue, kAbsent, kNotApplicable };
  Kind kind = Kind::kValue;
  std::string value;    ///< canonical; "" for absent
  std::string reason;   ///< for kNotApplicable: CamelCase word (NoRdmaDevice, NoConfigfs …)
  std::string message;  ///< for kNotApplicable: the sentence; else extra evidence, may be ""
  /// A value that is set in a file but takes effect at the next boot; the verdict is Pending(NeedsReboot).
  bool pending_reboot = false;
  /// The greatest value that this device takes, for settings whose wish may be the word `max`; else "".
  std::string at_most;
  /// Machine path of the parameter in a card's flash that this value is, and that a write goes to; "" for
  /// all else. Such a write takes effect at the next boot, whatever SettingInfo::effect says: storing it
  /// disturbs nothing, and what it is stored for is the whole card.
  std::string stored_in;

  static Observation Value(std::string v) { return {Kind::kValue, std::move(v), {}, {}, false, {}, {}}; }
  static Observation Absent() { return {Kind::kAbsent, {}, {}, {}, false, {}, {}}; }
  static Observation NotApplicable(std::string why, std::string sentence) {
    return {Kind::kNotApplicable, {}, std::move(why), std::move(sentence), false, {}, {}};
  }
};

/// Where a wish ends up underneath. Two settings, or two targets of one, may be two names of one thing.
struct WritePlace {
  /// Machine path of what is written; the same for all who would write it, so without the PCI function where
  /// the whole card shares it.
  std::string path;
  std::string value;  ///< the wish in the place's own words: who has the same path and value agrees
  std::string apart;  ///< what would give each a place of its own, as the end of a sentence; "" when nothing
};

class Setting {
 public:
  virtual ~Setting() = default;
  virtual const SettingInfo& info() const = 0;

  /// What a key of this family is applied to; by default info().targets. A sysctl whose name holds `{netdev}`
  /// is applied to ports, any other to the node.
  virtual TargetKind TargetsOf(std::string_view param) const;

  /// The one spelling of a param ("net/ipv4/conf/all/arp_ignore" is "net.ipv4.conf.all.arp_ignore"), so that
  /// two spellings of a key are one key. A malformed param is returned as it is; Canonical refuses it. Pure.
  virtual std::string CanonicalParam(std::string_view param) const;

  /// One spelling per meaning; pure and idempotent. InvalidArgument names what was seen and what is allowed,
  /// and refuses params (sysctl names, file paths) outside the compiled-in allow-list.
  virtual Result<std::string> Canonical(std::string_view param, std::string_view value) const = 0;

  /// The concrete wish for this target: expands words such as "declared" from the port's addresses.
  /// Pure. By default the canonical value itself.
  virtual Result<std::string> Desired(const Target& target, std::string_view canonical) const;

  /// Reads; never writes. An error becomes Unknown(ReadFailed).
  virtual Result<Observation> Observe(const Machine& machine, const Target& target) const = 0;

  /// Whether what was read fulfils the wish. By default equality (absent fulfils "").
  virtual bool Satisfied(const Target& target, std::string_view desired, const Observation& observed) const;

  /// What a profile says to have what was observed, here and on any other node; by default the value itself.
  /// An error (FailedPrecondition) says why no profile can: the value belongs to one host. The caller checks
  /// that what it gets is canonical, and fulfilled by `observed`. Pure.
  virtual Result<std::string> AsWish(const Target& target, const Observation& observed) const;

  /// Writes `value` (from Desired, or an earlier observation: an original; "" = make absent).
  /// The caller reads back.
  virtual Status Apply(Machine& machine, const Target& target, std::string_view value) const = 0;

  /// Why such a wish is only looked at; "" when it is written. By default said of Effect::kObserveOnly. Pure.
  virtual std::string OnlyLookedAt(const Target& target, std::string_view desired) const;

  /// The class of this very change; by default info().disruption.
  virtual Disruption DisruptionOf(const Target& target, std::string_view from, std::string_view to) const;

  /// Where `desired` (from Desired, or an original) would be written, when another setting or target may name
  /// the same place; wishes of one place that differ are refused (ConflictingValues). `seen` is what Observe
  /// gave. Pure; by default nothing: the key and its target are a place of their own.
  virtual std::optional<WritePlace> WritesTo(const Target& target, std::string_view desired,
                                             const Observation& seen) const;

  /// Everything the write disturbs: netdev names, "card:<bdf>" (all functions of the card), "driver:<name>"
  /// (all devices of it), "unit:<name>"; by default the port's netdev, or nothing.
  virtual std::vector<std::string> BlastSet(const Target& target) const;

  /// Makes what an observation needs (configfs directories) and is not there: at agent start, and again when
  /// a read says NotFound. What was created now is returned as Machine paths that Set(path, "") removes
  /// again; the agent journals them and removes them at stop. By default nothing.
  virtual Result<std::vector<std::string>> Prepare(Machine& machine) const;
};

/// All settings of this build, in a fixed order; the list is generated from the folder agent/settings.
class Catalog {
 public:
  explicit Catalog(std::vector<std::unique_ptr<const Setting>> settings);

  struct Match {
    const Setting* setting;
    std::string param;  ///< canonical
    std::string key;    ///< the full key in its one spelling
  };
  /// The setting of a full key. NotFound names the nearest known key.
  Result<Match> Find(std::string_view key) const;
  const std::vector<std::unique_ptr<const Setting>>& settings() const { return settings_; }
  /// Lower-case hex FNV-1a 64 over every key, syntax and code: two builds with the same hash know the same.
  const std::string& hash() const { return hash_; }

 private:
  std::vector<std::unique_ptr<const Setting>> settings_;
  std::string hash_;
};

/// Generated: the catalogue of this build. Defined in the settings library.
Catalog MakeCatalog();

}  // namespace railwright
