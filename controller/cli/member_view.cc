#include "controller/cli/member_view.h"

#include "controller/cli/fleet_view.h"
#include "core/text/times.h"

namespace railwright::cli {
namespace {

std::string KindText(v1::MemberKind kind) {
  return kind == v1::MEMBER_KIND_NODE ? "node" : kind == v1::MEMBER_KIND_OPERATOR ? "operator" : "unknown";
}

std::string StandingText(v1::Standing standing) {
  switch (standing) {
    case v1::STANDING_ACTIVE: return "active";
    case v1::STANDING_HELD: return "held";
    case v1::STANDING_EVICTED: return "evicted";
    case v1::STANDING_BANNED: return "banned";
    default: return "unknown";
  }
}

Tone ToneOf(v1::Standing standing) {
  if (standing == v1::STANDING_ACTIVE) return Tone::kGood;
  return standing == v1::STANDING_HELD ? Tone::kWarn : Tone::kBad;
}

template <class List>
std::string Joined(const List& list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : ",") + one;
  return text;
}

template <class Of>
Json RolesJson(const Of& of) {
  Json roles = Json::array();
  for (const std::string& one : of.roles()) roles.push_back(one);
  return roles;
}

}  // namespace

std::string WhenText(std::int64_t unix_us, Wall now) {
  const auto at = TimeOf(unix_us);
  if (at <= now) return Ago(now - at);
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(at - now).count();
  if (left < 120) return "in " + std::to_string(left) + "s";
  if (left < 2 * 3600) return "in " + std::to_string(left / 60) + "m";
  if (left < 48 * 3600) return "in " + std::to_string(left / 3600) + "h";
  return "in " + std::to_string(left / 86'400) + "d";
}

Json ToJson(const v1::MemberInfo& member) {
  return {{"kind", KindText(member.kind())},
          {"name", member.name()},
          {"uuid", member.uuid()},
          {"key", member.key()},
          {"serial", member.serial()},
          {"not_after", Rfc3339(TimeOf(member.not_after_unix_us()))},
          {"renewals", member.renewals()},
          {"standing", StandingText(member.standing())},
          {"reason", member.reason()},
          {"by", member.by()},
          {"changed", Rfc3339(TimeOf(member.changed_unix_us()))},
          {"roles", RolesJson(member)},
          {"scope", member.scope()}};
}

Json MembersJson(const v1::MembersResponse& answer) {
  Json members = Json::array();
  for (const v1::MemberInfo& one : answer.members()) members.push_back(ToJson(one));
  return {{"members", std::move(members)}};
}

std::string MembersTable(const v1::MembersResponse& answer, const Terminal& terminal, Wall now) {
  Table table({{.header = "KIND"},
               {.header = "NAME"},
               {.header = "STANDING"},
               {.header = "CERTIFICATE ENDS"},
               {.header = "RENEWALS", .right = true},
               {.header = "MAY"},
               {.header = "WHY"}});
  for (const v1::MemberInfo& one : answer.members())
    table.Add({KindText(one.kind()), Printable(one.name()),
               Cell(StandingText(one.standing()), ToneOf(one.standing())),
               WhenText(one.not_after_unix_us(), now), std::to_string(one.renewals()),
               one.roles().empty() ? "" : Printable(Joined(one.roles()) + " on " + one.scope()),
               one.standing() == v1::STANDING_ACTIVE
                   ? ""
                   : Printable(one.reason() + (one.by().empty() ? "" : " (" + one.by() + ")"))});
  return table.empty() ? "nobody has joined yet; next: railctl token create NODE\n" : table.Render(terminal);
}

Json TokensJson(const v1::TokensResponse& answer) {
  Json tokens = Json::array();
  for (const v1::TokenInfo& one : answer.tokens())
    tokens.push_back({{"id", one.id()},
                      {"kind", KindText(one.kind())},
                      {"name", one.name()},
                      {"from", one.from()},
                      {"uses_left", one.uses_left()},
                      {"created", Rfc3339(TimeOf(one.created_unix_us()))},
                      {"expires", Rfc3339(TimeOf(one.expires_unix_us()))},
                      {"by", one.by()},
                      {"roles", RolesJson(one)},
                      {"scope", one.scope()}});
  return {{"tokens", std::move(tokens)}};
}

std::string TokensTable(const v1::TokensResponse& answer, const Terminal& terminal, Wall now) {
  Table table({{.header = "ID"},
               {.header = "FOR"},
               {.header = "FROM"},
               {.header = "USES", .right = true},
               {.header = "ENDS"},
               {.header = "MADE BY"},
               {.header = "ROLES"}});
  for (const v1::TokenInfo& one : answer.tokens())
    table.Add({one.id(), KindText(one.kind()) + " " + (one.name().empty() ? "(any)" : Printable(one.name())),
               one.from().empty() ? "anywhere" : one.from(), std::to_string(one.uses_left()),
               WhenText(one.expires_unix_us(), now), Printable(one.by()),
               one.roles().empty() ? "" : Printable(Joined(one.roles()) + " on " + one.scope())});
  return table.empty() ? "no token lives\n" : table.Render(terminal);
}

}  // namespace railwright::cli
