// Registry: who has joined, in memory over the IdentityStore; what a certificate is worth at this moment.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
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
    std::string name;
    std::optional<identity::Authority> authority;
    std::string from;
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

  /// A token, a public key, and the name that the newcomer gives itself → its certificate. `address` is where
  /// it comes from (an IP address as text). Unauthenticated: unknown, used up or expired token (one sentence
  /// for all three, so that nothing is told to who guesses); PermissionDenied: a name that the token is not
  /// for, one that is banned, or one that has joined already and was not evicted.
  Result<Issued> Join(const identity::JoinToken& token, const identity::PublicKey& key, std::string_view name,
                      const std::string& address);
  /// A new certificate for one who has proved to hold `key` (by its certificate, or by a signed request after
  /// a long outage). PermissionDenied: not the key that joined, or not active. Aborted: another counter; then
  /// the member is held, since two hold its identity, and whoever listens to OnCut is told.
  Result<Issued> Renew(MemberKind kind, const std::string& name, const identity::PublicKey& key,
                       std::uint64_t renewals);

  /// evict, ban, hold, or back to active.
  Status SetStanding(MemberKind kind, const std::string& name, Standing standing, const std::string& reason,
                     const Caller& by);
  std::vector<MemberRecord> Members() const;

  /// `cut` is called, in the caller's thread, whenever somebody's certificates stop counting: his live
  /// streams are to be ended.
  void OnCut(std::function<void(MemberKind, const std::string& name, const std::string& why)> cut);

 private:
  IdentityStore& store_;
  const identity::Issuer& issuer_;
  const Clock& clock_;
};

}  // namespace railwright
