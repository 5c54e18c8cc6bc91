#include "agent/probes/echo_probe.h"

#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace railwright {
namespace {

constexpr std::size_t kNonce = 16;
constexpr std::size_t kHeader = 8;  // of an echo, both families: type, code, checksum, identifier, sequence
constexpr std::size_t kMostAddresses = 16;

using Nonce = std::array<std::uint8_t, kNonce>;

class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// RFC 1071. A ping socket's checksum is made by the kernel, a raw IPv4 socket's is not.
std::uint16_t Checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    sum += static_cast<std::uint32_t>(bytes[i] << 8) + (i + 1 < bytes.size() ? bytes[i + 1] : 0u);
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

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
      Socket& socket = peer.v6 ? question.six : question.four;
      if (socket.get() < 0) socket = Open(netdev, peer.v6, question);
      if (socket.get() >= 0) Send(socket.get(), peer, question);
      question.peers.push_back(std::move(peer));
    }
  }

  std::vector<std::string> Answered(const std::string& netdev) override {
    const auto found = questions_.find(netdev);
    if (found == questions_.end()) return {};
    Question& question = found->second;
    if (question.four.get() >= 0) Receive(question, false);
    if (question.six.get() >= 0) Receive(question, true);
    return question.answered;
  }

 private:
  struct Question {
    Nonce nonce{};
    std::vector<Peer> peers;
    std::vector<std::string> answered;
    Socket four, six;
    bool raw_four = false;
  };

  // A socket of no use (-1) makes its peers silent.
  static Socket Open(const std::string& netdev, bool v6, Question& question) {
    const int family = v6 ? AF_INET6 : AF_INET;
    const int protocol = v6 ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
    constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    Socket socket(::socket(family, SOCK_DGRAM | kFlags, protocol));
    if (socket.get() < 0) {
      socket = Socket(::socket(family, SOCK_RAW | kFlags, protocol));
      if (!v6) question.raw_four = socket.get() >= 0;
    }
    if (socket.get() >= 0 && ::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, netdev.c_str(),
                                          static_cast<socklen_t>(netdev.size())) != 0)
      return Socket();
    return socket;
  }

  static void Send(int fd, const Peer& peer, const Question& question) {
    std::array<std::uint8_t, kHeader + kNonce> packet{};
    packet[0] = peer.v6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
    std::copy(question.nonce.begin(), question.nonce.end(), packet.begin() + kHeader);
    if (!peer.v6) {
      const std::uint16_t sum = Checksum(packet);
      packet[2] = static_cast<std::uint8_t>(sum >> 8);
      packet[3] = static_cast<std::uint8_t>(sum & 0xff);
    }
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
    // A raw socket hears every ICMP packet of the interface: bounded, the rest is there at the next call.
    for (int packets = 0; packets < 256; ++packets) {
      sockaddr_storage from{};
      socklen_t length = sizeof from;
      const ssize_t got = ::recvfrom(fd, buffer.data(), buffer.size(), MSG_DONTWAIT,
                                     reinterpret_cast<sockaddr*>(&from), &length);
      if (got < 0) return;
      std::span<const std::uint8_t> packet(buffer.data(), static_cast<std::size_t>(got));
      if (!v6 && question.raw_four) {  // with its IP header
        if (packet.empty()) continue;
        const std::size_t header = static_cast<std::size_t>(packet[0] & 0x0f) * 4;
        if (header < sizeof(iphdr) || packet.size() < header) continue;
        packet = packet.subspan(header);
      }
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
