// The members of a journal line that tell of a try. Internal to this folder.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "railwright/journal.h"

namespace railwright {

// record.cc: how any text of a line is written.
std::string BytesToText(std::string_view bytes);
std::optional<std::string> TextToBytes(std::string_view text);
std::string_view Name(Original::Kind kind);
Result<Original::Kind> ParseKind(const std::string& kind);
/// A text member as bytes.
Result<std::string> Member(const nlohmann::json& object, const char* name);

nlohmann::json ToJson(const OpenTry& open);
/// Without key and target.
nlohmann::json ToJson(const FailedTry& failed);
Result<OpenTry> TryOf(const nlohmann::json& object);
Result<FailedTry> FailedTryOf(const nlohmann::json& object);

}  // namespace railwright
