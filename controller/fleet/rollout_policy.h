// rollout_policy: the terms by which a generation spreads, from a RolloutPolicy document. Pure.
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/fleet/complaints.h"
#include "core/spec/loader.h"
#include "railwright/result.h"

namespace railwright {

/// A number of nodes, or a share of them.
struct Amount {
  std::uint32_t number = 0;  ///< of nodes, or percent
  bool percent = false;

  /// Of `of` nodes, rounded down.
  std::size_t Of(std::size_t of) const { return percent ? of * number / 100 : number; }
  std::string Text() const;  ///< "3", "10%"
  /// "3", "10%"; InvalidArgument otherwise, for more than 100 % and for more than 100,000 nodes.
  static Result<Amount> Parse(std::string_view text);
  friend bool operator==(const Amount&, const Amount&) = default;
};

/// Which nodes come next.
struct Wave {
  enum class Kind : std::uint8_t {
    kMore,   ///< `amount` more nodes (a number)
    kUntil,  ///< until `amount` (percent) of the members have been chosen
    kRack,   ///< one rack
    kRacks,  ///< a rack, and again, until none is left
    kAll,
  };
  Kind kind = Kind::kAll;
  Amount amount;

  /// "1 node", "until 10% of the nodes", "one rack", "rack by rack", "the rest".
  std::string Text() const;
  static Result<Wave> Parse(std::string_view text);
  friend bool operator==(const Wave&, const Wave&) = default;
};

/// A part of each week, in UTC.
struct Window {
  std::bitset<7> days;             ///< on which it begins; 0 = Monday
  std::chrono::minutes from{0};    ///< after midnight
  std::chrono::minutes length{0};  ///< 1 minute to 24 hours; it may reach into the next day

  bool Contains(std::chrono::system_clock::time_point now) const;
  /// When it begins next; after `now`.
  std::chrono::system_clock::time_point Next(std::chrono::system_clock::time_point now) const;
  std::string text;  ///< as it was written
  /// "Mon-Fri 22:00-06:00", "Sat,Sun 00:00-24:00", "daily 02:00-04:00". An end at or before the beginning is
  /// the next day's.
  static Result<Window> Parse(std::string_view text);
  friend bool operator==(const Window&, const Window&) = default;
};

struct RolloutPolicy {
  std::string name;  ///< "RolloutPolicy/careful"; "" = built in
  std::vector<Wave> waves{{Wave::Kind::kMore, {1, false}}, {Wave::Kind::kUntil, {10, true}}, {}};
  std::chrono::seconds soak{5};
  std::chrono::seconds settle_within{900};
  Amount max_unavailable{25, true};                          ///< of the inventory; at least one node
  Amount max_failed{2, true};                                ///< of the wave; at least one node
  std::vector<std::string> apart;                            ///< labels, or "rack"
  std::vector<Window> windows;                               ///< none: always
  std::optional<Amount> approve_above, approve_twice_above;  ///< of the inventory
  Amount breaker{5, true};                                   ///< of the inventory; at least three nodes

  /// Of a fleet of `fleet` nodes; 1 or more.
  std::size_t UnavailableMost(std::size_t fleet) const;
  /// How many others must approve a change of `members` of `fleet` nodes: 0, 1 or 2.
  std::uint32_t ApprovalsFor(std::size_t members, std::size_t fleet) const;
  bool Open(std::chrono::system_clock::time_point now) const;  ///< by its windows
  friend bool operator==(const RolloutPolicy&, const RolloutPolicy&) = default;
};

/// What a message says, or the first thing that is wrong with it. For messages that were checked before.
Result<RolloutPolicy> ReadRolloutPolicy(const v1::RolloutPolicy& message);

namespace fleet {
struct Inventory;
/// The one in force; none when no document is one. Every problem is told with its place: a text that cannot
/// be read, with the field's name and what is allowed; waves that do not end with "all" or "racks", or
/// percents that do not grow, or waves after those; a second document ("at most one RolloutPolicy can be in
/// force; the other is at …"). What no node has (a label of `apart`, a rack for `apart` or a wave) is a
/// warning.
std::optional<RolloutPolicy> CompileRolloutPolicy(const std::vector<Document>& documents,
                                                  const Inventory& inventory, Complaints& complaints,
                                                  std::vector<std::string>& warnings);
}  // namespace fleet

}  // namespace railwright
