// The floor: the same files and messages that a scan reads, read by the plainest code that gives an answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace railwright::bench {

/// One read of everything behind the Machine paths given: open, read, close for a file; one request and its
/// answer on an open socket for netlink. Keeps nothing between calls but the sockets.
class RawReads {
 public:
  explicit RawReads(const std::vector<std::string>& machine_paths);
  ~RawReads();
  RawReads(const RawReads&) = delete;
  RawReads& operator=(const RawReads&) = delete;

  /// Does it once; the sum of bytes, so that nothing is optimised away.
  std::uint64_t Run();
  std::size_t files() const { return files_.size(); }
  std::size_t messages() const { return messages_.size(); }
  /// Paths that it does not know how to read raw; must be empty for an honest ratio.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  enum class Kind {
    kLink,
    kAddrDump,
    kRouteDump4,
    kRouteDump6,
    kRuleDump4,
    kRuleDump6,
    kNftGeneration,
    kEthtool
  };
  struct Message {
    Kind kind;
    int ifindex = 0;
    int command = 0;  // ethtool
  };
  std::uint64_t Send(const Message& message);

  std::vector<std::string> files_;
  std::vector<Message> messages_;
  std::vector<std::string> unknown_;
  int rtnl_ = -1, netfilter_ = -1, generic_ = -1;
  int ethtool_family_ = 0;
  std::vector<char> buffer_;
};

}  // namespace railwright::bench
