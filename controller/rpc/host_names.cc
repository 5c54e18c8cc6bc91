#include "controller/rpc/host_names.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

namespace railwright {
namespace {

constexpr std::size_t kNamesMost = 32;  // that a controller's certificate may have

void Add(std::string text, std::vector<identity::ServerName>& names) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  auto name = identity::ServerName::Parse(text);
  if (name.ok() && names.size() < kNamesMost && std::find(names.begin(), names.end(), *name) == names.end())
    names.push_back(std::move(*name));
}

}  // namespace

std::vector<identity::ServerName> HostNames() {
  std::vector<identity::ServerName> names;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) Add(host, names);
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) {
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0)
        continue;
      char text[INET6_ADDRSTRLEN] = "";
      if (one->ifa_addr->sa_family == AF_INET) {
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text, sizeof text);
      } else if (one->ifa_addr->sa_family == AF_INET6) {
        const auto& address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;  // means nothing on another host
        inet_ntop(AF_INET6, &address, text, sizeof text);
      }
      Add(text, names);
    }
  }
  for (const char* loopback : {"localhost", "127.0.0.1", "::1"}) Add(loopback, names);
  return names;
}

}  // namespace railwright
