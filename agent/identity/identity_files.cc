#include "agent/identity/identity_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>

#include "core/files/whole_file.h"
#include "core/identity/signers.h"

namespace railwright {

using identity::Certificate, identity::Endpoint, identity::PrivateKey;

namespace {

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::size_t kMostEndpoints = 16;
constexpr mode_t kForAll = 0644;  // within a folder of mode 0700

std::string Front(const std::string& state_dir) { return state_dir + "/front"; }
std::string Trust(const std::string& state_dir) { return state_dir + "/trust"; }

Status Damaged(const std::string& path, const std::string& why) {
  return Status(Code::kDataLoss,
                path + " is damaged: " + why +
                    "; next: railwright-agent join --again with a new line (railctl token create)");
}

Status NotJoined(const Status& missing) {
  return Status(Code::kNotFound, "this node has not joined a cluster (" + missing.message() +
                                     "); next: on the controller, railctl token create; here, the "
                                     "railwright-agent join line that it prints");
}

// What is there and cannot be had keeps its own code; what should be there and is not is damage.
Status Missing(const std::string& path, const Status& status) {
  return status.code() == Code::kNotFound ? Damaged(path, "it is not there") : status;
}

// Lines of `word value`.
class Words {
 public:
  static Result<Words> Read(const std::string& path) {
    RW_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, kMostBytes));
    Words words;
    words.path_ = path;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::size_t blank = text.find(' ', at);
      if (end == std::string::npos || blank == std::string::npos || blank > end)
        return Damaged(path, "a line is no word and value");
      words.all_.emplace(text.substr(at, blank - at), text.substr(blank + 1, end - blank - 1));
      at = end + 1;
    }
    return words;
  }
  Result<std::string> One(const std::string& word) const {
    if (all_.count(word) != 1) return Damaged(path_, "\"" + word + "\" is not there once");
    return all_.find(word)->second;
  }
  std::vector<std::string> All(const std::string& word) const {
    std::vector<std::string> values;
    for (auto [at, end] = all_.equal_range(word); at != end; ++at) values.push_back(at->second);
    return values;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::multimap<std::string, std::string> all_;  // values of one word in their order
};

std::string Line(std::string_view word, std::string_view value) {
  return std::string(word) + " " + std::string(value) + "\n";
}

Status CheckName(const std::string& node) {
  if (!node.empty() && node.find_first_of(" \n") == std::string::npos) return Ok();
  return Status(Code::kInvalidArgument, "a node's name has no blanks and is not empty");
}

struct Who {
  identity::ClusterName cluster;
  identity::NodeUuid uuid;
  std::string node;
};

std::string Text(const Who& who) {
  return Line("cluster", who.cluster.text()) + Line("uuid", who.uuid.text()) + Line("node", who.node);
}

Result<Who> WhoOf(const Words& words) {
  RW_ASSIGN_OR_RETURN(const auto cluster_text, words.One("cluster"));
  RW_ASSIGN_OR_RETURN(const auto uuid_text, words.One("uuid"));
  RW_ASSIGN_OR_RETURN(auto node, words.One("node"));
  const auto cluster = identity::ClusterName::Parse(cluster_text);
  if (!cluster.ok()) return Damaged(words.path(), cluster.status().message());
  const auto uuid = identity::NodeUuid::Parse(uuid_text);
  if (!uuid.ok()) return Damaged(words.path(), uuid.status().message());
  return Who{*cluster, *uuid, std::move(node)};
}

Result<std::vector<Endpoint>> Endpoints(const Words& words, const std::string& word) {
  std::vector<Endpoint> all;
  for (const std::string& text : words.All(word)) {
    auto one = Endpoint::Parse(text);
    if (!one.ok()) return Damaged(words.path(), one.status().message());
    all.push_back(std::move(one).value());
  }
  if (all.empty() || all.size() > kMostEndpoints)
    return Damaged(words.path(), "it has " + std::to_string(all.size()) + " of \"" + word + "\"");
  return all;
}

Result<std::vector<Certificate>> ReadChain(const std::string& path) {
  RW_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, Certificate::kMostPemBytes));
  auto chain = Certificate::ChainFromPem(text);
  if (!chain.ok()) return Damaged(path, chain.status().message());
  return chain;
}

std::string ControllerText(const FrontIdentity& identity) {
  std::string text = Text({identity.cluster, identity.uuid, identity.node});
  for (const Endpoint& one : identity.controllers) text += Line("controller", one.Text());
  for (const Endpoint& one : identity.enrolment) text += Line("enrolment", one.Text());
  return text + Line("renewals", std::to_string(identity.renewals));
}

// The counter, the roots, and the certificate last.
Status WriteBesideTheKey(const std::string& folder, const FrontIdentity& identity, const FileTerms& terms) {
  if (identity.chain.empty() || identity.roots.empty() || identity.controllers.empty() ||
      identity.enrolment.empty() || identity.chain.front().public_key() != identity.key.public_key())
    return Status(Code::kInvalidArgument,
                  "an identity without a part, or whose certificate is for another key");
  RW_RETURN_IF_ERROR(CheckName(identity.node));
  RW_RETURN_IF_ERROR(WriteWholeFile(folder + "/controller", ControllerText(identity), terms));
  RW_RETURN_IF_ERROR(WriteWholeFile(folder + "/roots.pem", Certificate::ChainToPem(identity.roots), terms));
  return WriteWholeFile(folder + "/chain.pem", Certificate::ChainToPem(identity.chain), terms);
}

}  // namespace

Result<FrontIdentity> LoadFrontIdentity(const std::string& state_dir) {
  const std::string folder = Front(state_dir);
  auto chain = ReadChain(folder + "/chain.pem");
  if (!chain.ok() && chain.status().code() == Code::kNotFound) return NotJoined(chain.status());
  if (!chain.ok()) return chain.status();
  auto key_text = ReadPrivateFile(folder + "/key.pem", kMostBytes);
  if (!key_text.ok()) return Missing(folder + "/key.pem", key_text.status());
  auto key = PrivateKey::FromPem(*key_text);
  ::explicit_bzero(key_text->data(), key_text->size());
  if (!key.ok()) return Damaged(folder + "/key.pem", key.status().message());
  if (key->public_key() != chain->front().public_key())
    return Damaged(folder + "/chain.pem", "the certificate is not for the key beside it");
  auto roots = ReadChain(folder + "/roots.pem");
  if (!roots.ok()) return Missing(folder + "/roots.pem", roots.status());
  const auto words = Words::Read(folder + "/controller");
  if (!words.ok()) return Missing(folder + "/controller", words.status());
  RW_ASSIGN_OR_RETURN(auto who, WhoOf(*words));
  RW_ASSIGN_OR_RETURN(auto controllers, Endpoints(*words, "controller"));
  RW_ASSIGN_OR_RETURN(auto enrolment, Endpoints(*words, "enrolment"));
  RW_ASSIGN_OR_RETURN(const auto counter, words->One("renewals"));
  std::uint64_t renewals = 0;
  const auto [end, error] = std::from_chars(counter.data(), counter.data() + counter.size(), renewals);
  if (error != std::errc() || end != counter.data() + counter.size())
    return Damaged(folder + "/controller", "its counter is no number");
  return FrontIdentity{.cluster = std::move(who.cluster),
                       .uuid = std::move(who.uuid),
                       .node = std::move(who.node),
                       .key = std::move(key).value(),
                       .chain = std::move(chain).value(),
                       .roots = std::move(roots).value(),
                       .controllers = std::move(controllers),
                       .enrolment = std::move(enrolment),
                       .renewals = renewals};
}

Result<NodeTrust> LoadNodeTrust(const std::string& state_dir) {
  const std::string folder = Trust(state_dir);
  const auto words = Words::Read(folder + "/node");
  if (!words.ok() && words.status().code() == Code::kNotFound) return NotJoined(words.status());
  if (!words.ok()) return words.status();
  RW_ASSIGN_OR_RETURN(auto who, WhoOf(*words));
  const auto text = ReadWholeFile(folder + "/signers.pem", identity::kMostSignersBytes);
  if (!text.ok()) return Missing(folder + "/signers.pem", text.status());
  auto signers = identity::ParseSigners(*text);
  if (!signers.ok()) return Damaged(folder + "/signers.pem", signers.status().message());
  return NodeTrust{.cluster = std::move(who.cluster),
                   .uuid = std::move(who.uuid),
                   .node = std::move(who.node),
                   .signers = std::move(signers).value()};
}

Status SaveFrontIdentity(const std::string& state_dir, const FrontIdentity& identity, unsigned owner_uid,
                         unsigned owner_gid) {
  const std::string folder = Front(state_dir);
  const FileOwner owner{owner_uid, owner_gid};
  RW_RETURN_IF_ERROR(MakeFolder(folder, {.mode = 0700, .owner = owner}));
  // A certificate of before would be taken for that of the new key.
  if (::unlink((folder + "/chain.pem").c_str()) != 0 && errno != ENOENT)
    return FromErrno(errno, folder + "/chain.pem");
  RW_RETURN_IF_ERROR(SyncFolder(folder));
  RW_ASSIGN_OR_RETURN(const identity::Secret pem, identity.key.ToPem());
  RW_RETURN_IF_ERROR(WriteWholeFile(folder + "/key.pem", pem.Reveal(), {.mode = 0600, .owner = owner}));
  return WriteBesideTheKey(folder, identity, {.mode = kForAll, .owner = owner});
}

Status GiveFront(const std::string& state_dir, unsigned owner_uid, unsigned owner_gid) {
  const std::string folder = Front(state_dir);
  const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (dir < 0) return errno == ENOENT ? Ok() : FromErrno(errno, folder);
  Status given;
  for (const char* name : {"key.pem", "chain.pem", "roots.pem", "controller"}) {
    const int file = ::openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == ENOENT) continue;
    struct stat info {};
    if (file < 0 || ::fstat(file, &info) != 0) {
      given = FromErrno(errno, folder + "/" + name);
    } else if (!S_ISREG(info.st_mode) || info.st_nlink != 1) {
      // The folder's owner could have put another's file there.
      given =
          Status(Code::kFailedPrecondition, folder + "/" + name + " is no plain file of its own; remove it");
    } else if (info.st_uid != owner_uid && ::fchown(file, owner_uid, owner_gid) != 0) {
      given = FromErrno(errno, folder + "/" + name);
    }
    if (file >= 0) ::close(file);
    if (!given.ok()) break;
  }
  if (given.ok() && ::fchown(dir, owner_uid, owner_gid) != 0) given = FromErrno(errno, folder);
  ::close(dir);
  // On the way there: to be passed, not to be looked into.
  struct stat above {};
  if (given.ok() && (::stat(state_dir.c_str(), &above) != 0 ||
                     ::chmod(state_dir.c_str(), (above.st_mode & 07777) | 0011) != 0))
    given = FromErrno(errno, state_dir);
  return given;
}

Status SaveRenewed(const std::string& state_dir, const FrontIdentity& identity) {
  // Written by whoever owns the folder; root, when it renews, gives the files to him.
  struct stat info {};
  const std::string folder = Front(state_dir);
  if (::stat(folder.c_str(), &info) != 0) return FromErrno(errno, folder);
  FileTerms terms{.mode = kForAll};
  if (::geteuid() == 0) terms.owner = FileOwner{info.st_uid, info.st_gid};
  return WriteBesideTheKey(folder, identity, terms);
}

Status SaveNodeTrust(const std::string& state_dir, const NodeTrust& trust) {
  const std::string folder = Trust(state_dir);
  RW_RETURN_IF_ERROR(identity::CheckSigners(trust.signers));
  RW_RETURN_IF_ERROR(CheckName(trust.node));
  RW_RETURN_IF_ERROR(MakeFolder(folder, {.mode = 0700}));
  RW_RETURN_IF_ERROR(
      WriteWholeFile(folder + "/signers.pem", identity::SignersText(trust.signers), {.mode = kForAll}));
  return WriteWholeFile(folder + "/node", Text({trust.cluster, trust.uuid, trust.node}), {.mode = kForAll});
}

}  // namespace railwright
