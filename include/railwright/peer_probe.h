// PeerProbe: whether a neighbour on the same rail answers.
#pragma once

#include <string>
#include <vector>

namespace railwright {

/// Asks by an echo, and never blocks: an answer is there at a later call. One thread uses it. An interface,
/// since the process that asks need not be the one that has the sockets.
class PeerProbe {
 public:
  virtual ~PeerProbe() = default;
  /// Asks each of `addresses` (IPv4 or IPv6, without a prefix length), through `netdev` and no other way.
  /// What had answered through it before is forgotten. What cannot be asked does not answer.
  virtual void Ask(const std::string& netdev, const std::vector<std::string>& addresses) = 0;
  /// Those that have answered since Ask.
  virtual std::vector<std::string> Answered(const std::string& netdev) = 0;
  /// Why nobody can be asked through it, with what to do about it; empty when that is not so, or not known
  /// yet.
  virtual std::string Obstacle(const std::string& netdev) const = 0;
};

}  // namespace railwright
