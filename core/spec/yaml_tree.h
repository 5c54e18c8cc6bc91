// One YAML document as a plain tree with places; libfyaml stays behind this door.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/source_text.h"

namespace railwright::spec {

struct YamlNode {
  enum class Kind : std::uint8_t { kScalar, kList, kMap };
  Kind kind = Kind::kScalar;
  bool nothing = false;           ///< a scalar that was not written: "key:" and no more
  bool flow = false;              ///< [ ] or { }
  bool refused = false;           ///< a problem was told about it: nothing more is to be said
  Place place;                    ///< of its first character
  int width = 1;                  ///< characters to underline
  std::string text{};             ///< of a scalar
  std::vector<YamlNode> items{};  ///< of a list; of a map: key, value, key, value …
};

/// Deepest nesting of lists and maps.
inline constexpr std::size_t kMostNesting = 32;
/// Longest key, in bytes; YAML's own limit for a key without "?" (1.2.2 §7.4.2).
inline constexpr std::size_t kLongestKey = 1024;
/// Most scalars, lists and maps of one document: 10,000 nodes with 8 addresses each need 300,000.
inline constexpr std::size_t kMostNodes = 1'000'000;

/// Parses one slice. Anchors, aliases, tags, directives, duplicate keys, keys that are not a text and deep
/// nesting are problems. Nothing when the YAML itself is broken (then there is at least one problem).
std::optional<YamlNode> ParseYaml(std::string_view text, int first_line, Problems& problems);

/// `"abc"`, `a list`, `a map`, `nothing`: what was found, for messages.
std::string Describe(const YamlNode& node);

}  // namespace railwright::spec
