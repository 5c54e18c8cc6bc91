#include "controller/identity/controller_identity.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/files/whole_file.h"
#include "core/identity/signers.h"

namespace railwright {

using identity::Certificate, identity::Issuer, identity::KeyKind, identity::PrivateKey, identity::ServerName;

namespace {

constexpr const char *kCaKey = "/ca.key", *kCa = "/ca.pem", *kKey = "/controller.key",
                     *kChain = "/controller.pem", *kSignerKey = "/signer.key", *kSigners = "/signers.pem",
                     *kNames = "/names";
constexpr std::size_t kMostBytes = 64 * 1024;
constexpr mode_t kForAll = 0644;  // within a folder of mode 0700

std::string NamesText(const std::vector<ServerName>& names) {
  std::string text;
  for (const ServerName& name : names) text += name.text() + "\n";
  return text;
}

Result<std::vector<ServerName>> ReadNames(const std::string& path) {
  RW_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, kMostBytes));
  std::vector<ServerName> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    auto name = ServerName::Parse(line);
    if (!name.ok()) return Status(Code::kDataLoss, path + ": " + name.status().message());
    names.push_back(std::move(name).value());
  }
  if (names.empty()) return Status(Code::kDataLoss, path + " names nothing");
  return names;
}

Status Damaged(const std::string& path, const Status& status) {
  return Status(Code::kDataLoss, path + " is damaged: " + status.message() +
                                     "; put the folder back from a backup of the state directory");
}

Result<PrivateKey> ReadKey(const std::string& path, KeyKind kind) {
  auto text = ReadPrivateFile(path, kMostBytes);
  if (!text.ok()) return text.status();
  auto key = PrivateKey::FromPem(*text);
  // The copy that was read is not left lying in memory.
  ::explicit_bzero(text->data(), text->size());
  if (!key.ok()) return Damaged(path, key.status());
  if (key->public_key().kind() != kind)
    return Damaged(path, Status(Code::kDataLoss, "it is not a key of " + std::string(Name(kind))));
  return key;
}

Status WriteKey(const std::string& path, const PrivateKey& key) {
  RW_ASSIGN_OR_RETURN(const identity::Secret pem, key.ToPem());
  return WriteWholeFile(path, pem.Reveal());
}

// Held while the folder is made: two programs at it would mix their keys.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    error_ = fd_ < 0 || ::flock(fd_, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
  }
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  int error() const { return error_; }

 private:
  int fd_;
  int error_ = 0;
};

}  // namespace

Result<ControllerIdentity> ControllerIdentity::Make(const std::string& state_dir,
                                                    const identity::ClusterName& cluster,
                                                    const std::vector<ServerName>& names,
                                                    identity::Time now) {
  const std::string folder = state_dir + "/" + kFolder, beside = folder + ".new";
  const FolderLock lock(state_dir);
  if (lock.error() != 0) return FromErrno(lock.error(), state_dir);
  if (::access(folder.c_str(), F_OK) == 0)
    return Status(Code::kAlreadyExists,
                  folder +
                      " is there: this controller has an identity, and another CA would shut out every "
                      "node that joined. Its names stand in " +
                      folder + kNames);
  RW_ASSIGN_OR_RETURN(auto ca_key, PrivateKey::Generate(KeyKind::kP256));
  RW_ASSIGN_OR_RETURN(const auto issuer, Issuer::SelfSigned(cluster, std::move(ca_key), now));
  RW_ASSIGN_OR_RETURN(const auto key, PrivateKey::Generate(KeyKind::kP256));
  RW_ASSIGN_OR_RETURN(const auto signer, PrivateKey::Generate(KeyKind::kEd25519));
  RW_ASSIGN_OR_RETURN(const auto leaf, issuer.Controller(key.public_key(), names, now));
  const identity::TrustedSigners signers{.keys = {signer.public_key()}, .revoked = {}, .threshold = 1};

  // What an earlier attempt left is written over; the folder gets its name when all is there.
  RW_RETURN_IF_ERROR(MakeFolder(beside, {.mode = 0700}));
  RW_RETURN_IF_ERROR(WriteKey(beside + kCaKey, issuer.key()));
  RW_RETURN_IF_ERROR(WriteKey(beside + kKey, key));
  RW_RETURN_IF_ERROR(WriteKey(beside + kSignerKey, signer));
  const FileTerms for_all{.mode = kForAll};
  RW_RETURN_IF_ERROR(WriteWholeFile(beside + kCa, issuer.certificate().ToPem(), for_all));
  RW_RETURN_IF_ERROR(
      WriteWholeFile(beside + kChain, Certificate::ChainToPem({leaf, issuer.certificate()}), for_all));
  RW_RETURN_IF_ERROR(WriteWholeFile(beside + kSigners, SignersText(signers), for_all));
  RW_RETURN_IF_ERROR(WriteWholeFile(beside + kNames, NamesText(names), for_all));
  if (std::rename(beside.c_str(), folder.c_str()) != 0) return FromErrno(errno, folder);
  RW_RETURN_IF_ERROR(SyncFolder(state_dir));
  return Load(state_dir);
}

Result<ControllerIdentity> ControllerIdentity::Load(const std::string& state_dir) {
  ControllerIdentity all;
  all.folder_ = state_dir + "/" + kFolder;
  const std::string& folder = all.folder_;
  auto ca_pem = ReadWholeFile(folder + kCa, kMostBytes);
  if (!ca_pem.ok() && ca_pem.status().code() == Code::kNotFound)
    return Status(Code::kNotFound, "this controller has no identity: " + ca_pem.status().message() +
                                       "; make one: railwright-controller init --state-dir " + state_dir);
  if (!ca_pem.ok()) return ca_pem.status();
  auto ca = Certificate::FromPem(*ca_pem);
  if (!ca.ok()) return Damaged(folder + kCa, ca.status());
  RW_ASSIGN_OR_RETURN(auto ca_key, ReadKey(folder + kCaKey, KeyKind::kP256));
  auto issuer = Issuer::From(std::move(ca).value(), std::move(ca_key));
  if (!issuer.ok()) return Damaged(folder + kCa, issuer.status());
  all.issuer_ = std::make_shared<const Issuer>(std::move(issuer).value());

  RW_ASSIGN_OR_RETURN(auto key, ReadKey(folder + kKey, KeyKind::kP256));
  all.key_ = std::make_shared<const PrivateKey>(std::move(key));
  RW_ASSIGN_OR_RETURN(const std::string chain_pem, ReadWholeFile(folder + kChain, kMostBytes));
  auto chain = Certificate::ChainFromPem(chain_pem);
  if (!chain.ok()) return Damaged(folder + kChain, chain.status());
  all.chain_ = std::move(chain).value();
  if (all.chain_.front().public_key() != all.key_->public_key() ||
      all.chain_.back() != all.issuer_->certificate())
    return Damaged(folder + kChain, Status(Code::kDataLoss, "it is not of the keys beside it"));

  RW_ASSIGN_OR_RETURN(const std::string signers_text, ReadWholeFile(folder + kSigners, kMostBytes));
  auto signers = identity::ParseSigners(signers_text);
  if (!signers.ok()) return Damaged(folder + kSigners, signers.status());
  all.signers_ = std::move(signers).value();
  auto signer = ReadKey(folder + kSignerKey, KeyKind::kEd25519);
  if (signer.ok())
    all.signer_ = std::make_shared<const PrivateKey>(std::move(signer).value());
  else if (signer.status().code() != Code::kNotFound)
    return signer.status();
  RW_ASSIGN_OR_RETURN(all.names_, ReadNames(folder + kNames));
  return all;
}

Result<bool> ControllerIdentity::RenewIfDue(identity::Time now) {
  RW_ASSIGN_OR_RETURN(auto names, ReadNames(folder_ + kNames));
  const Certificate& leaf = chain_.front();
  const auto due = leaf.not_before() + (leaf.not_after() - leaf.not_before()) * 2 / 3;
  const bool fits =
      leaf.dns_names().size() + leaf.addresses().size() == names.size() &&
      std::all_of(names.begin(), names.end(), [&](const ServerName& name) { return leaf.IsFor(name); });
  if (fits && now >= leaf.not_before() && now < due) return false;
  RW_ASSIGN_OR_RETURN(auto renewed, issuer_->Controller(key_->public_key(), names, now));
  std::vector<Certificate> chain{std::move(renewed), issuer_->certificate()};
  RW_RETURN_IF_ERROR(WriteWholeFile(folder_ + kChain, Certificate::ChainToPem(chain), {.mode = kForAll}));
  chain_ = std::move(chain);
  names_ = std::move(names);
  return true;
}

}  // namespace railwright
