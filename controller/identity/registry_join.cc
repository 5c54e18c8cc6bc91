// Registry: tokens, and who joins with one.
#include <algorithm>
#include <array>

#include "controller/identity/peer_range.h"
#include "controller/identity/registry.h"
#include "core/identity/random.h"
#include "core/identity/time_words.h"
#include "railwright/utf8.h"

namespace railwright {

using identity::Utc;

namespace {

constexpr std::uint32_t kMostUses = 10'000;
constexpr std::chrono::seconds kLeastTtl{60}, kMostTtl{24 * 3600};
constexpr std::size_t kMostTokens = 1000;
/// Renewals begin with a third of a life left; who comes nearer to its end has been away.
constexpr std::chrono::hours kAboutToExpire{4};

// One sentence for unknown, used up and expired: a guesser learns nothing from it.
constexpr const char* kNoSuchToken =
    "this token is unknown, used up or expired; ask for a new one (railctl token create)";

Status No(Code code, std::string why) { return Status(code, std::move(why)); }

// As the documents of an inventory name nodes (core/spec).
bool IsNodeName(std::string_view text) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 63 && alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

Status CheckNodeName(std::string_view name) {
  if (IsNodeName(name)) return Ok();
  return No(Code::kInvalidArgument, "\"" + Brief(name) +
                                        "\" is no node's name; allowed: 1 to 63 of a-z, A-Z, 0-9, \"-\", "
                                        "\"_\" and \".\", a letter or digit first");
}

// RFC 4122 §4.4: 122 random bits.
Result<identity::NodeUuid> NewUuid() {
  std::array<std::uint8_t, 16> bytes{};
  RW_RETURN_IF_ERROR(identity::SystemRandom(bytes));
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string hex =
      identity::Hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (const std::size_t at : {20u, 16u, 12u, 8u}) hex.insert(at, "-");
  return identity::NodeUuid::Parse(hex);
}

}  // namespace

Result<identity::JoinToken> Registry::CreateToken(const TokenTerms& terms, const Caller& by) {
  const auto bad = [](std::string why) { return No(Code::kInvalidArgument, std::move(why)); };
  if (terms.kind == MemberKind::kNode) {
    if (!terms.name.empty()) RW_RETURN_IF_ERROR(CheckNodeName(terms.name));
    if (terms.authority) return bad("a node has no roles and no scope");
    if (terms.uses < 1 || terms.uses > kMostUses) return bad("a token is for 1 to 10000 nodes");
    if (!terms.name.empty() && terms.uses != 1) return bad("a token that is bound to a name is for one use");
  } else {
    const auto name = identity::OperatorName::Parse(terms.name);
    if (!name.ok()) return bad(name.status().message());
    if (!terms.authority) return bad("an operator needs roles and a scope");
    RW_RETURN_IF_ERROR(terms.authority->Check());
    if (terms.uses != 1) return bad("an operator's token is for one use");
  }
  if (terms.ttl < kLeastTtl || terms.ttl > kMostTtl) return bad("a token lives 60 s to 24 h");
  if (!terms.from.empty())
    if (const auto range = PeerRange::Parse(terms.from); !range.ok()) return range.status();

  const std::lock_guard writing(write_);
  const auto now = clock_.WallNow();
  if (!terms.name.empty())
    if (const auto member = Find(terms.kind, terms.name);
        member.ok() && member->standing == Standing::kBanned)
      return No(Code::kFailedPrecondition, terms.name + " is banned since " + Utc(member->changed) + " by " +
                                               member->by + ": " + Brief(member->reason) +
                                               "; lift the ban first");
  std::vector<std::string> expired;
  std::size_t live = 0;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [id, token] : tokens_)
      if (token.expires <= now)
        expired.push_back(id);
      else
        ++live;
  }
  for (const std::string& id : expired) {
    RW_RETURN_IF_ERROR(store_.DropToken(id, Row("the controller", "token.expire", id, "")));
    const std::unique_lock lock(mutex_);
    tokens_.erase(id);
  }
  if (live >= kMostTokens)
    return No(Code::kResourceExhausted, std::to_string(live) + " tokens are waiting to be used; drop some");

  RW_ASSIGN_OR_RETURN(auto token, identity::JoinToken::Generate());
  RW_ASSIGN_OR_RETURN(const auto stored, token.Stored());
  const TokenRecord record{.token = stored,
                           .kind = terms.kind,
                           .name = terms.name,
                           .authority = terms.authority,
                           .from = terms.from,
                           .uses_left = terms.uses,
                           .created = now,
                           .expires = now + terms.ttl,
                           .by = by.Text()};
  RW_RETURN_IF_ERROR(store_.AddToken(
      record,
      Row(by.Text(), "token.create", stored.id,
          (terms.kind == MemberKind::kNode ? "for node " : "for operator ") +
              (terms.name.empty() ? "of any name" : terms.name) +
              (terms.authority ? ", " + terms.authority->Text() : "") + ", " + std::to_string(terms.uses) +
              " use(s), until " + Utc(record.expires) + (terms.from.empty() ? "" : ", from " + terms.from))));
  const std::unique_lock lock(mutex_);
  tokens_.emplace(stored.id, record);
  return token;
}

Status Registry::DropToken(const std::string& id, const Caller& by) {
  const std::lock_guard writing(write_);
  RW_RETURN_IF_ERROR(store_.DropToken(id, Row(by.Text(), "token.drop", Brief(id), "")));
  const std::unique_lock lock(mutex_);
  tokens_.erase(id);
  return Ok();
}

Result<std::vector<TokenRecord>> Registry::Tokens() const {
  const std::shared_lock lock(mutex_);
  std::vector<TokenRecord> all;
  for (const auto& [id, token] : tokens_) all.push_back(token);
  return all;
}

bool Registry::EnrolmentAwaited() const {
  const auto now = clock_.WallNow();
  const std::shared_lock lock(mutex_);
  for (const auto& [id, token] : tokens_)
    if (token.expires > now) return true;
  for (const auto& [key, member] : members_) {
    const MemberRecord& record = member.record;
    // Whose certificates were taken back while they last will knock and ask why.
    if (record.standing != Standing::kActive) {
      if (record.not_after > now) return true;
      continue;
    }
    const bool may_renew = record.kind == MemberKind::kNode || now < record.changed + kOperatorSession;
    if (may_renew && record.not_after - now < kAboutToExpire) return true;
  }
  return false;
}

Status Registry::AdmitToken(const identity::JoinToken& token, const std::string& address,
                            std::chrono::system_clock::time_point now, TokenRecord& record) const {
  const std::shared_lock lock(mutex_);
  const auto at = tokens_.find(token.id());
  // Also without a token of that name something is compared: the time tells nothing.
  static const identity::StoredToken nothing{};
  const auto matches = (at != tokens_.end() ? at->second.token : nothing).Matches(token);
  if (!matches.ok()) return matches.status();
  if (at == tokens_.end() || !*matches || at->second.expires <= now || at->second.uses_left == 0)
    return No(Code::kUnauthenticated, kNoSuchToken);
  record = at->second;
  if (record.from.empty()) return Ok();
  const auto range = PeerRange::Parse(record.from);
  if (range.ok() && range->Contains(address)) return Ok();
  return No(Code::kPermissionDenied,
            "this token may be used from " + record.from + ", and you come from " + PlainAddress(address));
}

Status Registry::AdmitName(const TokenRecord& token, const identity::PublicKey& key,
                           std::string& name) const {
  const bool node = token.kind == MemberKind::kNode;
  if (name.starts_with('?')) name = token.name.empty() ? name.substr(1) : token.name;
  if (!token.name.empty() && !name.empty() && name != token.name)
    return No(Code::kPermissionDenied,
              "this token is for " + token.name + ", and you call yourself " + Brief(name));
  if (name.empty()) name = token.name;
  if (node) RW_RETURN_IF_ERROR(CheckNodeName(name));
  const std::shared_lock lock(mutex_);
  for (const auto& [id, member] : members_) {
    const MemberRecord& record = member.record;
    const bool same = record.kind == token.kind && record.name == name;
    if (same && record.standing == Standing::kBanned)
      return No(Code::kPermissionDenied, name + " was banned by " + record.by + " at " + Utc(record.changed) +
                                             ": " + Brief(record.reason) +
                                             "; it may not join until the ban is lifted");
    if (record.key == key.pin() && record.standing == Standing::kBanned)
      return No(Code::kPermissionDenied,
                "the key " + key.pin().Text() + " was banned with " + record.name + " by " + record.by);
    if (record.key == key.pin() && !same)
      return No(Code::kPermissionDenied, "the key " + key.pin().Text() + " is that of " + record.name +
                                             "; each joins with a key of its own");
    // An operator's token was made for him by name, and replaces his last login.
    if (same && node && record.standing != Standing::kEvicted)
      return No(Code::kPermissionDenied, name + " has joined already (" + record.uuid + ", key " +
                                             record.key.Text() +
                                             "); if this is its machine, made anew: railctl node evict " +
                                             name + ", then join again with this line");
  }
  return Ok();
}

Result<Issued> Registry::Join(const identity::JoinToken& token, const identity::PublicKey& key,
                              std::string_view name, const std::string& address) {
  std::optional<Cut> cut;
  Result<Issued> issued = [&] {
    const std::lock_guard writing(write_);
    return JoinNow(token, key, name, address, cut);
  }();
  Tell(cut);
  if (issued.ok()) return issued;
  return Refused(issued.status(), PlainAddress(address), "identity.join",
                 "token " + token.id() + ", as \"" + Brief(name) + "\"");
}

Result<Issued> Registry::JoinNow(const identity::JoinToken& token, const identity::PublicKey& key,
                                 std::string_view name, const std::string& address, std::optional<Cut>& cut) {
  const auto now = clock_.WallNow();
  TokenRecord terms;
  RW_RETURN_IF_ERROR(AdmitToken(token, address, now, terms));
  MemberRecord member;
  member.name = name;
  RW_RETURN_IF_ERROR(AdmitName(terms, key, member.name));
  member.kind = terms.kind;
  member.key = key.pin();
  member.authority = terms.authority;
  member.renewals = 1;
  member.by = "token " + terms.token.id + " of " + terms.by;
  member.changed = now;
  if (member.kind == MemberKind::kNode) {
    RW_ASSIGN_OR_RETURN(const auto uuid, NewUuid());
    member.uuid = uuid.text();
  }
  RW_ASSIGN_OR_RETURN(auto certificate, Certify(member, key));
  member.serial = certificate.serial();
  member.not_after = certificate.not_after();

  const std::string called = (member.kind == MemberKind::kNode ? "node " : "operator ") + member.name;
  const Status stored = store_.Join(
      terms.token.id, member,
      Row(called, "identity.join", called,
          (member.uuid.empty() ? "" : member.uuid + ", ") + "key " + member.key.Text() + ", serial " +
              member.serial + ", " + member.by + ", from " + PlainAddress(address)));
  if (stored.code() == Code::kNotFound || stored.code() == Code::kFailedPrecondition)
    return No(Code::kUnauthenticated, kNoSuchToken);
  if (!stored.ok())
    return No(Code::kUnavailable, "the controller cannot write its store: " + stored.message());
  {
    const std::unique_lock lock(mutex_);
    if (const auto at = tokens_.find(terms.token.id); at != tokens_.end() && --at->second.uses_left == 0)
      tokens_.erase(at);
    if (const Member* before = Of(member.kind, member.name);
        before != nullptr && before->record.standing == Standing::kActive)
      cut = Cut{member.kind, member.name, called + " logged in anew, with another key"};
  }
  Put(member, std::string());
  return Issued{std::move(certificate), std::move(member)};
}

}  // namespace railwright
