// What iptables' own matches and targets do, as far as nft shows them: by name only. Private to the walk.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/decode/nft_ruleset.h"
#include "core/decode/rdma_ports.h"

namespace railwright {

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> list);

// What a statement that nft shows only as an iptables extension does.
enum class Extension : std::uint8_t {
  kAlways,    // a match that always holds
  kNever,     // a match of another protocol
  kAmount,    // a match that depends on the amount of traffic, or on chance
  kUnclear,   // a match whose arguments are not shown
  kNoEffect,  // a target after which the packet goes on
  kMark,      // a target that sets a mark that is not shown
  kTracking,  // a target that may exempt from tracking
  kDrop,
  kAccept,   // rewrites the source, and lets pass
  kRewrite,  // sends the packet elsewhere
  kAnything,
};

/// `detail` as nft::Statement has it: "match multiport", "target REJECT", or "" when not even that is shown.
Extension ExtensionOf(const std::string& detail, PortProtocol protocol);

/// Whether packets could fare differently for this statement, conditions aside.
bool HasEffect(const nft::Statement& statement, PortProtocol protocol);

}  // namespace railwright
