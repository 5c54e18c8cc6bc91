// IdentityStore: who may join, who has joined, and who may not come back. Rows of the same file as Store's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/store.h"
#include "core/identity/authority.h"
#include "core/identity/join_token.h"
#include "core/identity/key.h"
#include "railwright/result.h"

namespace railwright {

enum class MemberKind : std::uint8_t { kNode, kOperator };

/// A token as it is kept: its secret is not.
struct TokenRecord {
  identity::StoredToken token;
  MemberKind kind = MemberKind::kNode;
  /// Of a node: the inventory's name that it is bound to, or "" for any name that has not joined yet. Of an
  /// operator: always his name.
  std::string name;
  std::optional<identity::Authority> authority;  ///< of an operator, always; of a node, never
  std::string from;                              ///< CIDR that the peer's address must be in; "" = anywhere
  std::uint32_t uses_left = 1;
  std::chrono::system_clock::time_point created, expires;
  std::string by;
  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

enum class Standing : std::uint8_t {
  kActive,
  kHeld,     ///< two seem to hold its identity: it may not connect until a person decides
  kEvicted,  ///< its certificate counts no more; it may join again with a new token
  kBanned,   ///< the same, and its key and name may not join again until the ban is lifted
};
/// "active", "held", "evicted", "banned".
std::string_view Name(Standing standing);

/// A node or an operator that has joined.
struct MemberRecord {
  MemberKind kind = MemberKind::kNode;
  std::string name;  ///< unique within its kind
  std::string uuid;  ///< of a node: that of its SPIFFE ID, unique; "" of an operator
  identity::Pin key;
  std::string serial;  ///< of the newest certificate, as identity::Certificate::serial
  std::chrono::system_clock::time_point not_after;  ///< of that one
  std::uint64_t renewals = 0;  ///< grows by one with each certificate; what the holder shows when it renews
  std::optional<identity::Authority> authority;  ///< of an operator
  Standing standing = Standing::kActive;
  std::string reason, by;                         ///< of the standing
  std::chrono::system_clock::time_point changed;  ///< of the standing
  friend bool operator==(const MemberRecord&, const MemberRecord&) = default;
};

/// Each write is one durable transaction, with its audit row in it: what is not audited has not happened. Any
/// thread may call anything. Times are kept in whole microseconds.
class IdentityStore {
 public:
  virtual ~IdentityStore() = default;

  /// AlreadyExists: that id.
  virtual Status AddToken(const TokenRecord& token, const AuditRow& audit) = 0;
  /// NotFound when there is none.
  virtual Status DropToken(const std::string& id, const AuditRow& audit) = 0;
  virtual Result<std::vector<TokenRecord>> Tokens() const = 0;  ///< in the order they were made

  /// Takes one use of the token `token_id` (the last one drops it) and puts `member` in the place of the one
  /// of its kind and name. NotFound: no such token, or none of its uses is left: of two racers one gets this.
  /// FailedPrecondition: it has expired at `member.changed`; AlreadyExists: the uuid is another member's;
  /// PermissionDenied: the one of its name is banned. Only a success takes a use.
  virtual Status Join(const std::string& token_id, const MemberRecord& member, const AuditRow& audit) = 0;
  /// A new certificate for a member that shows the counter `renewals`: stores serial and not_after and counts
  /// up. Aborted when the stored counter is another, or the standing is not kActive; NotFound when there is
  /// no such member; nothing is changed then.
  virtual Status Renew(MemberKind kind, const std::string& name, std::uint64_t renewals,
                       const std::string& serial, std::chrono::system_clock::time_point not_after,
                       const AuditRow& audit) = 0;
  /// `by` and `changed` become those of the audit row (who, at). NotFound when there is no such member.
  virtual Status SetStanding(MemberKind kind, const std::string& name, Standing standing,
                             const std::string& reason, const AuditRow& audit) = 0;
  /// Drops the member; NotFound when there is none. A banned one cannot be dropped: FailedPrecondition.
  virtual Status DropMember(MemberKind kind, const std::string& name, const AuditRow& audit) = 0;
  virtual Result<std::vector<MemberRecord>> Members() const = 0;  ///< by kind and name
};

/// The one open store of a controller, by both its faces.
class StateStore : public Store, public IdentityStore {};

/// As OpenSqliteStore; one file, one lock, one writing connection for both.
Result<std::unique_ptr<StateStore>> OpenStateStore(const std::string& directory);

}  // namespace railwright
