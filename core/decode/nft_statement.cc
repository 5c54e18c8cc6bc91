#include <map>
#include <utility>

#include "core/decode/nft_json.h"

namespace railwright::nft {

std::string TextOf(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end()) return {};
  if (it->is_string()) return it->get<std::string>();
  if (it->is_number_integer()) return std::to_string(it->get<std::int64_t>());
  return {};
}

std::int64_t NumberOf(const Json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

std::vector<std::string> TextsOf(const Json& object, const char* key) {
  std::vector<std::string> texts;
  auto it = object.find(key);
  if (it == object.end()) return texts;
  if (it->is_string()) texts.push_back(it->get<std::string>());
  if (it->is_array())
    for (const Json& one : *it)
      if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

namespace {

std::uint64_t CountOf(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer()) return 0;
  if (it->is_number_unsigned()) return it->get<std::uint64_t>();
  return 0;
}

VerdictKind VerdictOf(std::string_view key) {
  static constexpr std::pair<std::string_view, VerdictKind> kNames[] = {
      {"accept", VerdictKind::kAccept},    {"drop", VerdictKind::kDrop}, {"reject", VerdictKind::kReject},
      {"jump", VerdictKind::kJump},        {"goto", VerdictKind::kGoto}, {"return", VerdictKind::kReturn},
      {"continue", VerdictKind::kContinue}};
  for (const auto& [name, kind] : kNames)
    if (name == key) return kind;
  return VerdictKind::kNone;
}

Expression ReadExpression(const Json& json, int depth);

std::vector<Expression> ReadAll(const Json& json, int depth) {
  std::vector<Expression> all;
  if (json.is_array())
    for (const Json& one : json) all.push_back(ReadExpression(one, depth + 1));
  else
    all.push_back(ReadExpression(json, depth + 1));
  return all;
}

/// An element of a set: a value, or for a map a pair of key and value.
Expression ReadElement(const Json& json, bool pairs, int depth) {
  if (pairs && json.is_array() && json.size() == 2)
    return {.kind = Expression::Kind::kPair, .parts = ReadAll(json, depth)};
  return ReadExpression(json, depth);
}

/// Data of a map or vmap: an anonymous set whose elements are pairs, or a reference.
Expression ReadMapData(const Json& json, int depth) {
  if (json.is_object() && json.size() == 1 && json.contains("set"))
    return {.kind = Expression::Kind::kSet, .parts = ReadElements(json["set"], true, depth)};
  return ReadExpression(json, depth);
}

Expression ReadScalar(const Json& json) {
  using Kind = Expression::Kind;
  if (json.is_string()) {
    std::string text = json.get<std::string>();
    if (text == "*") return {.kind = Kind::kWildcard};
    if (text.size() > 1 && text[0] == '@') return {.kind = Kind::kSetReference, .name = text.substr(1)};
    return {.kind = Kind::kText, .name = std::move(text)};
  }
  if (json.is_boolean()) return {.kind = Kind::kBool, .number = json.get<bool>() ? 1 : 0};
  if (json.is_number_integer()) return {.kind = Kind::kNumber, .number = json.get<std::int64_t>()};
  if (json.is_null()) return {};
  return {.kind = Kind::kOther, .name = json.type_name()};
}

Expression ReadNamed(const std::string& key, const Json& body, int depth) {
  using Kind = Expression::Kind;
  if (key == "elem") {  // a wrapper that adds timeout, comment and counter to a value
    if (body.is_object() && body.contains("val")) return ReadExpression(body["val"], depth + 1);
    return {.kind = Kind::kOther, .name = key};
  }
  if (key == "set") return {.kind = Kind::kSet, .parts = ReadElements(body, false, depth)};
  if (key == "concat") return {.kind = Kind::kConcat, .parts = ReadAll(body, depth)};
  if (key == "range") {
    if (!body.is_array() || body.size() != 2) return {.kind = Kind::kOther, .name = key};
    return {.kind = Kind::kRange, .parts = ReadAll(body, depth)};
  }
  if (key == "&" || key == "|" || key == "^" || key == "<<" || key == ">>") {
    if (!body.is_array() || body.size() < 2) return {.kind = Kind::kOther, .name = key};
    std::vector<Expression> parts = ReadAll(body, depth);
    Expression folded = std::move(parts[0]);  // newer nft joins a | b | c in one array
    for (std::size_t i = 1; i < parts.size(); ++i) {
      Expression both{.kind = Kind::kBinary, .name = key};
      both.parts.push_back(std::move(folded));
      both.parts.push_back(std::move(parts[i]));
      folded = std::move(both);
    }
    return folded;
  }
  if (VerdictKind verdict = VerdictOf(key); verdict != VerdictKind::kNone)
    return {.kind = Kind::kVerdict,
            .name = body.is_object() ? TextOf(body, "target") : std::string(),
            .verdict = verdict};
  if (!body.is_object()) return {.kind = Kind::kOther, .name = key};
  if (key == "prefix" && body.contains("addr") && body.contains("len")) {
    Expression prefix{.kind = Kind::kPrefix,
                      .number = body["len"].is_number_integer() ? NumberOf(body, "len") : -1};
    prefix.parts.push_back(ReadExpression(body["addr"], depth + 1));
    return prefix;
  }
  if (key == "payload" && body.contains("field"))
    return {.kind = Kind::kPayload, .name = TextOf(body, "field"), .scope = TextOf(body, "protocol")};
  if (key == "payload" && body.contains("base"))
    return {.kind = Kind::kRawPayload,
            .scope = TextOf(body, "base"),
            .number = NumberOf(body, "offset"),
            .length = NumberOf(body, "len")};
  if (key == "meta") return {.kind = Kind::kMeta, .name = TextOf(body, "key")};
  if (key == "ct") return {.kind = Kind::kCt, .name = TextOf(body, "key"), .scope = TextOf(body, "dir")};
  if (key == "map" && body.contains("key") && body.contains("data")) {
    Expression map{.kind = Kind::kMap};
    map.parts.push_back(ReadExpression(body["key"], depth + 1));
    map.parts.push_back(ReadMapData(body["data"], depth + 1));
    return map;
  }
  if (key == "fib") {  // "daddr type", "saddr.iif oif": flags, then what is asked for
    std::string flags;
    for (const std::string& flag : TextsOf(body, "flags")) flags += (flags.empty() ? "" : ".") + flag;
    return {.kind = Kind::kOther, .name = key, .scope = flags + " " + TextOf(body, "result")};
  }
  return {.kind = Kind::kOther, .name = key, .scope = TextOf(body, "key")};
}

Expression ReadExpression(const Json& json, int depth) {
  if (depth > kMaxDepth) throw TooDeep{};
  if (json.is_array()) return {.kind = Expression::Kind::kList, .parts = ReadAll(json, depth)};
  if (!json.is_object()) return ReadScalar(json);
  if (json.size() != 1)
    return {.kind = Expression::Kind::kOther, .name = json.empty() ? "{}" : json.begin().key()};
  return ReadNamed(json.begin().key(), json.begin().value(), depth);
}

Statement::Kind KindOf(const std::string& key) {
  using Kind = Statement::Kind;
  static const std::map<std::string, Kind, std::less<>> kKinds = {
      {"counter", Kind::kCounter},
      {"limit", Kind::kLimit},
      {"log", Kind::kNoEffect},
      {"notrack", Kind::kNoEffect},
      {"mangle", Kind::kNoEffect},
      {"set", Kind::kNoEffect},
      {"map", Kind::kNoEffect},
      {"ct helper", Kind::kNoEffect},
      {"ct timeout", Kind::kNoEffect},
      {"ct expectation", Kind::kNoEffect},
      {"flow", Kind::kNoEffect},
      {"dup", Kind::kNoEffect},
      {"secmark", Kind::kNoEffect},
      {"last", Kind::kNoEffect},
      {"quota", Kind::kCondition},
      {"ct count", Kind::kCondition},
      {"meter", Kind::kCondition},
      {"snat", Kind::kNat},
      {"dnat", Kind::kNat},
      {"masquerade", Kind::kNat},
      {"redirect", Kind::kNat},
      {"tproxy", Kind::kNat},
      {"queue", Kind::kQueue},
      {"xt", Kind::kXt},
  };
  auto it = kKinds.find(key);
  return it == kKinds.end() ? Kind::kOther : it->second;
}

void ReadLimit(const Json& body, Statement& statement) {
  if (!body.is_object()) {  // a reference to a named limit: holds for some packets
    statement.kind = Statement::Kind::kCondition;
    return;
  }
  statement.rate = CountOf(body, "rate");
  statement.burst = CountOf(body, "burst");
  std::string unit = TextOf(body, "rate_unit");
  std::string per = TextOf(body, "per");
  statement.unit = (unit.empty() ? "packets" : unit) + "/" + (per.empty() ? "second" : per);
  auto inverse = body.find("inv");
  statement.over = inverse != body.end() && inverse->is_boolean() && inverse->get<bool>();
}

}  // namespace

std::vector<Expression> ReadElements(const Json& json, bool pairs, int depth) {
  std::vector<Expression> all;
  if (json.is_array())
    for (const Json& one : json) all.push_back(ReadElement(one, pairs, depth + 1));
  else if (!json.is_null())
    all.push_back(ReadElement(json, pairs, depth + 1));
  return all;
}

Statement ReadStatement(const Json& json) {
  using Kind = Statement::Kind;
  if (!json.is_object() || json.size() != 1) {
    // Versions before 0.9.7 print null for what they cannot translate, which is always an xt statement.
    if (json.is_null()) return {.kind = Kind::kXt, .name = "xt"};
    return {.kind = Kind::kOther, .name = json.is_object() && !json.empty() ? json.begin().key() : "?"};
  }
  const std::string& key = json.begin().key();
  const Json& body = json.begin().value();
  Statement statement{.kind = KindOf(key), .name = key};
  if (key == "match") {
    if (!body.is_object() || !body.contains("left") || !body.contains("right")) return statement;
    statement.kind = Kind::kMatch;
    statement.op = TextOf(body, "op");
    if (statement.op.empty()) statement.op = "==";
    statement.left = ReadExpression(body["left"], 0);
    statement.right = ReadExpression(body["right"], 0);
  } else if (key == "vmap") {
    if (!body.is_object() || !body.contains("key") || !body.contains("data")) return statement;
    statement.kind = Kind::kVmap;
    statement.left = ReadExpression(body["key"], 0);
    statement.right = ReadMapData(body["data"], 0);
  } else if (VerdictKind verdict = VerdictOf(key); verdict != VerdictKind::kNone) {
    statement.kind = Kind::kVerdict;
    statement.verdict = verdict;
    if (body.is_object()) {
      statement.target = TextOf(body, "target");
      statement.detail = TextOf(body, "type");
      if (std::string code = TextOf(body, "expr"); !code.empty()) statement.detail += " " + code;
    }
    if ((verdict == VerdictKind::kJump || verdict == VerdictKind::kGoto) && statement.target.empty())
      statement.kind = Kind::kOther;
  } else if (key == "mangle" && body.is_object() && body.contains("key") && body.contains("value")) {
    statement.left = ReadExpression(body["key"], 0);
    statement.right = ReadExpression(body["value"], 0);
  } else if ((key == "set" || key == "map") && body.is_object() && body.contains("stmt")) {
    // `add @peers { ip saddr limit rate over 10/second } drop`: the rule goes on only while that holds.
    for (const Json& inner : body["stmt"])
      if (inner.is_object() && !inner.contains("counter")) statement.kind = Kind::kCondition;
  } else if (statement.kind == Kind::kLimit) {
    ReadLimit(body, statement);
  } else if (statement.kind == Kind::kCounter && body.is_object()) {
    statement.packets = CountOf(body, "packets");
    statement.bytes = CountOf(body, "bytes");
  } else if (statement.kind == Kind::kXt && body.is_object()) {
    statement.detail = TextOf(body, "type");
    if (std::string name = TextOf(body, "name"); !name.empty())
      statement.detail += (statement.detail.empty() ? "" : " ") + name;
  }
  return statement;
}

}  // namespace railwright::nft
