#include "core/diagnose/firewall_match.h"

#include <algorithm>
#include <string_view>

#include "core/diagnose/firewall_constants.h"

namespace railwright {
using nft::Expression;
using Kind = Expression::Kind;

const IntervalSet* Matcher::NamedRanges(const Expression& right, bool addresses, const WalkPlace& place) {
  const nft::Set* set = place.table->FindSet(right.name);
  if (set == nullptr) return nullptr;
  auto it = ranges_.find(set);
  if (it == ranges_.end()) {
    const Expression elements{.kind = Kind::kSet, .parts = set->elements};
    it = ranges_.emplace(set, RangesOf(elements, addresses, place)).first;
  }
  return it->second ? &*it->second : nullptr;
}

// Nothing when a part of it cannot be read. Addresses of the other family are left out.
std::optional<IntervalSet> Matcher::RangesOf(const Expression& right, bool addresses,
                                             const WalkPlace& place) {
  const auto number = [&](const Expression& one) -> std::optional<Number128> {
    if (!addresses) return ConstantOf(one, {});
    if (one.kind == Kind::kNumber && one.number >= 0) return static_cast<Number128>(one.number);
    if (one.kind != Kind::kText) return std::nullopt;
    const auto address = ParseNumberedAddress(one.name);
    if (!address || address->ipv6 != place.packets->ipv6) return std::nullopt;
    return address->number;
  };
  switch (right.kind) {
    case Kind::kWildcard: return IntervalSet::Range(0, ~Number128{0});
    case Kind::kSetReference: {
      const IntervalSet* named = NamedRanges(right, addresses, place);
      return named == nullptr ? std::nullopt : std::optional(*named);
    }
    case Kind::kSet:
    case Kind::kList: {
      std::vector<IntervalSet::Interval> all;
      for (const Expression& part : right.parts) {
        const Expression& key = part.kind == Kind::kPair ? part.parts[0] : part;
        const auto ranges = RangesOf(key, addresses, place);
        if (!ranges) return std::nullopt;
        all.insert(all.end(), ranges->intervals().begin(), ranges->intervals().end());
      }
      return IntervalSet(std::move(all));
    }
    case Kind::kPrefix: {
      if (!addresses || right.parts.empty()) return std::nullopt;
      const auto address = ParseNumberedAddress(right.parts[0].name);
      if (!address) return std::nullopt;
      if (address->ipv6 != place.packets->ipv6) return IntervalSet();
      return PrefixRange(*address, right.number);
    }
    case Kind::kRange: {
      if (right.parts.size() != 2) return std::nullopt;
      const auto first = number(right.parts[0]), last = number(right.parts[1]);
      if (!first || !last) return std::nullopt;
      return IntervalSet::Range(*first, *last);
    }
    case Kind::kText:
      if (addresses) {
        if (const auto address = ParseNumberedAddress(right.name);
            address && address->ipv6 != place.packets->ipv6)
          return IntervalSet();
      }
      [[fallthrough]];
    case Kind::kNumber: {
      const auto one = number(right);
      return one ? std::optional(IntervalSet::Of(*one)) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

Split Matcher::Divide(const PacketField& field, const std::string& op, const Expression& right,
                      const Piece& piece, const WalkPlace& place) {
  const bool negated = op == "!=" || op == "!";
  switch (field.kind) {
    case PacketField::Kind::kNever: return Split::Whole(false);
    case PacketField::Kind::kUnclear: return Split::Unclear(field.why, field.by_amount);
    case PacketField::Kind::kScalar: {
      std::optional<bool> all;
      for (const std::uint64_t value : field.values) {
        const auto one = HoldsFor(value, op, right, field.names, *place.table);
        if (!one) return Split::Unclear(nft::Text(right));
        if (all && *all != *one) return Split::Unclear("whether the packets are tracked (new) or untracked");
        all = one;
      }
      return Split::Whole(all.value_or(false));
    }
    case PacketField::Kind::kNames:
    case PacketField::Kind::kNoName:
      return DivideNames(field.kind == PacketField::Kind::kNames, negated, right, piece, place);
    case PacketField::Kind::kRange: break;
  }
  const IntervalSet& present = piece.*field.dimension;
  IntervalSet inside;
  if (right.kind == Kind::kSetReference && !field.mask) {
    const IntervalSet* named = NamedRanges(right, field.addresses, place);
    if (named == nullptr) return Split::Unclear("the set @" + right.name);
    inside = present.And(*named);
  } else {
    auto wanted =
        field.mask ? MaskedRange(*field.mask, right, place) : RangesOf(right, field.addresses, place);
    if (wanted && op != "==" && op != "in" && !negated)
      wanted = wanted->intervals().size() == 1 ? OrderedRange(op, wanted->intervals().front().first)
                                               : std::nullopt;
    if (!wanted) return Split::Unclear(nft::Text(right));
    inside = present.And(*wanted);
  }
  if (inside.empty() || inside == present) return Split::Whole(inside.empty() == negated);
  Piece in = piece, out = piece;
  out.*field.dimension = present.Without(inside);
  in.*field.dimension = std::move(inside);
  if (negated) std::swap(in, out);
  return Split::Part(std::move(in), std::move(out));
}

Split Matcher::DivideNames(bool present, bool negated, const Expression& right, const Piece& piece,
                           const WalkPlace& place) {
  std::vector<std::string> patterns, in, out;
  if (!AppendInterfacePatterns(right, *place.table, patterns)) return Split::Unclear(nft::Text(right));
  const std::vector<std::string> none{""};
  for (const std::string& name : present ? piece.interfaces : none) {
    const bool fits = std::any_of(patterns.begin(), patterns.end(),
                                  [&](const std::string& one) { return FitsInterfacePattern(one, name); });
    (fits != negated ? in : out).push_back(name);
  }
  if (in.empty() || out.empty()) return Split::Whole(out.empty());
  Piece matched = piece, rest = piece;
  matched.interfaces = std::move(in);
  rest.interfaces = std::move(out);
  return Split::Part(std::move(matched), std::move(rest));
}

// `ip saddr & 255.255.0.0 == 10.9.0.0`: a prefix, when the mask is one.
std::optional<IntervalSet> Matcher::MaskedRange(Number128 mask, const Expression& right,
                                                const WalkPlace& place) {
  const bool ipv6 = place.packets->ipv6;
  const auto address = right.kind == Kind::kText ? ParseNumberedAddress(right.name) : std::nullopt;
  if (!address || address->ipv6 != ipv6) return std::nullopt;
  const int bits = ipv6 ? 128 : 32;
  std::int64_t length = 0;
  while (length < bits && (mask >> (bits - 1 - length) & 1) != 0) ++length;
  const auto ones = PrefixRange({~Number128{0} >> (128 - bits), ipv6}, length);
  if (!ones || ones->intervals().front().first != mask) return std::nullopt;
  return PrefixRange(*address, length);
}

// By an element of a set over one or several fields.
Split Matcher::DivideElement(const std::vector<PacketField>& fields, const Expression& element,
                             const Piece& piece, const WalkPlace& place) {
  if (element.kind == Kind::kWildcard) return Split::Whole(true);
  if (fields.size() == 1) return Divide(fields[0], "==", element, piece, place);
  if (element.kind != Kind::kConcat || element.parts.size() != fields.size())
    return Split::Unclear(nft::Text(element));
  Split result = Split::Whole(true);
  Split unclear;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Piece& now = result.matched.empty() ? piece : result.matched.front();
    Split one = Divide(fields[i], "==", element.parts[i], now, place);
    if (one.way == Split::Way::kNone) return Split::Whole(false);
    if (one.way == Split::Way::kUnclear) unclear = std::move(one);  // another field may still rule it out
    if (one.way == Split::Way::kPart) {
      result.way = Split::Way::kPart;
      result.rest.push_back(std::move(one.rest.front()));
      result.matched = std::move(one.matched);
    }
  }
  return unclear.way == Split::Way::kUnclear ? unclear : result;
}

Split Matcher::DivideOpen(const std::vector<PacketField>& fields, const Expression& element,
                          std::vector<Piece>& open, const WalkPlace& place) {
  Split taken;
  std::vector<Piece> more;
  for (std::size_t i = 0; i < open.size();) {
    Split one = DivideElement(fields, element, open[i], place);
    if (one.way == Split::Way::kUnclear) return one;
    if (one.way == Split::Way::kNone) {
      ++i;
      continue;
    }
    if (one.way == Split::Way::kAll) taken.matched.push_back(std::move(open[i]));
    for (Piece& piece : one.matched) taken.matched.push_back(std::move(piece));
    for (Piece& piece : one.rest) more.push_back(std::move(piece));
    if (i + 1 != open.size()) open[i] = std::move(open.back());
    open.pop_back();
  }
  for (Piece& piece : more) open.push_back(std::move(piece));
  if (open.size() + taken.matched.size() > kMostParts) return Split::Unclear("a set that divides too often");
  return taken;
}

bool Matcher::FieldsOf(const Expression& left, const Piece& piece, const WalkPlace& place,
                       std::vector<PacketField>& fields) {
  if (left.kind != Kind::kConcat) {
    fields.push_back(FieldOf(left, piece, place));
    return fields.back().kind != PacketField::Kind::kNever;
  }
  return std::all_of(left.parts.begin(), left.parts.end(), [&](const Expression& part) {
    fields.push_back(FieldOf(part, piece, place));
    return fields.back().kind != PacketField::Kind::kNever;
  });
}

Split Matcher::Match(const nft::Statement& statement, const Piece& piece, const WalkPlace& place) {
  if (statement.left.kind != Kind::kConcat)
    return Divide(FieldOf(statement.left, piece, place), statement.op, statement.right, piece, place);
  std::vector<PacketField> fields;
  if (!FieldsOf(statement.left, piece, place, fields)) return Split::Whole(false);

  const std::vector<Expression>* elements = &statement.right.parts;
  if (statement.right.kind == Kind::kSetReference) {
    const nft::Set* set = place.table->FindSet(statement.right.name);
    if (set == nullptr) return Split::Unclear("the set @" + statement.right.name);
    elements = &set->elements;
  }
  Split result;
  result.rest.push_back(piece);
  const auto take = [&](const Expression& element) {
    Split one = DivideOpen(fields, element, result.rest, place);
    for (Piece& part : one.matched) result.matched.push_back(std::move(part));
    if (one.way == Split::Way::kUnclear) result = std::move(one);
    return result.way != Split::Way::kUnclear;
  };
  if (statement.right.kind == Kind::kSet || statement.right.kind == Kind::kSetReference) {
    for (const Expression& element : *elements)
      if (!take(element)) return result;
  } else if (!take(statement.right)) {
    return result;
  }
  if (statement.op == "!=") result.matched.swap(result.rest);
  if (result.matched.empty() || result.rest.empty()) return Split::Whole(result.rest.empty());
  result.way = Split::Way::kPart;
  return result;
}

namespace {

// All that may happen: each verdict of the map once, for the whole piece, and none.
Matcher::Mapped UnclearMap(const std::vector<Expression>* elements, const Piece& piece, std::string why) {
  Matcher::Mapped mapped;
  mapped.unclear = std::move(why);
  mapped.rest.push_back(piece);
  if (elements == nullptr) return mapped;
  for (const Expression& element : *elements) {
    if (element.kind != Kind::kPair || element.parts.size() != 2) continue;
    const Expression& verdict = element.parts[1];
    if (std::none_of(mapped.verdicts.begin(), mapped.verdicts.end(),
                     [&](const auto& one) { return one.first == verdict; }))
      mapped.verdicts.emplace_back(verdict, std::vector<Piece>{piece});
  }
  return mapped;
}

}  // namespace

Matcher::Mapped Matcher::Map(const nft::Statement& statement, const Piece& piece, const WalkPlace& place) {
  Mapped mapped;
  mapped.rest.push_back(piece);
  std::vector<PacketField> fields;
  if (!FieldsOf(statement.left, piece, place, fields)) return mapped;
  const std::vector<Expression>* elements = &statement.right.parts;
  if (statement.right.kind == Kind::kSetReference) {
    const nft::Set* map = place.table->FindSet(statement.right.name);
    if (map == nullptr) return UnclearMap(nullptr, piece, "the map @" + statement.right.name);
    elements = &map->elements;
  }
  const Expression* fallback = nullptr;
  for (const Expression& element : *elements) {
    if (element.kind != Kind::kPair || element.parts.size() != 2 || element.parts[1].kind != Kind::kVerdict)
      return UnclearMap(elements, piece, "an element of a map");
    if (element.parts[0].kind == Kind::kWildcard) {
      fallback = &element.parts[1];
      continue;
    }
    Split one = DivideOpen(fields, element.parts[0], mapped.rest, place);
    if (one.way == Split::Way::kUnclear) return UnclearMap(elements, piece, std::move(one.unclear));
    if (!one.matched.empty()) mapped.verdicts.emplace_back(element.parts[1], std::move(one.matched));
    if (mapped.rest.empty()) break;
    if (mapped.verdicts.size() > kMostParts)
      return UnclearMap(elements, piece, "a map that divides too often");
  }
  if (fallback != nullptr && !mapped.rest.empty()) {
    mapped.verdicts.emplace_back(*fallback, std::move(mapped.rest));
    mapped.rest.clear();
  }
  return mapped;
}

}  // namespace railwright
