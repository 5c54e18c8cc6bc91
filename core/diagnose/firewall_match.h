// Which packets of a class a rule's condition holds for. Private to the walk in firewall.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/firewall.h"
#include "core/diagnose/firewall_constants.h"

namespace railwright {

/// What conntrack makes of the packets.
enum class Tracking : std::uint8_t { kTracked, kUntracked, kEither };

/// A part of the class that has shared its fate so far: the product of its sets.
struct Piece {
  IntervalSet sources;
  IntervalSet destinations;
  IntervalSet source_ports;
  IntervalSet ports;
  std::vector<std::string> interfaces;
  std::optional<std::uint64_t> mark = 0;  ///< nothing: set to what cannot be read
  Tracking tracking = Tracking::kTracked;
  int lineage = 0;      ///< 0: surely exists; else the split of possibilities that it stems from
  bool behind = false;  ///< dropped by an earlier base chain; followed only to name what else is in the way

  friend bool operator==(const Piece&, const Piece&) = default;
  bool SameState(const Piece& other) const { return mark == other.mark && tracking == other.tracking; }
};

/// Where the walk is.
struct WalkPlace {
  const PacketClass* packets = nullptr;
  const nft::Table* table = nullptr;
  const nft::Chain* base = nullptr;
  bool before_conntrack = false;
  bool hidden_rules = false;
};

/// What a condition looks at, in the packets of one piece.
struct PacketField {
  enum class Kind : std::uint8_t {
    kRange,    ///< `dimension` of the piece: addresses or ports
    kNames,    ///< the interfaces of the piece
    kNoName,   ///< an interface that is not there, which the kernel reads as ""
    kScalar,   ///< one of `values`, the same for all packets of the piece
    kNever,    ///< the packets have no such field: the rule ends here, whatever the operator
    kUnclear,  ///< `why`
  };
  Kind kind = Kind::kUnclear;
  IntervalSet Piece::*dimension = nullptr;
  bool addresses = false;
  std::vector<std::uint64_t> values{};
  NumberNames names{};
  std::optional<Number128> mask{};  ///< of a kRange: contiguous from the left
  std::string why{};
  bool by_amount = false;

  static PacketField Range(IntervalSet Piece::*which, bool is_address) {
    PacketField field;
    field.kind = Kind::kRange;
    field.dimension = which;
    field.addresses = is_address;
    return field;
  }
  static PacketField Scalar(std::vector<std::uint64_t> numbers, NumberNames known = {}) {
    PacketField field;
    field.kind = Kind::kScalar;
    field.values = std::move(numbers);
    field.names = known;
    return field;
  }
  static PacketField Never() {
    PacketField field;
    field.kind = Kind::kNever;
    return field;
  }
  static PacketField Interfaces(bool present) {
    PacketField field;
    field.kind = present ? Kind::kNames : Kind::kNoName;
    return field;
  }
  static PacketField Unclear(std::string reason, bool amount = false) {
    PacketField field;
    field.why = std::move(reason);
    field.by_amount = amount;
    return field;
  }
};

/// A piece, divided by a condition.
struct Split {
  enum class Way : std::uint8_t {
    kAll,      ///< it holds for the whole piece
    kNone,     ///< for nothing of it
    kPart,     ///< for `matched`, not for `rest`
    kUnclear,  ///< `unclear` says why it cannot be told for which
  };
  Way way = Way::kNone;
  std::vector<Piece> matched{};  ///< of kPart
  std::vector<Piece> rest{};
  std::string unclear{};
  bool by_amount = false;  ///< unclear because it depends on how much traffic there is, or on chance

  static Split Whole(bool matched) {
    Split split;
    split.way = matched ? Way::kAll : Way::kNone;
    return split;
  }
  static Split Part(Piece in, Piece out) {
    Split split;
    split.way = Way::kPart;
    split.matched.push_back(std::move(in));
    split.rest.push_back(std::move(out));
    return split;
  }
  static Split Unclear(std::string why, bool amount = false) {
    Split split;
    split.way = Way::kUnclear;
    split.unclear = std::move(why);
    split.by_amount = amount;
    return split;
  }
};

/// More parts than this of one piece are not followed.
inline constexpr std::size_t kMostParts = 512;

/// The field behind the left side of a condition.
PacketField FieldOf(const nft::Expression& left, const Piece& piece, const WalkPlace& place);

class Matcher {
 public:
  /// A kMatch statement.
  Split Match(const nft::Statement& statement, const Piece& piece, const WalkPlace& place);

  /// A kVmap statement: the verdicts with the parts that get them, and what no element holds for.
  struct Mapped {
    std::vector<std::pair<nft::Expression, std::vector<Piece>>> verdicts;  ///< each a kVerdict
    std::vector<Piece> rest;
    std::string unclear;
  };
  Mapped Map(const nft::Statement& statement, const Piece& piece, const WalkPlace& place);

 private:
  const IntervalSet* NamedRanges(const nft::Expression& right, bool addresses, const WalkPlace& place);
  std::optional<IntervalSet> RangesOf(const nft::Expression& right, bool addresses, const WalkPlace& place);
  /// Divides by one field and one right side; `op` as in nft::Statement.
  Split Divide(const PacketField& field, const std::string& op, const nft::Expression& right,
               const Piece& piece, const WalkPlace& place);
  Split DivideNames(bool present, bool negated, const nft::Expression& right, const Piece& piece,
                    const WalkPlace& place);
  Split DivideElement(const std::vector<PacketField>& fields, const nft::Expression& element,
                      const Piece& piece, const WalkPlace& place);
  /// Moves what the element holds for out of `open` into the result's `matched`.
  Split DivideOpen(const std::vector<PacketField>& fields, const nft::Expression& element,
                   std::vector<Piece>& open, const WalkPlace& place);
  static std::optional<IntervalSet> MaskedRange(Number128 mask, const nft::Expression& right,
                                                const WalkPlace& place);
  /// False when the packets lack one of them.
  static bool FieldsOf(const nft::Expression& left, const Piece& piece, const WalkPlace& place,
                       std::vector<PacketField>& fields);

  std::map<const nft::Set*, std::optional<IntervalSet>> ranges_;  // named sets, converted once
};

}  // namespace railwright
