// The names of the tables in nft's listing, without decoding it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railwright::nft {

/// (family, name) of every table, in the order printed; nothing when the text is not one whole value of the
/// shape that nft prints, and then it must be decoded to know. Costs one pass over the text: a scan that only
/// wants to know that no table but ours exists need not build a tree of 50,000 rules.
std::optional<std::vector<std::pair<std::string, std::string>>> TableNames(std::string_view json);

}  // namespace railwright::nft
