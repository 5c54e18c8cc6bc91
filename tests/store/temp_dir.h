// A directory of the test's own, gone with it, and small values to store.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "controller/store/store.h"

namespace railwright {

class TempDir {
 public:
  TempDir() {
    std::string pattern = testing::TempDir() + "railwright-store-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline StoredGeneration MakeGeneration(std::uint64_t number,
                                       const std::string& text = "kind: Profile\nname: a\n") {
  StoredGeneration g;
  g.generation = {number};
  g.created = std::chrono::system_clock::time_point(std::chrono::microseconds(1'796'040'000'123'456));
  g.author = "ann";
  g.comment = "first light";
  g.documents = {{"Cluster", "pod-a", "site.yaml", 1, "kind: Cluster\nname: pod-a\n"},
                 {"Profile", "a", "site.yaml", 9, text}};
  g.restores = {{"gpu-001", {"link.mtu", "rail0"}}};
  g.nodes = 4;
  g.settings = 17;
  return g;
}

inline Store::NodeWrite MakeWrite(const std::string& node, std::uint64_t sequence,
                                  Verdict verdict = Verdict::kCompliant) {
  Store::NodeWrite write;
  write.report.report.node = node;
  write.report.report.generation = {3};
  write.report.report.state_hash = "abc";
  write.report.report.verdict = verdict;
  write.report.report.settled = true;
  Finding finding;
  finding.code = "RW-1101";
  finding.key = "link.mtu";
  finding.target = "rail0";
  finding.desired = "4200";
  finding.observed = std::string("15\0 00", 6);  // what was read may hold any byte
  finding.verdict = verdict;
  finding.message = "grün";
  finding.evidence = {"/rtnl/link/rail0/mtu = 1500", ""};
  finding.mode = Mode::kEnforce;
  finding.origin = {"Profile/a", "site.yaml:12:3"};
  write.report.report.findings = {finding};
  write.report.report_hash = "h" + std::to_string(sequence);
  write.report.at = std::chrono::system_clock::time_point(std::chrono::microseconds(1'796'040'000'000'000));
  write.report.corrected = 2;
  write.report.agent_version = "0.1.0";
  write.report.boot_id = "b";
  if (sequence) {
    ChangeRecord change;
    change.sequence = sequence;
    change.kind = ChangeKind::kCorrective;
    change.key = "link.mtu";
    change.target = "rail0";
    change.from = "1500";
    change.to = "4200";
    change.by = "ip[4711]";
    change.noticed = "event";
    change.ok = true;
    change.generation = {3};
    change.at = write.report.at + std::chrono::seconds(sequence);
    change.took = std::chrono::microseconds(1234);
    write.changes = {change};
  }
  return write;
}

}  // namespace railwright
