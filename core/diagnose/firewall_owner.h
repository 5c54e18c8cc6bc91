// Who keeps a firewall rule, told from the names that programs give their tables and chains, and how to ask
// for an exception in that program's own words.
#pragma once

#include <string>

#include "core/diagnose/firewall.h"

namespace railwright {

/// "firewalld", "ufw", "docker" …; "" when the names tell nothing.
std::string FirewallOwner(const Obstacle& obstacle);

/// The next step for an operator: a command that lets `packets` of one interface pass before the obstacle, or
/// a sentence. `peers` is the text of their addresses, one prefix.
std::string FirewallFix(const Obstacle& obstacle, const PacketClass& packets, const std::string& interface,
                        const std::string& peers);

}  // namespace railwright
