// descriptors: how many files and sockets the process may have open. Every agent's stream costs one.
#pragma once

#include <sys/resource.h>

#include <string>

namespace railwright {

/// What the controller needs beside one descriptor for each node: store and write-ahead log, gRPC's own,
/// operators, and room for agents that dial again before their old stream has ended.
inline constexpr rlim_t kDescriptorsBesideNodes = 200;

/// Raises the soft limit (1,024 where nobody said otherwise) to the hard one; what holds then.
rlimit RaiseDescriptorLimit();

/// Why `limit` is too low for that many nodes, which limit it is and how to raise it; "" when it is high
/// enough.
std::string DescriptorShortage(std::size_t nodes, const rlimit& limit);

}  // namespace railwright
