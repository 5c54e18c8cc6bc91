// Registry: who has joined, in memory over the IdentityStore; what a certificate is worth at this moment.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controller/identity/caller.h"
#include "controller/store/identity_store.h"
#include "core/identity/issuer.h"
#include "core/identity/verify.h"
#include "railwright/clock.h"
#include "railwright/result.h"

namespace railwright {

/// A certificate that was just given, and what its holder must know beside it.
struct Issued {
  identity::Certificate certificate;
  MemberRecord member;
};

/// Any thread may call anything; Judge takes no lock of the store and answers from memory. What was changed
/// is durable when the call returns, and in memory from then on. A store that cannot be written or read
/// refuses joins and renewals; those who are known stay known.
class Registry {
 public:
  /// `issuer` and `store` outlive it.
  Registry(IdentityStore& store, const identity::Issuer& issuer, const Clock& clock)
      : store_(store), issuer_(issuer), clock_(clock) {}

  /// Everything from the store.
  Status Load();

  /// Who this is, or Unauthenticated with the reason in an operator's words: "no such node has joined",
  /// "revoked by alice at …: laptop stolen", "another key", "its certificate was replaced by a newer one".
  /// The certificate before the newest one counts until it expires, for a renewal whose answer was lost.
  Result<Caller> Judge(const identity::Peer& peer) const;

  /// The line to paste on the new node (or for `railctl login`).
  struct TokenTerms {
    MemberKind kind = MemberKind::kNode;
    std::string name = {};
    std::optional<identity::Authority> authority = {};
    std::string from = {};
    std::uint32_t uses = 1;          ///< 1 to 10,000; an operator's is 1
    std::chrono::seconds ttl{3600};  ///< 60 s to 24 h
  };
  /// InvalidArgument names the term that is out of its range.
  Result<identity::JoinToken> CreateToken(const TokenTerms& terms, const Caller& by);
  Status DropToken(const std::string& id, const Caller& by);
  Result<std::vector<TokenRecord>> Tokens() const;
  /// Whether somebody may be expected at the enrolment port: a token lives, or a member that is not banned
  /// has a certificate that has expired or is about to.
  bool EnrolmentAwaited() const;

  /// A token, a public key, and the name that the newcomer gives itself ("?NAME": unless the token says
  /// another) → its certificate. `address` is where
  /// it comes from (an IP address as text). Unauthenticated: unknown, used up or expired token (one sentence
  /// for all three, so that nothing is told to who guesses); PermissionDenied: a name that the token is not
  /// for, one that is banned, or one that has joined already and was not evicted.
  Result<Issued> Join(const identity::JoinToken& token, const identity::PublicKey& key, std::string_view name,
                      const std::string& address);
  /// A new certificate for one who has proved to hold `key` (by its certificate, or by a signed request after
  /// a long outage). PermissionDenied: not the key that joined, not active, or an operator whose login is
  /// older than kOperatorSession. Aborted: another counter; then the member is held, since two hold its
  /// identity, and whoever listens to OnCut is told.
  ///
  /// A counter that is one behind is no proof of a second holder while nobody has shown the newest
  /// certificate: its answer may have been lost. Then another one is given. A copy that keeps quiet is found
  /// at the next renewal after both have shown theirs.
  Result<Issued> Renew(MemberKind kind, const std::string& name, const identity::PublicKey& key,
                       std::uint64_t renewals);
  /// How long after his login an operator's key is good for new certificates.
  static constexpr std::chrono::hours kOperatorSession{7 * 24};

  /// The member with this key, for who has proved to hold it; by UUID or name of a node, by name of an
  /// operator. NotFound when nobody of that name or UUID has joined.
  Result<MemberRecord> Find(MemberKind kind, const std::string& name_or_uuid) const;

  /// evict, ban, hold, or back to active. NotFound; FailedPrecondition: who was evicted or banned does not
  /// become active again (his certificates were taken back), and a ban ends by evicting.
  Status SetStanding(MemberKind kind, const std::string& name, Standing standing, const std::string& reason,
                     const Caller& by);
  /// Drops a member whose ban, if there was one, was lifted; his certificates stop counting.
  Status Forget(MemberKind kind, const std::string& name, const Caller& by);
  std::vector<MemberRecord> Members() const;

  /// `cut` is called, in the caller's thread, whenever somebody's certificates stop counting: his live
  /// streams are to be ended.
  void OnCut(std::function<void(MemberKind, const std::string& name, const std::string& why)> cut);
  /// `write` gets an audit row for what was refused, in the caller's thread: 20 at once, then one in 10 s,
  /// which says how many it stands for, so that a guesser cannot fill the disk. Set both before the first
  /// call.
  void OnRefused(std::function<void(const AuditRow&)> write);

 private:
  struct Member {
    MemberRecord record;
    /// Of the certificate before the newest. None after a restart; then the first older one that shows itself
    /// is it: the key is the same, and of two that are older one has expired long since.
    std::optional<std::string> previous;
    /// Whether somebody has shown the newest.
    mutable std::atomic<bool> newest_seen = false;
    /// A person let a held one go on: its next renewal sets the counter.
    bool any_counter = false;
  };
  using Key = std::pair<MemberKind, std::string>;  // and its name
  struct Cut {
    MemberKind kind;
    std::string name, why;
  };

  // With write_ held.
  Status AdmitToken(const identity::JoinToken& token, const std::string& address,
                    std::chrono::system_clock::time_point now, TokenRecord& record) const;
  Status AdmitName(const TokenRecord& token, const identity::PublicKey& key, std::string& name) const;
  Result<Issued> JoinNow(const identity::JoinToken& token, const identity::PublicKey& key,
                         std::string_view name, const std::string& address, std::optional<Cut>& cut);
  Result<Issued> RenewNow(MemberKind kind, const std::string& name, const identity::PublicKey& key,
                          std::uint64_t renewals, std::optional<Cut>& cut);
  Result<identity::Certificate> Certify(const MemberRecord& member, const identity::PublicKey& key) const;
  Status ReadAll();
  void Put(const MemberRecord& record, std::optional<std::string> previous);
  AuditRow Row(std::string who, std::string action, std::string subject, std::string detail) const;

  // With mutex_ held.
  const Member* Of(MemberKind kind, const std::string& name) const;
  Status JudgeMember(const identity::Peer& peer, const Member& member, bool& adopt) const;

  Status Refused(Status status, const std::string& who, const std::string& action,
                 const std::string& subject);
  void Tell(const std::optional<Cut>& cut) const;

  IdentityStore& store_;
  const identity::Issuer& issuer_;
  const Clock& clock_;
  std::function<void(MemberKind, const std::string&, const std::string&)> cut_;
  std::function<void(const AuditRow&)> write_refused_;

  std::mutex write_;  // one change at a time, held over the store's call; taken before mutex_
  mutable std::shared_mutex mutex_;
  mutable std::map<Key, Member> members_;
  std::unordered_map<std::string, std::string> by_uuid_;  // → name
  std::map<std::string, TokenRecord> tokens_;

  std::mutex refusals_;
  double allowance_ = 20;
  Clock::Steady counted_{};
  std::uint64_t untold_ = 0;
};

}  // namespace railwright
