#include "agent/loop/crash_latch.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"
#include "railwright/utf8.h"

namespace railwright {

using Json = nlohmann::ordered_json;

void CrashLatch::Open() {
  hash_.clear();
  deaths_ = 0;
  begun_ = false;
  const auto text = ReadWhole(path_, 4096);
  if (!text.ok()) return;
  try {
    const Json marker = Json::parse(*text);
    if (marker.at("version").get<std::string>() != version_) return;
    deaths_ = marker.at("deaths").get<int>();
    hash_ = marker.at("hash").get<std::string>();
  } catch (const Json::exception&) {
    deaths_ = 0;
  }
}

bool CrashLatch::Marked(const std::string& hash) const {
  return deaths_ > 0 && hash_ == Brief(hash) && ::access(path_.c_str(), F_OK) == 0;
}

std::string CrashLatch::Holds(const std::string& hash) const {
  if (begun_ || !Marked(hash) || deaths_ < kMostDeaths) return {};
  return "the agent died " + std::to_string(deaths_) +
         " times in a row while it took this state up, so it does not any more and waits for another one; to "
         "try this one again, remove " +
         path_ + " and restart the agent";
}

Status CrashLatch::Begin(const std::string& hash, std::uint64_t generation) {
  // Begun twice in one life (sent again before its first pass) is one death at most.
  if (!(begun_ && hash_ == Brief(hash))) deaths_ = Marked(hash) && !begun_ ? deaths_ + 1 : 1;
  hash_ = Brief(hash);
  begun_ = true;
  const Json marker{{"generation", generation}, {"hash", hash_}, {"deaths", deaths_}, {"version", version_}};
  return WriteWholeFile(path_, marker.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void CrashLatch::End() {
  if (!begun_) return;
  begun_ = false;
  deaths_ = 0;
  hash_.clear();
  ::unlink(path_.c_str());  // if it comes back after a power cut, one death too many is counted
}

}  // namespace railwright
