#include "agent/loop/pauses.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"
#include "core/text/shapes.h"

namespace railwright {

using Json = nlohmann::ordered_json;

std::string FormatPauses(const std::vector<Pause>& pauses) {
  Json list = Json::array();
  for (const Pause& pause : pauses) list.push_back(ToJson(pause));
  return Json{{"pauses", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<Pause>> ParsePauses(std::string_view text) {
  try {
    const Json document = Json::parse(text);
    std::vector<Pause> pauses;
    for (const Json& one : document.at("pauses")) {
      Pause pause;
      pause.node = one.value("node", "");
      pause.key = one.value("key", "");
      pause.by = one.value("by", "");
      pause.reason = one.value("reason", "");
      pauses.push_back(std::move(pause));
    }
    return pauses;
  } catch (const Json::exception& error) {
    return Status(Code::kDataLoss, std::string("no list of pauses: ") + error.what());
  }
}

bool Stops(const std::vector<Pause>& pauses, std::string_view key, std::string_view family) {
  return std::any_of(pauses.begin(), pauses.end(), [&](const Pause& pause) {
    return pause.key.empty() || pause.key == key || pause.key == family;
  });
}

bool PauseFile::Look() {
  struct stat info {};
  Stamp now;
  if (::stat(path_.c_str(), &info) == 0) {
    now = {true, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  } else if (errno != ENOENT && errno != ENOTDIR) {
    now = {true, 0, -1, 0, errno};  // there, and not to be read
  }
  if (now == stamp_) return false;
  stamp_ = now;
  std::vector<Pause> seen;
  if (now.there) {
    const auto text = ReadWhole(path_, 1U << 20);
    if (!text.ok() && text.status().code() == Code::kNotFound) {
      // gone since stat(): nothing is paused, and the next look says so again
    } else {
      auto parsed = text.ok() ? ParsePauses(*text) : Result<std::vector<Pause>>(text.status());
      seen = parsed.ok() ? std::move(*parsed)
                         : std::vector<Pause>{{"", "", "railwright-agent",
                                               path_ + " cannot be understood (" + parsed.status().message() +
                                                   "), so everything stays as it is; correct or remove it"}};
    }
  }
  const bool changed = seen != pauses_;
  pauses_ = std::move(seen);
  return changed;
}

}  // namespace railwright
