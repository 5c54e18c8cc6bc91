#include "controller/sign/state_signer.h"

#include <algorithm>
#include <utility>

#include "core/identity/digest.h"

namespace railwright {

using identity::Digest;
using identity::Statement;
using identity::StatementNumber;

namespace {

Status CannotSign(const std::string& why) { return Status(Code::kFailedPrecondition, why); }

bool FitsContent(const Statement& said, const std::string& uuid, const Digest& payload) {
  return said.audience.is_node() && said.audience.node() == uuid && said.payload_sha256 == payload;
}

// created_by takes printable ASCII: what an author calls himself beyond that is shown as '?'.
std::string CreatedBy(const std::string& author) {
  std::string text = author.substr(0, 200);
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text.empty() ? "railwright-controller" : text;
}

}  // namespace

StateSigner::StateSigner(SigningTerms terms, StatementStore& store, const Clock& clock, UuidOf uuid_of)
    : terms_(std::move(terms)), store_(store), clock_(clock), uuid_of_(std::move(uuid_of)) {}

Result<StateSigner::Row> StateSigner::Decoded(StatementRow stored) const {
  Row row;
  if (!stored.envelope.empty()) {
    // Who signed it was judged when it was made. Whose signatures count may have changed since; then it is
    // made anew, so it is read with the key that its line names and nothing is asked of it.
    RW_ASSIGN_OR_RETURN(const std::string statement, identity::StatementOf(stored.envelope));
    RW_ASSIGN_OR_RETURN(row.complete, Statement::Decode(statement));
    RW_ASSIGN_OR_RETURN(row.complete_digest, identity::Sha256(statement));
  }
  if (!stored.pending.empty()) {
    RW_ASSIGN_OR_RETURN(row.pending, Statement::Decode(stored.pending));
  }
  row.stored = std::move(stored);
  return row;
}

Status StateSigner::Load() {
  RW_ASSIGN_OR_RETURN(auto stored, store_.Statements());
  rows_.clear();
  for (StatementRow& one : stored) {
    const std::string node = one.node;
    auto row = Decoded(std::move(one));
    if (!row.ok())
      return Status(Code::kDataLoss, "the signed state of node " + node + ": " + row.status().message());
    rows_.emplace(node, std::move(*row));
  }
  return Ok();
}

Status StateSigner::Waits(const Row& row) const {
  return Status(Code::kUnavailable,
                StatementNumber::Of(row.pending->generation).Text() + " has " +
                    std::to_string(row.stored.signatures.size()) + " of " +
                    std::to_string(terms_.signers.threshold) +
                    " signatures that it needs; next, where the key is: railctl sign --key FILE");
}

Status StateSigner::MakePending(const ToEndorse& wanted, const identity::NodeUuid& uuid,
                                StatementNumber number, const Digest& previous, Row& row) const {
  const auto line = [&]() -> Result<identity::Pin> {
    if (terms_.key != nullptr) return terms_.key->public_key().pin();
    for (const identity::PublicKey& key : terms_.signers.keys)
      if (terms_.signers.Counts(key.pin())) return key.pin();
    return CannotSign("no key of signers.pem counts");
  }();
  RW_RETURN_IF_ERROR(line.status());
  RW_ASSIGN_OR_RETURN(const Digest payload, identity::ParseDigest(wanted.hash));
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.WallNow());
  Statement said{.schema = identity::kStateSchema,
                 .cluster = terms_.cluster,
                 .audience = identity::Audience::Node(uuid),
                 .line = *line,
                 .generation = number.Packed(),
                 .previous = previous,
                 .not_before = now - SigningTerms::kBackdated,
                 .not_after = now - SigningTerms::kBackdated + terms_.validity,
                 .created_by = CreatedBy(wanted.author),
                 .payload_bytes = static_cast<std::uint32_t>(
                     std::min<std::size_t>(wanted.bytes, Statement::kMostPayloadBytes + std::size_t{1})),
                 .payload_sha256 = payload};
  RW_ASSIGN_OR_RETURN(row.stored.pending, said.Encode());
  row.stored.signatures.clear();
  row.pending = std::move(said);
  if (terms_.key != nullptr && terms_.signers.Counts(*line)) {
    RW_ASSIGN_OR_RETURN(auto signature, identity::SignStatement(row.stored.pending, *terms_.key));
    row.stored.signatures.push_back(std::move(signature));
  }
  return Complete(row);
}

Status StateSigner::Complete(Row& row) const {
  if (!row.pending || row.stored.signatures.size() < terms_.signers.threshold) return Ok();
  RW_ASSIGN_OR_RETURN(row.stored.envelope, identity::MakeEnvelope(row.stored.pending, row.stored.signatures));
  RW_ASSIGN_OR_RETURN(row.complete_digest, identity::Sha256(row.stored.pending));
  row.complete = std::exchange(row.pending, std::nullopt);
  row.stored.pending.clear();
  row.stored.signatures.clear();
  return Ok();
}

Result<Endorsed> StateSigner::Judge(const ToEndorse& wanted, Row& row, bool& changed) const {
  const std::string text = !wanted.uuid.empty() ? wanted.uuid : uuid_of_ ? uuid_of_(wanted.node) : "";
  if (text.empty())
    return CannotSign("not signed for yet: node " + wanted.node +
                      " has not joined; next: railctl token create --node " + wanted.node);
  RW_ASSIGN_OR_RETURN(const identity::NodeUuid uuid, identity::NodeUuid::Parse(text));
  RW_ASSIGN_OR_RETURN(const Digest payload, identity::ParseDigest(wanted.hash));
  const StatementNumber held = StatementNumber::Of(wanted.held_number);
  const bool ours = row.complete && row.complete->audience.is_node() && row.complete->audience.node() == text;
  const StatementNumber last = ours ? StatementNumber::Of(row.complete->generation) : StatementNumber{};
  const bool knows_held =
      ours && held == last &&
      (wanted.held_digest.empty() || wanted.held_digest == identity::Bytes(row.complete_digest));
  const auto endorsed = [&] {
    return Endorsed{StatementNumber::Of(row.complete->generation), row.stored.envelope};
  };
  const auto pending_fits = [&](std::uint64_t least_generation) {
    return row.pending && FitsContent(*row.pending, text, payload) &&
           StatementNumber::Of(row.pending->generation) > held &&
           StatementNumber::Of(row.pending->generation).generation >= least_generation;
  };

  if (ours && row.complete->payload_sha256 == payload && (held < last || knows_held) &&
      terms_.signers.Counts(row.complete->line)) {
    const auto now = clock_.WallNow();
    const bool due = now - row.complete->not_before > terms_.validity / 3 ||
                     now < row.complete->not_before - identity::kClockSkew;
    if (!due) return endorsed();
    if (!pending_fits(last.generation) && last.issue < StatementNumber::kMostIssue) {
      RW_RETURN_IF_ERROR(
          MakePending(wanted, uuid, {last.generation, last.issue + 1}, row.complete_digest, row));
      changed = true;
    }
    return endorsed();  // the renewed one, or the old one until the signatures are there
  }

  // Never below what the node holds, whoever signed that.
  if (held.generation > wanted.generation)
    return CannotSign("the node holds " + held.Text() + ", this controller only has generation " +
                      std::to_string(wanted.generation) +
                      " (restored from an older backup?); railctl apply or rollback makes one above both");
  if (wanted.held_number != 0 && held.generation == wanted.generation && held >= last && !knows_held &&
      !wanted.holds_hash)
    return CannotSign(
        "the node holds another " + held.Text() +
        ", which this controller did not sign: two controllers serve this cluster, or this one was "
        "restored; railctl apply or rollback makes one above both");
  if (pending_fits(wanted.generation)) return Waits(row);
  StatementNumber number{wanted.generation, 0};
  const StatementNumber top = std::max(held, last);
  if (top.generation == wanted.generation) number.issue = top.issue + 1;
  if (number.generation == 0 || number.generation > StatementNumber::kMostGeneration ||
      number.issue > StatementNumber::kMostIssue || number < top)
    return CannotSign("no number is left for a statement of " + number.Text());
  Digest previous{};
  if (held >= last && wanted.held_digest.size() == previous.size())
    std::copy(wanted.held_digest.begin(), wanted.held_digest.end(), previous.begin());
  else if (ours)
    previous = row.complete_digest;
  RW_RETURN_IF_ERROR(MakePending(wanted, uuid, number, previous, row));
  changed = true;
  if (row.pending) return Waits(row);
  return endorsed();
}

Status StateSigner::Remember(std::map<std::string, Row>& changed) {
  std::vector<StatementRow> rows;
  for (const auto& [node, row] : changed) rows.push_back(row.stored);
  RW_RETURN_IF_ERROR(store_.PutStatements(rows));
  for (auto& [node, row] : changed) rows_.insert_or_assign(node, std::move(row));
  return Ok();
}

std::vector<Result<Endorsed>> StateSigner::Endorse(const std::vector<ToEndorse>& wanted) {
  std::vector<Result<Endorsed>> answers;
  std::map<std::string, Row> changed;
  std::vector<bool> is_new;
  for (const ToEndorse& one : wanted) {
    const auto known = rows_.find(one.node);
    bool touched = false;
    Row row = known != rows_.end() ? known->second : Row();
    row.stored.node = one.node;
    answers.push_back(Judge(one, row, touched));
    is_new.push_back(touched);
    if (touched) changed.insert_or_assign(one.node, std::move(row));
  }
  // Remembered first: a number that was handed out and forgotten would be given to another state.
  if (const Status kept = changed.empty() ? Ok() : Remember(changed); !kept.ok())
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (is_new[i]) answers[i] = kept.Within("what is signed for it cannot be kept");
  return answers;
}

std::vector<Unsigned> StateSigner::Waiting() const {
  std::vector<Unsigned> list;
  for (const auto& [node, row] : rows_) {
    if (!row.pending) continue;
    Unsigned& one = list.emplace_back();
    one.node = node;
    one.uuid = row.pending->audience.node();
    one.statement = row.stored.pending;
    one.threshold = terms_.signers.threshold;
    for (const auto& signature : row.stored.signatures) one.signed_by.push_back(signature.key);
  }
  return list;
}

Result<StateSigner::Row> StateSigner::WithSignature(const SignatureOffer& offer, Row row) const {
  if (!row.pending)
    return Status(Code::kNotFound,
                  "nothing waits for a signature there; it was signed meanwhile, or a newer "
                  "generation took its place");
  RW_ASSIGN_OR_RETURN(const Statement said, Statement::Decode(offer.statement));
  Statement same = said;
  if (row.stored.signatures.empty()) same.line = row.pending->line;  // the first signer's line
  if (same != *row.pending)
    return Status(Code::kInvalidArgument,
                  "it is not the statement that waits; another took its place meanwhile");
  RW_ASSIGN_OR_RETURN(const identity::NodeUuid uuid, identity::NodeUuid::Parse(said.audience.node()));
  row.pending = said;
  row.stored.pending = offer.statement;
  std::erase_if(row.stored.signatures, [&](const auto& one) { return one.key == offer.signature.key; });
  row.stored.signatures.push_back(offer.signature);
  // Judged as a node would: all signatures so far must hold and count.
  RW_ASSIGN_OR_RETURN(const std::string envelope,
                      identity::MakeEnvelope(row.stored.pending, row.stored.signatures));
  identity::TrustedSigners so_far = terms_.signers;
  so_far.threshold = row.stored.signatures.size();
  RW_RETURN_IF_ERROR(
      identity::OpenAccepted(envelope, so_far, {.cluster = terms_.cluster, .node = uuid, .groups = {}})
          .status());
  RW_RETURN_IF_ERROR(Complete(row));
  return row;
}

Result<std::size_t> StateSigner::AddSignatures(const std::vector<SignatureOffer>& offers) {
  std::map<std::string, Row> changed;
  for (const SignatureOffer& offer : offers) {
    const auto known = rows_.find(offer.node);
    const auto again = changed.find(offer.node);
    Row row = again != changed.end() ? again->second : known != rows_.end() ? known->second : Row();
    row.stored.node = offer.node;
    auto next = WithSignature(offer, std::move(row));
    if (!next.ok()) return next.status().Within("node " + offer.node);
    changed.insert_or_assign(offer.node, std::move(*next));
  }
  if (!changed.empty()) RW_RETURN_IF_ERROR(Remember(changed));
  return offers.size();
}

}  // namespace railwright
