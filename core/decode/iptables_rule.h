// One rule of iptables-save. Used by iptables_save.cc only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/decode/nft_ruleset.h"

namespace railwright {

/// Words of a line; "…" with \" and \\ inside is one.
std::vector<std::string> ShellWords(std::string_view line);

/// The words after "-A CHAIN". Jumps are told from targets by the chains of `table`. Never fails: what is not
/// understood becomes a kXt statement, which may mean anything.
nft::Rule DecodeIptablesRule(const std::vector<std::string>& words, const nft::Table& table);

}  // namespace railwright
