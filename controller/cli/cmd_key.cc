// railctl key generate, railctl key show: keys that sign states, on the machine of the person who signs.
#include "controller/cli/verbs.h"
#include "core/files/whole_file.h"
#include "core/identity/key.h"

namespace railwright::cli {
namespace {

constexpr std::size_t kMostKeyBytes = 64 * 1024;

// A private key or a public one.
Result<identity::PublicKey> ReadPublic(const std::string& path) {
  RW_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, kMostKeyBytes));
  if (text.find("PRIVATE KEY") == std::string::npos) return identity::PublicKey::FromPem(text);
  RW_ASSIGN_OR_RETURN(const auto key, ReadSigningKey(path));
  return key.public_key();
}

}  // namespace

Result<identity::PrivateKey> ReadSigningKey(const std::string& path) {
  RW_ASSIGN_OR_RETURN(std::string text, ReadPrivateFile(path, kMostKeyBytes));
  const identity::Secret held(text);
  std::fill(text.begin(), text.end(), '\0');
  auto key = identity::PrivateKey::FromPem(held.Reveal());
  if (!key.ok()) return key.status().Within(path);
  if (key->public_key().kind() != identity::KeyKind::kEd25519)
    return Status(Code::kInvalidArgument,
                  path + ": a key of " + std::string(Name(key->public_key().kind())) +
                      "; states are signed with Ed25519: railctl key generate --out FILE");
  return key;
}

ExitCode Run(Context& context, const KeyGenerateOptions& options) {
  if (options.out.empty()) return FailUsage(context, "key generate: --out FILE is missing");
  auto key = identity::PrivateKey::Generate(identity::KeyKind::kEd25519);
  if (!key.ok()) return Fail(context, key.status());
  const auto pem = key->ToPem();
  if (!pem.ok()) return Fail(context, pem.status());
  const Status written = WriteWholeFile(options.out, pem->Reveal(), {.replace = false});
  if (!written.ok()) return Fail(context, written);
  const std::string pin = key->public_key().pin().Text();
  if (!context.table()) {
    Emit(context, {{"file", options.out}, {"pin", pin}, {"public_key", key->public_key().ToPem()}});
    return ExitCode::kDone;
  }
  context.console.Print(key->public_key().ToPem());
  context.console.Note(
      "made the signing key " + pin + " in " + options.out +
      "; its public half above goes into identity/signers.pem of the controller. There is no other "
      "copy of the file");
  return ExitCode::kDone;
}

ExitCode Run(Context& context, const KeyShowOptions& options) {
  if (options.file.empty()) return FailUsage(context, "key show: FILE is missing");
  const auto key = ReadPublic(options.file);
  if (!key.ok()) return Fail(context, key.status());
  if (!context.table()) {
    Emit(
        context,
        {{"pin", key->pin().Text()}, {"kind", std::string(Name(key->kind()))}, {"public_key", key->ToPem()}});
    return ExitCode::kDone;
  }
  context.console.Print(key->pin().Text() + "  " + std::string(Name(key->kind())) + "\n" + key->ToPem());
  return ExitCode::kDone;
}

}  // namespace railwright::cli
