#include "core/identity/envelope.h"

#include <algorithm>

#include "core/identity/byte_order.h"
#include "core/identity/time_words.h"

namespace railwright::identity {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view kMagic = "RWSE";
constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kDomain = "railwright desired-state statement v1\0"sv;
constexpr std::size_t kSignatureBytes = 64;

Status Bad(const std::string& why) { return Status(Code::kInvalidArgument, "a signed envelope: " + why); }
Status No(Code code, const std::string& why) { return Status(code, "the signed state is refused: " + why); }

std::string ToBeSigned(std::string_view statement) { return std::string(kDomain) + std::string(statement); }

struct Parts {
  std::string_view statement;
  std::vector<std::pair<Pin, std::string_view>> signatures;
};

Result<Parts> Split(std::string_view bytes) {
  if (bytes.size() > kMostEnvelopeBytes)
    return Bad(std::to_string(bytes.size()) + " bytes; at most " + std::to_string(kMostEnvelopeBytes) +
               " are read");
  ByteReader in(bytes);
  if (in.Raw(kMagic.size()) != kMagic) return Bad("these bytes are none");
  const std::uint64_t version = in.Number(1);
  if (in.good() && version != kVersion)
    return Bad("version " + std::to_string(version) + " is not known; this build knows " +
               std::to_string(kVersion));
  Parts parts;
  parts.statement = in.Raw(in.Number(4));
  const std::uint64_t count = in.Number(1);
  if (in.good() && (count == 0 || count > kMostSignatures))
    return Bad(std::to_string(count) + " signatures; allowed: 1 to " + std::to_string(kMostSignatures));
  for (std::uint64_t i = 0; i < count && in.good(); ++i) {
    const Pin key(in.Sha256());
    const std::string_view signature = in.Raw(kSignatureBytes);
    if (in.good() && !parts.signatures.empty() && parts.signatures.back().first >= key)
      return Bad("its signatures are not in ascending order of their keys");
    parts.signatures.emplace_back(key, signature);
  }
  if (!in.good()) return Bad("it is cut short");
  if (in.left() != 0) return Bad(std::to_string(in.left()) + " bytes too many at its end");
  return parts;
}

// The signers that count, or which check failed.
Result<std::vector<Pin>> Judge(const Parts& parts, const Pin& line, const TrustedSigners& trusted) {
  std::set<Pin> counting;
  for (const PublicKey& key : trusted.keys)
    if (trusted.Counts(key.pin())) counting.insert(key.pin());
  if (trusted.threshold == 0 || counting.size() < trusted.threshold)
    return Status(Code::kFailedPrecondition, "signers: " + std::to_string(trusted.threshold) +
                                                 " signatures are asked for, and " +
                                                 std::to_string(counting.size()) + " keys may give one");
  const std::string message = ToBeSigned(parts.statement);
  std::vector<Pin> signers;
  std::string others;
  for (const auto& [pin, signature] : parts.signatures) {
    if (!counting.contains(pin)) {
      others += (others.empty() ? "" : ", ") +
                std::string(trusted.revoked.contains(pin) ? "revoked" : "unknown") + " key " + pin.Text();
      continue;
    }
    const auto key = std::find_if(trusted.keys.begin(), trusted.keys.end(),
                                  [&, wanted = pin](const PublicKey& one) { return one.pin() == wanted; });
    if (!key->Verifies(message, signature))
      return No(Code::kUnauthenticated, "bad signature of the key " + pin.Text());
    signers.push_back(pin);
  }
  if (signers.size() < trusted.threshold)
    return No(Code::kUnauthenticated, std::to_string(signers.size()) + " of " +
                                          std::to_string(trusted.threshold) + " signatures that it needs" +
                                          (others.empty() ? "" : "; signed by " + others));
  if (!std::binary_search(signers.begin(), signers.end(), line))
    return No(Code::kUnauthenticated, "its generation counts in the line of the " +
                                          std::string(trusted.revoked.contains(line) ? "revoked"
                                                      : trusted.Counts(line)         ? "absent"
                                                                                     : "unknown") +
                                          " key " + line.Text() + ", whose signature does not count");
  return signers;
}

}  // namespace

Result<StatementSignature> SignStatement(std::string_view statement, const PrivateKey& key) {
  // What a key signs, it must be able to read: it is asked to vouch for a statement, not for bytes.
  if (const auto read = Statement::Decode(statement); !read.ok()) return read.status();
  RW_ASSIGN_OR_RETURN(auto signature, key.Sign(ToBeSigned(statement)));
  return StatementSignature{key.public_key().pin(), std::move(signature)};
}

Result<std::string> MakeEnvelope(std::string_view statement, std::vector<StatementSignature> signatures) {
  RW_ASSIGN_OR_RETURN(const Statement read, Statement::Decode(statement));
  std::sort(signatures.begin(), signatures.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  if (std::none_of(signatures.begin(), signatures.end(),
                   [&](const auto& one) { return one.key == read.line; }))
    return Bad("the line's key " + read.line.Text() + " has not signed");
  ByteWriter out;
  out.Raw(kMagic);
  out.Number(kVersion, 1);
  out.Number(statement.size(), 4);
  out.Raw(statement);
  out.Number(std::min<std::size_t>(signatures.size(), 255), 1);
  for (const StatementSignature& one : signatures) {
    if (one.bytes.size() != kSignatureBytes) return Bad("a signature has 64 bytes");
    out.Raw(Bytes(one.key.digest()));
    out.Raw(one.bytes);
  }
  std::string bytes = std::move(out).Done();
  RW_RETURN_IF_ERROR(Split(bytes).status());
  return bytes;
}

Result<std::string> StatementOf(std::string_view bytes) {
  RW_ASSIGN_OR_RETURN(const Parts parts, Split(bytes));
  return std::string(parts.statement);
}

bool TrustedSigners::Counts(const Pin& key) const {
  return !revoked.contains(key) && std::any_of(keys.begin(), keys.end(), [&](const PublicKey& one) {
    return one.kind() == KeyKind::kEd25519 && one.pin() == key;
  });
}

Status OpenedEnvelope::CheckTime(Time now) const {
  // Differences, since a time near the clock's end has none beyond it.
  if (now < statement.not_before && statement.not_before - now > kClockSkew)
    return No(Code::kFailedPrecondition, "not yet valid: it begins at " + Utc(statement.not_before) +
                                             ", in " + Span(statement.not_before - now) +
                                             "; this clock says " + Utc(now));
  if (now > statement.not_after && now - statement.not_after > kClockSkew)
    return No(Code::kFailedPrecondition, "expired: it ended at " + Utc(statement.not_after) + ", " +
                                             Span(now - statement.not_after) + " ago; this clock says " +
                                             Utc(now));
  return Ok();
}

Status OpenedEnvelope::CheckPayload(std::string_view payload) const {
  if (payload.size() != statement.payload_bytes)
    return No(Code::kUnauthenticated, "its payload has " + std::to_string(payload.size()) +
                                          " bytes, signed are " + std::to_string(statement.payload_bytes));
  RW_ASSIGN_OR_RETURN(const Digest seen, Sha256(payload));
  if (seen != statement.payload_sha256)
    return No(Code::kUnauthenticated,
              "its payload has the SHA-256 " + Hex(seen) + ", signed is " + Hex(statement.payload_sha256));
  return Ok();
}

Result<OpenedEnvelope> OpenAccepted(std::string_view bytes, const TrustedSigners& trusted,
                                    const Addressee& me) {
  RW_ASSIGN_OR_RETURN(const Parts parts, Split(bytes));
  RW_ASSIGN_OR_RETURN(Statement statement, Statement::Decode(parts.statement));
  // Who signed comes before what was said: nothing in it means anything until then.
  RW_ASSIGN_OR_RETURN(std::vector<Pin> signers, Judge(parts, statement.line, trusted));
  if (statement.cluster != me.cluster)
    return No(Code::kPermissionDenied,
              "it is for the cluster " + statement.cluster.text() + ", this is " + me.cluster.text());
  const bool mine = statement.audience.is_node() ? statement.audience.node() == me.node.text()
                                                 : me.groups.contains(statement.audience.group());
  if (!mine)
    return No(Code::kPermissionDenied, "not addressed to this node: it is for " + statement.audience.Text() +
                                           ", this is node " + me.node.text());
  RW_ASSIGN_OR_RETURN(const Digest digest, Sha256(parts.statement));
  return OpenedEnvelope{std::move(statement), digest, std::move(signers)};
}

Result<OpenedEnvelope> Open(std::string_view bytes, const TrustedSigners& trusted, const Addressee& me,
                            Time now) {
  RW_ASSIGN_OR_RETURN(OpenedEnvelope opened, OpenAccepted(bytes, trusted, me));
  RW_RETURN_IF_ERROR(opened.CheckTime(now));
  return opened;
}

}  // namespace railwright::identity
