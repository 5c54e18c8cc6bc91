#include "agent/tools/allow_list.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace railwright {
namespace {

// A program comes here together with the backend that drives it, never before.
constexpr std::string_view kAllowed[] = {"/usr/sbin/nft",      "/usr/bin/mstconfig",  "/usr/sbin/mstconfig",
                                         "/usr/bin/mlxconfig", "/usr/sbin/mlxconfig", "/usr/bin/mstreg",
                                         "/usr/sbin/mstreg",   "/usr/bin/mlxreg",     "/usr/sbin/mlxreg"};

constexpr std::size_t kOutputLimit = std::size_t{64} << 20;

std::mutex mutex;
std::vector<std::string>& AddedByTests() {
  static std::vector<std::string> added;
  return added;
}
std::atomic<std::size_t> output_limit{kOutputLimit};

}  // namespace

bool MayRun(std::string_view program) {
  if (std::find(std::begin(kAllowed), std::end(kAllowed), program) != std::end(kAllowed)) return true;
  std::lock_guard lock(mutex);
  return std::find(AddedByTests().begin(), AddedByTests().end(), program) != AddedByTests().end();
}

std::string AllowedPrograms() {
  std::string all;
  for (std::string_view one : kAllowed) {
    if (!all.empty()) all += ", ";
    all += one;
  }
  return all;
}

void AllowInTests(std::string_view program) {
  std::lock_guard lock(mutex);
  AddedByTests().emplace_back(program);
}

std::size_t LimitOutputInTests(std::size_t bytes) { return output_limit.exchange(bytes); }

std::size_t OutputLimit() { return output_limit; }

}  // namespace railwright
