#include "agent/offline/join.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "agent/identity/identity_files.h"
#include "core/enrol/ask.h"
#include "core/files/whole_file.h"
#include "core/identity/time_words.h"

namespace railwright::offline {

using identity::IssuedAnswer, identity::JoinLine, identity::PrivateKey;

namespace {

constexpr std::size_t kMostLine = 1024;
constexpr std::size_t kMostFile = 4096;
constexpr int kTries = 4;  // a token opens the port within half a second
constexpr std::chrono::milliseconds kBetweenTries{500};

Status Usage(const std::string& sentence) { return Status(Code::kInvalidArgument, sentence); }

Result<JoinLine> LineOf(const JoinOptions& options) {
  const bool words = !options.controller.empty() || !options.token.empty() || !options.ca.empty();
  if (options.line.empty()) {
    if (options.controller.empty() || options.token.empty() || options.ca.empty())
      return Usage("join needs HOST:PORT, --token and --ca, as railctl token create prints them");
    return JoinLine::FromWords(options.controller, options.token, options.ca);
  }
  if (words) return Usage("--line - has the address, the token and the pin in it; leave them out");
  if (options.line != "-" || options.input == nullptr) return Usage("--line takes - for standard input");
  std::array<char, kMostLine> buffer{};
  options.input->getline(buffer.data(), buffer.size());
  auto line = JoinLine::Parse({buffer.data(), ::strnlen(buffer.data(), buffer.size())});
  ::explicit_bzero(buffer.data(), buffer.size());
  return line;
}

std::string FirstLine(const std::string& path) {
  const auto text = ReadWholeFile(path, kMostFile);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

// The host's name without its domain: how inventories call nodes.
std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  const std::string whole = name.data();
  return whole.substr(0, std::min(whole.find('.'), std::size_t{63}));
}

enrol::Newcomer Me(const std::string& name) {
  enrol::Newcomer me;
  me.name = name.empty() ? "?" + HostName() : name;
  me.boot_id = FirstLine("/proc/sys/kernel/random/boot_id").substr(0, 36);
  if (const auto digest = identity::Sha256(FirstLine("/etc/machine-id")); digest.ok()) me.machine = *digest;
  return me;
}

Result<FileOwner> FrontOwner(const std::string& user) {
  if (user.empty()) return FileOwner{::geteuid(), ::getegid()};
  errno = 0;
  const passwd* entry = ::getpwnam(user.c_str());
  if (entry == nullptr)
    return Status(Code::kInvalidArgument,
                  "there is no user \"" + user + "\"; the package makes one, or name another --front-user");
  return FileOwner{entry->pw_uid, entry->pw_gid};
}

// The key of a join that has not ended: made before the first word to the controller, gone after the last
// file.
struct PendingKey {
  PrivateKey key;
  bool from_before;
};

Result<PendingKey> KeyFor(const std::string& folder) {
  const std::string path = folder + "/key.pem";
  if (const auto text = ReadPrivateFile(path, kMostFile); text.ok()) {
    // One that is damaged was never certified: only a whole one is.
    if (auto key = PrivateKey::FromPem(*text); key.ok()) return PendingKey{std::move(key).value(), true};
  } else if (text.status().code() != Code::kNotFound) {
    return text.status();
  }
  RW_ASSIGN_OR_RETURN(auto key, PrivateKey::Generate(identity::KeyKind::kP256));
  RW_ASSIGN_OR_RETURN(const auto pem, key.ToPem());
  RW_RETURN_IF_ERROR(MakeFolder(folder, {.mode = 0700}));
  RW_RETURN_IF_ERROR(WriteWholeFile(path, pem.Reveal()));
  return PendingKey{std::move(key), false};
}

Result<IssuedAnswer> Ask(const JoinLine& line, const enrol::Newcomer& me, const PendingKey& pending) {
  Result<IssuedAnswer> issued = Status(Code::kInternal, "not asked");
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenTries);
    issued = enrol::Join(line, me, pending.key, std::chrono::system_clock::now());
    // The port is opened when the token is made; nobody else is waited for.
    if (issued.ok() || issued.status().error_number() != ECONNREFUSED) break;
  }
  const bool lost = issued.status().code() == Code::kAborted;
  const bool used = pending.from_before && issued.status().code() == Code::kUnauthenticated;
  if (issued.ok() || (!lost && !used)) return issued;
  // The token may be used up by ourselves: then the controller knows this key.
  const std::string name = me.name.starts_with('?') ? me.name.substr(1) : me.name;
  auto recovered = enrol::RecoverByPin(line.controller, line.ca, identity::Party::kNode, name, 1, pending.key,
                                       std::chrono::system_clock::now());
  if (recovered.ok()) return recovered;
  return issued;
}

Status Save(const JoinOptions& options, IssuedAnswer issued, PrivateKey key, const FileOwner& front) {
  RW_ASSIGN_OR_RETURN(const auto uuid, identity::NodeUuid::Parse(issued.uuid));
  RW_RETURN_IF_ERROR(SaveNodeTrust(
      options.state_dir,
      {.cluster = issued.cluster, .uuid = uuid, .node = issued.name, .signers = issued.signers}));
  const FrontIdentity identity{.cluster = issued.cluster,
                               .uuid = uuid,
                               .node = issued.name,
                               .key = std::move(key),
                               .chain = std::move(issued.chain),
                               .roots = std::move(issued.roots),
                               .controllers = std::move(issued.controllers),
                               .enrolment = std::move(issued.enrolment),
                               .renewals = issued.renewals};
  return SaveFrontIdentity(options.state_dir, identity, front.uid, front.gid);
}

Status MayJoin(const JoinOptions& options) {
  if (options.again) return Ok();
  const auto there = LoadFrontIdentity(options.state_dir);
  if (!there.ok()) return there.status().code() == Code::kNotFound ? Ok() : there.status();
  return Status(Code::kFailedPrecondition,
                "this node has joined " + there->cluster.text() + " as " + there->node + " (" +
                    there->uuid.text() + "), with a certificate until " +
                    identity::Utc(there->chain.front().not_after()) + "; to join anew: railctl node evict " +
                    there->node + ", then this line with --again");
}

ExitCode Fail(const Status& status, const Console& console) {
  const ExitCode code = console.Fail(status);
  switch (status.code()) {
    case Code::kInvalidArgument: return ExitCode::kUsage;
    case Code::kUnavailable: return ExitCode::kUnreachable;
    case Code::kUnauthenticated: return ExitCode::kNotPermitted;
    default: return code;
  }
}

}  // namespace

ExitCode JoinCluster(const JoinOptions& options, const Console& console) {
  const auto line = LineOf(options);
  if (!line.ok()) return Fail(line.status(), console);
  const auto front = FrontOwner(options.front_user);
  if (!front.ok()) return Fail(front.status(), console);
  const auto held = StateDir::Open(options.state_dir);
  if (!held.ok()) return Fail(held.status(), console);
  if (const Status may = MayJoin(options); !may.ok()) return Fail(may, console);

  const std::string folder = options.state_dir + "/join";
  auto pending = KeyFor(folder);
  if (!pending.ok()) return Fail(pending.status(), console);
  const auto me = Me(options.name);
  auto issued = Ask(*line, me, *pending);
  if (!issued.ok()) return Fail(issued.status(), console);
  if (issued->party != identity::Party::kNode)
    return Fail(Status(Code::kFailedPrecondition,
                       "this line is for the operator " + issued->name + ": railctl login takes it"),
                console);
  // What was signed for another node is not this one's to keep, nor to be held against what comes. What is
  // written to the machine stays, and so does the journal.
  if (const auto before = LoadNodeTrust(options.state_dir);
      before.ok() && before->uuid.text() != issued->uuid)
    for (const char* of_before : {"/desired.bin", "/trust/floor", "/trust/floor.2"})
      if (::unlink((options.state_dir + of_before).c_str()) != 0 && errno != ENOENT)
        return Fail(FromErrno(errno, options.state_dir + of_before), console);
  const std::string what = issued->cluster.text() + " as " + issued->name + " (" + issued->uuid + ")";
  const auto until = issued->chain.front().not_after();
  // The half on the network passes through to its own folder, and sees nothing else here.
  if (!options.front_user.empty() && ::chmod(options.state_dir.c_str(), 0711) != 0)
    return Fail(FromErrno(errno, options.state_dir), console);
  if (const Status saved = Save(options, std::move(*issued), std::move(pending->key), *front); !saved.ok()) {
    console.Fail(saved);
    console.Note("the controller knows this node, but it is not all written here; next: the same line again");
    return ExitCode::kFailed;
  }
  ::unlink((folder + "/key.pem").c_str());
  ::rmdir(folder.c_str());
  console.out << "joined " << what << "; the certificate is renewed from now to " << identity::Utc(until)
              << "\nnext: railwright-agent run, or systemctl start railwright-agent\n";
  return ExitCode::kDone;
}

}  // namespace railwright::offline
