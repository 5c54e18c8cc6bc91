// What ufw does to a class of packets, told from `ufw status`.
#pragma once

#include "core/decode/ufw_status.h"
#include "core/diagnose/firewall.h"

namespace railwright {

/// As JudgeFirewall, over ufw's rules: the first that fits decides, then the default. The answer speaks only
/// of ufw; other tables may still drop. Obstacles carry the line of the listing as their handle, table "ufw".
/// An application profile that is not among those of Debian's and Ubuntu's packages makes the answer
/// CannotTell where it would decide.
FirewallAnswer JudgeUfw(const UfwStatus& status, const PacketClass& packets);

}  // namespace railwright
