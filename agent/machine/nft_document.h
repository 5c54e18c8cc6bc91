// JSON documents of nft: listings split by table, transactions kept to one table.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "railwright/result.h"

namespace railwright::machine {

/// Family and name.
using NftTableName = std::pair<std::string, std::string>;
/// What `/nft/table/<family>/<name>` reads, by table.
using NftTables = std::map<NftTableName, std::string>;

/// Splits what `nft -j list ruleset` printed. Of each object the handle and the numbers of counters are left
/// out, so that the same table made again, or having seen packets, reads the same.
Result<NftTables> SplitByTable(std::string_view listing);

/// What to hand to `nft -j -f -` for a value set on one table:
/// - `{"nftables":[…]}`, commands, as it is;
/// - `[…]`, objects as Get answers them: the table is replaced by exactly these, in one transaction.
/// InvalidArgument when any command touches another table, or the ruleset as a whole: one path is one table.
Result<std::string> Transaction(std::string_view value, const NftTableName& table);

/// What `nft -j list ruleset` would print after Set(`value`) on one table, given what it prints now: the
/// commands applied to objects, for machines that are not there. Handles are those of `listing`. The order of
/// rules is that of add and insert; nothing is checked as the kernel would.
Result<std::string> ApplyInMemory(std::string_view listing, std::string_view value,
                                  const NftTableName& table);

/// The transaction that deletes a table.
std::string DeleteTable(const NftTableName& table);

}  // namespace railwright::machine
