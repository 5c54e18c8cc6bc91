#include "core/decode/rdma_cgroup.h"

#include <algorithm>
#include <tuple>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kForm =
    "GROUP DEVICE hca_handle=N|max hca_object=N|max, several divided by commas";
// The kernel's limits are int (kernel/cgroup/rdma.c).
constexpr std::uint64_t kMost = 0x7fffffff;

bool IsGroup(std::string_view group) {
  if (group.empty() || group.size() > 512 || group.front() == '/' || group.back() == '/') return false;
  for (const std::string_view part : Words(group, "/"))
    if (part == "." || part == "..") return false;
  return group.find("//") == std::string_view::npos && std::all_of(group.begin(), group.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("._-:@/\\").find(c) != std::string_view::npos;
         });
}

// The kernel's own limit is IB_DEVICE_NAME_MAX, 64 bytes.
bool IsDevice(std::string_view device) {
  return !device.empty() && device.size() < 64 && std::all_of(device.begin(), device.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Status TakeLimit(std::string_view word, RdmaLimit& limit, bool& handles, bool& objects) {
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  const auto value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  const bool handle = name == "hca_handle";
  if (!handle && name != "hca_object")
    return Status(Code::kInvalidArgument, Quoted(word) + " is no limit; allowed: hca_handle=, hca_object=");
  bool& given = handle ? handles : objects;
  if (given) return Status(Code::kInvalidArgument, std::string(name) + " is given twice");
  given = true;
  if (value != "max") RW_RETURN_IF_ERROR(ParseWhole(value, 0, kMost, "0…2147483647, or max").status());
  (handle ? limit.handles : limit.objects) = value;
  return Ok();
}

}  // namespace

Result<std::vector<RdmaLimit>> ParseRdmaLimits(std::string_view text) {
  std::vector<RdmaLimit> limits;
  for (const std::string_view item : Words(text, ",;\n")) {
    const auto words = Words(item);
    if (words.empty()) continue;
    const auto refuse = [&](const std::string& why) {
      return Status(Code::kInvalidArgument,
                    Quoted(Trimmed(item)) + " " + why + "; allowed: " + std::string(kForm));
    };
    if (words.size() < 3) return refuse("is no limit of a group");
    RdmaLimit limit;
    limit.group = words[0];
    limit.device = words[1];
    if (!IsGroup(limit.group)) return refuse("names no group below /sys/fs/cgroup");
    if (!IsDevice(limit.device)) return refuse("names no RDMA device");
    bool handles = false, objects = false;
    for (std::size_t i = 2; i < words.size(); ++i)
      if (const Status taken = TakeLimit(words[i], limit, handles, objects); !taken.ok())
        return refuse("is wrong: " + taken.message());
    limits.push_back(std::move(limit));
  }
  if (limits.empty())
    return Status(Code::kInvalidArgument, Quoted(text) + " is empty; allowed: " + std::string(kForm));
  const auto place = [](const RdmaLimit& one) { return std::tie(one.group, one.device); };
  std::sort(limits.begin(), limits.end(),
            [&](const RdmaLimit& a, const RdmaLimit& b) { return place(a) < place(b); });
  const auto twice = std::adjacent_find(limits.begin(), limits.end(),
                                        [&](const auto& a, const auto& b) { return place(a) == place(b); });
  if (twice != limits.end())
    return Status(Code::kInvalidArgument,
                  Quoted(twice->group + " " + twice->device) + " is given twice; allowed: once");
  return limits;
}

std::string RdmaLimitsText(const std::vector<RdmaLimit>& limits) {
  std::vector<std::string> items;
  for (const RdmaLimit& limit : limits) items.push_back(limit.Text());
  return Joined(items, ", ");
}

Result<std::vector<RdmaLimit>> DecodeRdmaMax(std::string_view group, std::string_view text) {
  std::vector<RdmaLimit> limits;
  for (const std::string_view line : Lines(text)) {
    const auto words = Words(line);
    if (words.empty()) continue;
    RdmaLimit limit;
    limit.group = group;
    limit.device = words[0];
    bool handles = false, objects = false;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (!TakeLimit(words[i], limit, handles, objects).ok())
        return Status(Code::kDataLoss, "rdma.max: " + Quoted(line) + " is no line of limits");
    limits.push_back(std::move(limit));
  }
  return limits;
}

}  // namespace railwright
