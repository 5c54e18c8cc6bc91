// JSON of nft to values: shared by the two halves of the decoder, used by nothing else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/decode/nft_ruleset.h"

namespace railwright::nft {

using Json = nlohmann::json;

/// nft's own expressions nest about six deep; the bound keeps hostile input off the stack.
constexpr int kMaxDepth = 64;

/// Raised inside the decoder only, turned into a Status at its edge.
struct TooDeep {};

/// The text, number or texts behind `key`; empty or zero when it is missing or of another type.
std::string TextOf(const Json& object, const char* key);
std::int64_t NumberOf(const Json& object, const char* key);
std::vector<std::string> TextsOf(const Json& object, const char* key);

/// Elements of a set, or pairs of a map. Throws TooDeep.
std::vector<Expression> ReadElements(const Json& json, bool pairs, int depth);
/// One statement of a rule; what is not understood becomes kOther. Throws TooDeep.
Statement ReadStatement(const Json& json);

}  // namespace railwright::nft
