// iptables-save and ip6tables-save: their text as the same values that nft's listing becomes.
#pragma once

#include <string>
#include <string_view>

#include "core/decode/nft_ruleset.h"
#include "railwright/result.h"

namespace railwright {

struct IptablesSave {
  /// Tables raw, mangle, nat, filter, security with nft's hooks and priorities. Each rule's handle is its
  /// line in the text, from 1. A match or target that is not decoded is a kXt statement with its module's
  /// name
  /// ("match recent"), as nft shows it.
  nft::Ruleset ruleset;
  /// Every table ended with COMMIT; otherwise the text is cut and rules may be missing.
  bool complete = true;
};

/// `family` is "ip" for iptables-save, "ip6" for ip6tables-save. Counters ("[0:0] -A …", -c) are skipped.
/// InvalidArgument names the line that is neither comment, table, chain, rule nor COMMIT.
Result<IptablesSave> DecodeIptablesSave(std::string_view text, std::string_view family);

/// Whether the text is what `iptables -L` prints. That form leaves interfaces out: "ACCEPT all -- anywhere
/// anywhere" may be the rule for `lo`, so nothing may be concluded from it. Ask for iptables-save.
bool IsIptablesListing(std::string_view text);

}  // namespace railwright
