#include "agent/probes/echo_probe.h"

#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "core/files/descriptor.h"
#include "railwright/result.h"

namespace railwright {
namespace {

constexpr std::size_t kNonce = 16;
constexpr std::size_t kHeader = 8;  // of an echo, both families: type, code, checksum, identifier, sequence
constexpr std::size_t kMostAddresses = 16;

using Nonce = std::array<std::uint8_t, kNonce>;

struct Peer {
  std::string text;
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};
};

bool Parse(const std::string& text, Peer& peer) {
  peer.text = text;
  peer.v6 = text.find(':') != std::string::npos;
  return ::inet_pton(peer.v6 ? AF_INET6 : AF_INET, text.c_str(), peer.bytes.data()) == 1;
}

class EchoProbe final : public PeerProbe {
 public:
  void Ask(const std::string& netdev, const std::vector<std::string>& addresses) override {
    Question& question = questions_[netdev];
    question = Question();
    if (::getrandom(question.nonce.data(), kNonce, 0) != static_cast<ssize_t>(kNonce)) return;
    for (const std::string& address : addresses) {
      Peer peer;
      if (question.peers.size() == kMostAddresses || !Parse(address, peer)) continue;
      Descriptor& socket = peer.v6 ? question.six : question.four;
      if (!socket) socket = Open(netdev, peer.v6, question);
      if (socket) Send(socket.get(), peer, question);
      question.peers.push_back(std::move(peer));
    }
  }

  std::vector<std::string> Answered(const std::string& netdev) override {
    const auto found = questions_.find(netdev);
    if (found == questions_.end()) return {};
    Question& question = found->second;
    if (question.four) Receive(question, false);
    if (question.six) Receive(question, true);
    return question.answered;
  }

  std::string Obstacle(const std::string& netdev) const override {
    const auto found = questions_.find(netdev);
    // One family that cannot be asked, as without IPv6, is no obstacle to the other.
    if (found == questions_.end() || found->second.four || found->second.six) return {};
    return found->second.obstacle;
  }

 private:
  struct Question {
    Nonce nonce{};
    std::vector<Peer> peers;
    std::vector<std::string> answered;
    std::string obstacle;
    Descriptor four, six;
  };

  // A socket of no use (-1) makes its peers silent.
  static Descriptor Open(const std::string& netdev, bool v6, Question& question) {
    const int family = v6 ? AF_INET6 : AF_INET;
    const int protocol = v6 ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
    Descriptor socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
    if (!socket && (errno == EACCES || errno == EPERM)) {
      question.obstacle = "the kernel lets no echo out for group " + std::to_string(::getegid()) +
                          ": sysctl net.ipv4.ping_group_range=\"0 2147483647\" does";
    } else if (!socket) {
      question.obstacle = "no socket for an echo: " + FromErrno(errno, "socket").message();
    } else if (::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, netdev.c_str(),
                            static_cast<socklen_t>(netdev.size())) != 0) {
      question.obstacle = FromErrno(errno, "no echo can be bound to " + netdev).message();
      return Descriptor();
    }
    return socket;
  }

  static void Send(int fd, const Peer& peer, const Question& question) {
    // Identifier and checksum are the kernel's to fill in.
    std::array<std::uint8_t, kHeader + kNonce> packet{};
    packet[0] = peer.v6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
    std::copy(question.nonce.begin(), question.nonce.end(), packet.begin() + kHeader);
    sockaddr_storage to{};
    socklen_t length = 0;
    if (peer.v6) {
      auto& six = reinterpret_cast<sockaddr_in6&>(to);
      six.sin6_family = AF_INET6;
      std::memcpy(&six.sin6_addr, peer.bytes.data(), sizeof six.sin6_addr);
      length = sizeof six;
    } else {
      auto& four = reinterpret_cast<sockaddr_in&>(to);
      four.sin_family = AF_INET;
      std::memcpy(&four.sin_addr, peer.bytes.data(), sizeof four.sin_addr);
      length = sizeof four;
    }
    // What cannot be sent (no route, no neighbour) is not answered.
    [[maybe_unused]] const ssize_t sent = ::sendto(fd, packet.data(), packet.size(), MSG_DONTWAIT,
                                                   reinterpret_cast<const sockaddr*>(&to), length);
  }

  static void Receive(Question& question, bool v6) {
    const int fd = v6 ? question.six.get() : question.four.get();
    std::array<std::uint8_t, 2048> buffer;
    // Bounded; the rest is there at the next call.
    for (int packets = 0; packets < 256; ++packets) {
      sockaddr_storage from{};
      socklen_t length = sizeof from;
      const ssize_t got = ::recvfrom(fd, buffer.data(), buffer.size(), MSG_DONTWAIT,
                                     reinterpret_cast<sockaddr*>(&from), &length);
      if (got < 0) return;
      const std::span<const std::uint8_t> packet(buffer.data(), static_cast<std::size_t>(got));
      if (packet.size() < kHeader + kNonce || packet[0] != (v6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) ||
          !std::equal(question.nonce.begin(), question.nonce.end(), packet.begin() + kHeader))
        continue;
      for (const Peer& peer : question.peers) {
        const void* address = v6 ? static_cast<const void*>(&reinterpret_cast<sockaddr_in6&>(from).sin6_addr)
                                 : static_cast<const void*>(&reinterpret_cast<sockaddr_in&>(from).sin_addr);
        if (peer.v6 != v6 || std::memcmp(address, peer.bytes.data(), v6 ? 16 : 4) != 0) continue;
        if (std::find(question.answered.begin(), question.answered.end(), peer.text) ==
            question.answered.end())
          question.answered.push_back(peer.text);
      }
    }
  }

  std::map<std::string, Question> questions_;
};

}  // namespace

std::unique_ptr<PeerProbe> MakeEchoProbe() { return std::make_unique<EchoProbe>(); }

}  // namespace railwright
