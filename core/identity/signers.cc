#include "core/identity/signers.h"

#include <algorithm>
#include <charconv>

namespace railwright::identity {
namespace {

constexpr std::string_view kThreshold = "threshold ", kRevoked = "revoked ";
constexpr std::string_view kEnd = "-----END PUBLIC KEY-----\n";

Status Damaged(std::string_view why) {
  return Status(Code::kDataLoss, "not a text of signers: " + std::string(why));
}

}  // namespace

Status CheckSigners(const TrustedSigners& signers) {
  const auto bad = [](std::string_view why) {
    return Status(Code::kInvalidArgument, "signers of states: " + std::string(why));
  };
  if (signers.keys.empty()) return bad("there is no key");
  if (signers.keys.size() > kMostSigners || signers.revoked.size() > kMostSigners)
    return bad("more than " + std::to_string(kMostSigners) + " keys");
  std::set<Pin> pins;
  for (const PublicKey& key : signers.keys) {
    if (key.kind() != KeyKind::kEd25519) return bad("a key that is not Ed25519");
    if (!pins.insert(key.pin()).second) return bad("one key twice");
  }
  const auto counting = static_cast<std::size_t>(
      std::count_if(pins.begin(), pins.end(), [&](const Pin& pin) { return signers.Counts(pin); }));
  if (signers.threshold < 1 || signers.threshold > counting)
    return bad("a threshold of " + std::to_string(signers.threshold) + " with " + std::to_string(counting) +
               " keys that count");
  return Ok();
}

std::string SignersText(const TrustedSigners& signers) {
  std::string text = std::string(kThreshold) + std::to_string(signers.threshold) + "\n";
  for (const Pin& pin : signers.revoked) text += std::string(kRevoked) + pin.Text() + "\n";
  for (const PublicKey& key : signers.keys) text += key.ToPem();
  return text;
}

Result<TrustedSigners> ParseSigners(std::string_view text) {
  if (text.size() > kMostSignersBytes) return Damaged("it is too large");
  TrustedSigners signers;
  const auto line = [&]() -> std::string_view {
    const auto end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return one;
  };
  const std::string_view first = line();
  if (!first.starts_with(kThreshold)) return Damaged("it does not begin with a threshold");
  const std::string_view number = first.substr(kThreshold.size());
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), signers.threshold);
  if (error != std::errc() || end != number.data() + number.size()) return Damaged("its threshold");
  while (text.starts_with(kRevoked)) {
    const auto pin = Pin::Parse(line().substr(kRevoked.size()));
    if (!pin.ok() || !signers.revoked.insert(*pin).second) return Damaged("a revoked key");
  }
  while (!text.empty()) {
    const auto stop = text.find(kEnd);
    if (stop == std::string_view::npos) return Damaged("a key is cut short");
    auto key = PublicKey::FromPem(text.substr(0, stop + kEnd.size()));
    if (!key.ok()) return Damaged(key.status().message());
    signers.keys.push_back(std::move(key).value());
    text.remove_prefix(stop + kEnd.size());
  }
  if (const Status status = CheckSigners(signers); !status.ok()) return Damaged(status.message());
  return signers;
}

}  // namespace railwright::identity
