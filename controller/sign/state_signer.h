// StateSigner: statements for nodes' states, numbered, chained, signed and remembered.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/sign/endorser.h"
#include "controller/store/statement_store.h"
#include "core/identity/key.h"
#include "core/identity/statement.h"
#include "railwright/clock.h"

namespace railwright {

struct SigningTerms {
  identity::ClusterName cluster;
  identity::TrustedSigners signers;  ///< what nodes trust
  /// On this host; null: every signature comes by AddSignatures. Outlives the signer.
  const identity::PrivateKey* key = nullptr;
  /// Of a statement. It is renewed when a third of it is over, so that a node which was away for more than
  /// half of it still finds a valid one.
  std::chrono::seconds validity = key != nullptr ? kValidity : kValidityOffHost;

  static constexpr std::chrono::hours kValidity{30 * 24};
  /// People sign, so it may not be monthly.
  static constexpr std::chrono::hours kValidityOffHost{180 * 24};
  /// It begins so long before it is made: a node whose clock is behind takes it all the same. What is older
  /// is kept out by numbers, not by the beginning.
  static constexpr std::chrono::hours kBackdated{24};
};

/// One thread uses it. What it has handed out it remembers over restarts; a store that was lost or is older
/// than what nodes hold costs nothing but a number: it goes on above what they say.
class StateSigner final : public Endorser {
 public:
  /// The UUID of a node that has joined, by its name; "" = none has. May be empty: only connected nodes have
  /// one.
  using UuidOf = std::function<std::string(const std::string& node)>;

  StateSigner(SigningTerms terms, StatementStore& store, const Clock& clock, UuidOf uuid_of = {});

  /// Everything from the store. DataLoss: a row that is damaged, or holds what was never ours.
  Status Load();

  std::vector<Result<Endorsed>> Endorse(const std::vector<ToEndorse>& wanted) override;
  std::vector<Unsigned> Waiting() const override;
  Result<std::size_t> AddSignatures(const std::vector<SignatureOffer>& offers) override;

 private:
  struct Row {
    StatementRow stored;
    std::optional<identity::Statement> complete, pending;  // decoded
    identity::Digest complete_digest{};
  };

  Result<Row> Decoded(StatementRow stored) const;
  Result<Endorsed> Judge(const ToEndorse& wanted, Row& row, bool& changed) const;
  Status MakePending(const ToEndorse& wanted, const identity::NodeUuid& uuid,
                     identity::StatementNumber number, const identity::Digest& previous, Row& row) const;
  /// Makes `pending` the complete one when it has the signatures that it needs.
  Status Complete(Row& row) const;
  Result<Row> WithSignature(const SignatureOffer& offer, Row row) const;
  Status Waits(const Row& row) const;
  Status Remember(std::map<std::string, Row>& changed);

  const SigningTerms terms_;
  StatementStore& store_;
  const Clock& clock_;
  const UuidOf uuid_of_;
  std::map<std::string, Row> rows_;  // by node
};

}  // namespace railwright
