// JSON values as YAML text, for `-o yaml`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace railwright {

/// Block style, two blanks an indent, keys in the order of `value`, one newline at the end. Any YAML 1.1 or
/// 1.2 reader gives the same values back: a string that a reader could take for a number, a boolean, a date
/// or null is quoted. Text of several lines is a literal block. Invalid UTF-8 becomes U+FFFD.
std::string ToYaml(const nlohmann::ordered_json& value);

/// What `-o json` prints: two blanks an indent, one newline at the end, invalid UTF-8 replaced by U+FFFD.
std::string ToJsonText(const nlohmann::ordered_json& value);

}  // namespace railwright
