// Small tokens and members to store.
#pragma once

#include <chrono>
#include <string>

#include "controller/store/identity_store.h"

namespace railwright {

inline std::chrono::system_clock::time_point At(std::int64_t seconds) {
  return std::chrono::system_clock::time_point(std::chrono::seconds(1'796'040'000 + seconds) +
                                               std::chrono::microseconds(7));
}

inline AuditRow Act(const std::string& action, const std::string& subject = "") {
  AuditRow row;
  row.at = At(5);
  row.who = "operator alice";
  row.action = action;
  row.subject = subject;
  row.from = "ipv4:10.0.0.7:40312";
  row.serial = "0a1b";
  return row;
}

inline identity::Digest DigestOf(std::uint8_t fill) {
  identity::Digest digest{};
  digest.fill(fill);
  return digest;
}

inline TokenRecord MakeToken(const std::string& id, std::uint32_t uses = 1) {
  TokenRecord token;
  token.token = {id, DigestOf(0xa5)};
  token.from = "10.0.0.0/8";
  token.uses_left = uses;
  token.created = At(0);
  token.expires = At(3600);
  token.by = "operator alice";
  return token;
}

inline MemberRecord MakeMember(const std::string& name, MemberKind kind = MemberKind::kNode) {
  MemberRecord member;
  member.kind = kind;
  member.name = name;
  if (kind == MemberKind::kNode)
    member.uuid = "uuid-of-" + name;
  else
    member.authority = identity::Authority{{"operator", "viewer"}, "gpu-[1-8]"};
  member.key = identity::Pin(DigestOf(7));
  member.serial = "01ff";
  member.not_after = At(86400);
  member.renewals = 1;
  member.changed = At(1);
  return member;
}

}  // namespace railwright
