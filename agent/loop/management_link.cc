#include "agent/loop/management_link.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/files/whole_file.h"
#include "core/wire/address.h"

namespace railwright {
namespace {

constexpr std::size_t kLongestName = 15;  // IFNAMSIZ - 1
constexpr std::size_t kMostNames = 16;

bool IsNetdev(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c > ' ' && c < 0x7f && c != '/'; });
}

}  // namespace

ManagementLink::ManagementLink(std::string told, const std::string& controller, std::string path, Route route)
    : told_(std::move(told)), path_(std::move(path)), route_(std::move(route)) {
  const auto address = ParseAddress(controller);
  if (address.ok()) {
    local_ = address->local;
    by_name_ = address->Target().starts_with("dns:");
    if (!by_name_) host_ = address->host;
  }
  error_ = controller + " has not been reached yet";
  Decide();
}

Status ManagementLink::Start() {
  Status status;
  const auto text = ReadWhole(path_, 4096);
  if (text.ok()) {
    std::istringstream lines(*text);
    for (std::string name; std::getline(lines, name) && kept_.size() < kMostNames;)
      if (IsNetdev(name)) kept_.push_back(name);
    reached_ = kept_;
  } else if (text.status().code() != Code::kNotFound) {
    status = text.status();
  }
  Look();
  return status;
}

void ManagementLink::Reached(const std::string& host) {
  // Who answered is the word of the half that talks to the network: only where nothing better is known.
  if (by_name_ && !host.empty()) host_ = host;
  Look();
  if (now_) reached_ = {*now_};
  Decide();
}

void ManagementLink::Look() {
  if (!told_.empty() || local_ || host_.empty() || !route_) return Decide();
  auto answer = route_(host_);
  if (answer.ok())
    now_ = *std::move(answer);
  else
    error_ = answer.status().message();  // the last answer stands
  Decide();
}

void ManagementLink::Decide() {
  management_ = {};
  if (!told_.empty()) {
    management_.netdevs = {told_};
    return;
  }
  if (local_) return;
  management_.netdevs = reached_;
  if (now_) management_.netdevs.push_back(*now_);
  std::erase(management_.netdevs, "");
  std::sort(management_.netdevs.begin(), management_.netdevs.end());
  management_.netdevs.erase(std::unique(management_.netdevs.begin(), management_.netdevs.end()),
                            management_.netdevs.end());
  if (!now_ && reached_.empty()) management_.unknown = error_;
}

std::string ManagementLink::Text() const {
  if (!management_.unknown.empty()) return "unknown";
  std::string text;
  for (const std::string& name : management_.netdevs) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Status ManagementLink::Keep() {
  if (!told_.empty() || local_ || !management_.unknown.empty() || management_.netdevs == kept_) return Ok();
  std::string text;
  for (const std::string& name : management_.netdevs) text += name + "\n";
  RW_RETURN_IF_ERROR(WriteWholeFile(path_, text));
  kept_ = management_.netdevs;
  return Ok();
}

}  // namespace railwright
