// host_names: by which names and addresses this host may be dialled.
#pragma once

#include <vector>

#include "core/identity/server_name.h"

namespace railwright {

/// Its name (gethostname), its global addresses, and last those of loopback; none twice, at most 32. What is
/// no name or address is left out. Asks no resolver.
std::vector<identity::ServerName> HostNames();

}  // namespace railwright
