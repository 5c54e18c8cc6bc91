#include <algorithm>
#include <string>
#include <vector>

#include "core/decode/nft_ruleset.h"

namespace railwright::nft {
namespace {

std::string Join(const std::vector<std::string>& parts, std::string_view between) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) joined += between;
    joined += part;
  }
  return joined;
}

std::vector<std::string> Texts(const std::vector<Expression>& parts) {
  std::vector<std::string> texts;
  for (const Expression& part : parts) texts.push_back(Text(part));
  return texts;
}

std::string VerdictText(VerdictKind verdict, const std::string& target) {
  switch (verdict) {
    case VerdictKind::kAccept: return "accept";
    case VerdictKind::kDrop: return "drop";
    case VerdictKind::kReject: return "reject";
    case VerdictKind::kJump: return "jump " + target;
    case VerdictKind::kGoto: return "goto " + target;
    case VerdictKind::kReturn: return "return";
    case VerdictKind::kContinue: return "continue";
    case VerdictKind::kNone: break;
  }
  return "?";
}

/// nft omits "meta" before these keys.
bool IsBareMeta(std::string_view key) {
  static constexpr std::string_view kBare[] = {"iif",     "iifname", "iiftype", "oif",  "oifname",
                                               "oiftype", "skuid",   "skgid",   "mark", "rtclassid"};
  return std::find(std::begin(kBare), std::end(kBare), key) != std::end(kBare);
}

bool IsInterfaceName(const Expression& left) {
  using Kind = Expression::Kind;
  return left.kind == Kind::kMeta &&
         (left.name == "iifname" || left.name == "oifname" || left.name == "iif" || left.name == "oif");
}

}  // namespace

std::string Text(const Expression& expression) {
  using Kind = Expression::Kind;
  std::vector<std::string> parts = Texts(expression.parts);
  switch (expression.kind) {
    case Kind::kNull: return "null";
    case Kind::kText: return expression.name;
    case Kind::kNumber: return std::to_string(expression.number);
    case Kind::kBool: return expression.number != 0 ? "true" : "false";
    case Kind::kSetReference: return "@" + expression.name;
    case Kind::kWildcard: return "*";
    case Kind::kList: std::sort(parts.begin(), parts.end()); return Join(parts, ",");
    case Kind::kConcat: return Join(parts, " . ");
    case Kind::kSet:
      // Elements have no order, and the kernel hands them back in its own.
      std::sort(parts.begin(), parts.end());
      return parts.empty() ? "{ }" : "{ " + Join(parts, ", ") + " }";
    case Kind::kPair: return Join(parts, " : ");
    case Kind::kPrefix: return Join(parts, "") + "/" + std::to_string(expression.number);
    case Kind::kRange: return Join(parts, "-");
    case Kind::kPayload: return expression.scope + " " + expression.name;
    case Kind::kRawPayload:
      return "@" + expression.scope + "," + std::to_string(expression.number) + "," +
             std::to_string(expression.length);
    case Kind::kMeta: return IsBareMeta(expression.name) ? expression.name : "meta " + expression.name;
    case Kind::kCt: return "ct " + (expression.scope.empty() ? "" : expression.scope + " ") + expression.name;
    case Kind::kBinary: return Join(parts, " " + expression.name + " ");
    case Kind::kMap: return Join(parts, " map ");
    case Kind::kVerdict: return VerdictText(expression.verdict, expression.name);
    case Kind::kOther: return expression.name + (expression.scope.empty() ? "" : " " + expression.scope);
  }
  return "?";
}

std::string Text(const Statement& statement) {
  using Kind = Statement::Kind;
  switch (statement.kind) {
    case Kind::kMatch: {
      // "in" over flags and "==" read alike in nft's own notation.
      std::string op = statement.op == "==" || statement.op == "in" ? " " : " " + statement.op + " ";
      std::string right = Text(statement.right);
      if (IsInterfaceName(statement.left) && statement.right.kind == Expression::Kind::kText)
        right = "\"" + right + "\"";
      return Text(statement.left) + op + right;
    }
    case Kind::kVerdict: {
      std::string text = VerdictText(statement.verdict, statement.target);
      return statement.detail.empty() ? text : text + " with " + statement.detail;
    }
    case Kind::kVmap: return Text(statement.left) + " vmap " + Text(statement.right);
    case Kind::kLimit:
      return std::string("limit rate ") + (statement.over ? "over " : "") + std::to_string(statement.rate) +
             " " + statement.unit + (statement.burst != 0 ? " burst " + std::to_string(statement.burst) : "");
    case Kind::kCounter: return "counter";
    case Kind::kXt: return statement.detail.empty() ? "xt" : "xt " + statement.detail;
    case Kind::kNoEffect:
    case Kind::kCondition:
    case Kind::kNat:
    case Kind::kQueue:
    case Kind::kOther: break;
  }
  return statement.name;
}

std::string Text(const Rule& rule) {
  std::vector<std::string> parts;
  for (const Statement& statement : rule.statements)
    if (statement.kind != Statement::Kind::kCounter) parts.push_back(Text(statement));
  return Join(parts, " ");
}

std::string Describe(const Table& table, const Chain& chain, const Rule& rule) {
  return "table " + table.family + " " + table.name + " chain " + chain.name + " handle " +
         std::to_string(rule.handle) + ": " + Text(rule);
}

}  // namespace railwright::nft
