#include "agent/loop/confirmed_values.h"

#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"

namespace railwright {

using Json = nlohmann::json;

Status ConfirmedValues::Load() {
  values_.clear();
  const auto text = ReadWhole(path_);
  if (text.status().code() == Code::kNotFound) return Ok();
  RW_RETURN_IF_ERROR(text.status());
  try {
    const Json document = Json::parse(*text);
    for (const Json& one : document.at("confirmed"))
      values_[{one.at("key").get<std::string>(), one.at("target").get<std::string>()}] =
          one.at("value").get<std::string>();
  } catch (const Json::exception& error) {
    values_.clear();
    return Status(Code::kDataLoss, path_ + ": no list of confirmed values: " + error.what());
  }
  return Ok();
}

bool ConfirmedValues::Was(const KeyTarget& what, const std::string& value) const {
  const auto known = values_.find(what);
  return known != values_.end() && known->second == value;
}

Status ConfirmedValues::Note(const std::map<KeyTarget, std::string>& values) {
  std::map<KeyTarget, std::string> next = values_;
  for (const auto& [what, value] : values)
    if (next.contains(what) || next.size() < kMost) next[what] = value;
  if (next == values_) return Ok();
  Json list = Json::array();
  for (const auto& [what, value] : next)
    list.push_back({{"key", what.key}, {"target", what.target}, {"value", value}});
  RW_RETURN_IF_ERROR(WriteWholeFile(
      path_, Json{{"confirmed", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  values_ = std::move(next);
  return Ok();
}

}  // namespace railwright
