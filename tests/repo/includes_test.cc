// The map of who may use whom (agent/README.md, controller/README.md, core/README.md), held against the
// includes.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/repo/tree.h"

namespace railwright::repo {
namespace {

struct Row {
  std::string folder;
  std::vector<std::string> project;  // prefixes of quoted includes that are allowed beside the folder itself
  std::vector<std::string> system;   // patterns of angle includes beyond the standard library
};

// One row a folder of the design's table; `main.cc` files are free.
const std::vector<Row>& Map() {
  static const std::vector<Row> rows = {
      {"include/railwright", {}, {}},
      // inet_pton and its like are arithmetic, no sockets.
      {"core/decode", {"railwright/"}, {"nlohmann/", "arpa/inet.h"}},
      {"core/diagnose", {"railwright/", "core/decode/"}, {"nlohmann/"}},
      // The terminal: its width, and whether it is one.
      {"core/text", {"railwright/"}, {"nlohmann/", "sys/ioctl.h", "unistd.h", "locale.h", "wchar.h"}},
      {"core/wire", {"railwright/"}, {"openssl/", "google/protobuf/"}},
      {"core/spec", {"railwright/"}, {"google/protobuf/", "libfyaml"}},
      {"core/identity", {"railwright/"}, {"openssl/", "arpa/inet.h"}},
      {"core/tls", {"railwright/", "core/identity/"}, {"grpc"}},
      {"core/enrol",
       {"railwright/", "core/identity/"},
       {"openssl/", "fcntl", "unistd", "sys/", "poll.h", "netdb.h", "netinet/", "pthread.h", "signal.h"}},
      {"core/files", {"railwright/"}, {"fcntl", "unistd", "sys/"}},
      {"core/audit", {"railwright/", "core/identity/"}, {}},
      {"agent/tools",
       {"railwright/", "core/decode/", "core/files/descriptor.h"},
       {"sys/", "fcntl", "poll", "signal", "spawn", "unistd"}},
      {"agent/machine",
       {"railwright/", "core/decode/", "core/files/descriptor.h", "agent/tools/"},
       {"linux/",  "netlink/",  "libkmod", "sys/",     "fcntl",
        "poll",    "unistd",    "net/",    "netinet/", "arpa/",
        "dirent",  "nlohmann/", "endian",  "signal",   "sched",
        "ifaddrs", "asm/",      "dlfcn",   "systemd/", "rdma/rdma_netlink.h"}},
      {"agent/settings", {"railwright/", "core/decode/"}, {}},
      {"agent/checks", {"railwright/", "core/decode/", "core/diagnose/"}, {}},
      {"agent/reconcile", {"railwright/"}, {}},
      {"agent/probes",
       {"railwright/", "core/files/descriptor.h"},
       {"sys/", "unistd", "net/", "netinet/", "arpa/"}},
      {"agent/journal", {"railwright/", "core/files/"}, {"nlohmann/", "fcntl", "unistd", "sys/"}},
      {"agent/session",
       {"railwright/", "core/wire/", "core/identity/", "core/tls/", "core/enrol/", "agent/identity/",
        "agent/gate/messages.h"},
       {"grpc", "absl/"}},
      // Of the internet's sockets nothing; of protobuf what counts fields.
      {"agent/gate",
       {"railwright/", "core/files/descriptor.h"},
       {"google/protobuf/descriptor.h", "google/protobuf/io/", "sys/", "linux/capability.h", "fcntl",
        "unistd", "poll.h", "pwd.h", "signal.h"}},
      {"controller/fleet",
       {"railwright/", "core/spec/", "core/decode/", "core/diagnose/", "core/wire/"},
       {"arpa/", "netinet/"}},
      {"agent/identity", {"railwright/", "core/identity/", "core/files/"}, {"fcntl", "unistd", "sys/"}},
      {"controller/identity",
       {"railwright/", "core/identity/", "core/files/", "core/decode/", "controller/store/identity_store.h"},
       {"fcntl", "unistd", "sys/", "nlohmann/"}},
      {"controller/enrol",
       {"railwright/", "core/identity/", "controller/identity/"},
       {"openssl/", "spdlog/", "fcntl", "unistd", "sys/", "poll.h", "netdb.h", "netinet/", "arpa/",
        "pthread.h", "signal.h"}},
      // Of the store it knows one contract, and no SQL.
      {"controller/sign", {"railwright/", "core/identity/", "controller/store/statement_store.h"}, {}},
      // Of the store it knows values, and no SQL.
      {"controller/rollout",
       {"railwright/", "controller/fleet/", "core/spec/", "controller/store/rollout_store.h"},
       {}},
      {"controller/store",
       {"railwright/", "core/audit/", "core/files/", "core/identity/"},
       {"sqlite3", "openssl/", "fcntl", "unistd", "sys/"}},
      {"controller/rpc",
       {"railwright/", "core/", "controller/fleet/", "controller/store/", "controller/identity/",
        "controller/sign/", "controller/rollout/"},
       {"grpc", "absl/", "spdlog/", "sys/", "unistd", "fcntl", "openssl/", "google/protobuf/", "poll.h",
        "netdb.h", "netinet/", "arpa/", "ifaddrs.h", "net/if.h"}},
      {"controller/cli",
       {"railwright/", "core/", "controller/fleet/"},
       {"grpc", "absl/", "CLI/", "nlohmann/", "unistd", "sys/", "fcntl", "signal", "poll", "termios",
        "google/protobuf/"}},
  };
  return rows;
}

bool StandardHeader(const std::string& name) {
  static const std::regex c_or_cpp("^(c?[a-z_0-9]+)$");
  static const std::vector<std::string> posix = {"unistd", "fcntl", "poll", "signal", "dirent"};
  return std::regex_match(name, c_or_cpp) && name.find('.') == std::string::npos;
}

TEST(IncludesTest, EveryFolderIncludesOnlyWhatItsRowAllows) {
  const std::regex include(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  int seen = 0;
  for (const Row& row : Map()) {
    if (!std::filesystem::exists(Root() / row.folder)) continue;
    for (const std::string& file : FilesBelow(row.folder, {".cc", ".h"})) {
      const std::string name = std::filesystem::path(file).filename().string();
      if (name == "main.cc" || name.ends_with("_main.cc")) continue;
      int number = 0;
      for (const std::string& line : LinesOf(ReadText(Root() / file))) {
        ++number;
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        ++seen;
        const bool quoted = match[1] == "\"";
        const std::string target = match[2];
        const auto allowed_by = [&](const std::vector<std::string>& prefixes) {
          return std::any_of(prefixes.begin(), prefixes.end(),
                             [&](const std::string& prefix) { return target.starts_with(prefix); });
        };
        const bool fine = quoted ? target.starts_with(row.folder + "/") ||
                                       target.starts_with("railwright/") || allowed_by(row.project)
                                 : StandardHeader(target) || allowed_by(row.system);
        EXPECT_TRUE(fine) << file << ":" << number << ": " << row.folder << " must not include " << target;
        if (row.folder.starts_with("agent/settings") || row.folder == "agent/reconcile" ||
            row.folder.starts_with("include")) {
          EXPECT_EQ(target.find(".pb."), std::string::npos)
              << file << ":" << number << ": protobuf is not known here";
        }
      }
    }
  }
  EXPECT_GT(seen, 300) << "the walk saw too few includes to mean anything";
}

TEST(IncludesTest, TheVocabularyKnowsNoFileSocketOrTimeOfDay) {
  for (const std::string& file : FilesBelow("include", {".cc", ".h"})) {
    const std::string text = ReadText(Root() / file);
    for (const std::string word : {"<fstream>", "<filesystem>", "<unistd.h>", "<sys/", "<grpc", "<sqlite"})
      EXPECT_EQ(text.find(word), std::string::npos) << file << " includes " << word;
  }
}

TEST(IncludesTest, ReconcileNamesNoSetting) {
  for (const std::string& file : FilesBelow("agent/reconcile", {".cc", ".h"})) {
    std::string text;
    for (const std::string& line : LinesOf(ReadText(Root() / file)))
      text += line.substr(0, line.find("//")) + "\n";
    for (const std::string key : {"\"link.mtu", "\"sysctl.", "\"rail.", "\"firewall.", "\"roce.", "\"nccl."})
      EXPECT_EQ(text.find(key), std::string::npos) << file << " names " << key;
  }
}

TEST(IncludesTest, NoShellIsStartedFromCpp) {
  const std::regex shell(R"((^|[^_A-Za-z0-9.>])(system|popen|wordexp)\s*\()");
  for (const std::string folder : {"include", "core", "agent", "controller"}) {
    for (const std::string& file : FilesBelow(folder, {".cc", ".h"})) {
      int number = 0;
      for (const std::string& line : LinesOf(ReadText(Root() / file))) {
        ++number;
        const std::string code = line.substr(0, line.find("//"));
        EXPECT_FALSE(std::regex_search(code, shell)) << file << ":" << number << ": " << line;
        EXPECT_EQ(code.find("/bin/sh"), std::string::npos) << file << ":" << number << ": " << line;
      }
    }
  }
}

}  // namespace
}  // namespace railwright::repo
