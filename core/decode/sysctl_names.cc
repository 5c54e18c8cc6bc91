#include "core/decode/sysctl_names.h"

#include <algorithm>
#include <array>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::uint64_t kInt = 0x7fffffff;
constexpr std::uint64_t kLong = 0x7fffffffffffffff;

// Sources: Documentation/networking/ip-sysctl.rst, Documentation/admin-guide/sysctl/{net,kernel,vm}.rst
// of 6.12; arp_ignore's values 4…7 are reserved there but accepted by the kernel.
constexpr std::array kKnown{
    KnownSysctl{"kernel/numa_balancing", 1, 0, 3},
    KnownSysctl{"kernel/panic", 1, 0, kInt},
    KnownSysctl{"net/core/busy_poll", 1, 0, kInt},
    KnownSysctl{"net/core/busy_read", 1, 0, kInt},
    KnownSysctl{"net/core/netdev_budget", 1, 1, kInt},
    KnownSysctl{"net/core/netdev_budget_usecs", 1, 1, kInt},
    KnownSysctl{"net/core/netdev_max_backlog", 1, 1, kInt},
    KnownSysctl{"net/core/optmem_max", 1, 0, kInt},
    KnownSysctl{"net/core/rmem_default", 1, 2304, kInt},
    KnownSysctl{"net/core/rmem_max", 1, 2304, kInt},
    KnownSysctl{"net/core/somaxconn", 1, 1, kInt},
    KnownSysctl{"net/core/wmem_default", 1, 4608, kInt},
    KnownSysctl{"net/core/wmem_max", 1, 4608, kInt},
    KnownSysctl{"net/ipv4/conf/*/accept_local", 1, 0, 1, Combination::kOr},
    KnownSysctl{"net/ipv4/conf/*/arp_announce", 1, 0, 2, Combination::kMax},
    KnownSysctl{"net/ipv4/conf/*/arp_filter", 1, 0, 1, Combination::kOr},
    KnownSysctl{"net/ipv4/conf/*/arp_ignore", 1, 0, 8, Combination::kMax},
    KnownSysctl{"net/ipv4/conf/*/rp_filter", 1, 0, 2, Combination::kMax},
    KnownSysctl{"net/ipv4/ip_local_port_range", 2, 1, 65535},
    KnownSysctl{"net/ipv4/neigh/*/gc_stale_time", 1, 0, kInt},
    KnownSysctl{"net/ipv4/neigh/default/gc_thresh1", 1, 0, kInt},
    KnownSysctl{"net/ipv4/neigh/default/gc_thresh2", 1, 0, kInt},
    KnownSysctl{"net/ipv4/neigh/default/gc_thresh3", 1, 0, kInt},
    KnownSysctl{"net/ipv4/tcp_low_latency", 1, 0, 1},
    KnownSysctl{"net/ipv4/tcp_max_syn_backlog", 1, 1, kInt},
    KnownSysctl{"net/ipv4/tcp_mem", 3, 0, kLong},
    KnownSysctl{"net/ipv4/tcp_mtu_probing", 1, 0, 2},
    KnownSysctl{"net/ipv4/tcp_rmem", 3, 1, kInt},
    KnownSysctl{"net/ipv4/tcp_sack", 1, 0, 1},
    KnownSysctl{"net/ipv4/tcp_timestamps", 1, 0, 2},
    KnownSysctl{"net/ipv4/tcp_window_scaling", 1, 0, 1},
    KnownSysctl{"net/ipv4/tcp_wmem", 3, 1, kInt},
    KnownSysctl{"net/ipv4/udp_mem", 3, 0, kLong},
    KnownSysctl{"net/ipv6/conf/*/accept_dad", 1, 0, 2},
    KnownSysctl{"net/ipv6/conf/*/accept_ra", 1, 0, 2},
    KnownSysctl{"net/ipv6/conf/*/addr_gen_mode", 1, 0, 3},
    KnownSysctl{"net/ipv6/conf/*/autoconf", 1, 0, 1},
    KnownSysctl{"net/ipv6/conf/*/disable_ipv6", 1, 0, 1},
    KnownSysctl{"net/ipv6/conf/*/keep_addr_on_down", 1, 0, 1},
    KnownSysctl{"net/ipv6/neigh/*/gc_stale_time", 1, 0, kInt},
    KnownSysctl{"net/ipv6/neigh/default/gc_thresh1", 1, 0, kInt},
    KnownSysctl{"net/ipv6/neigh/default/gc_thresh2", 1, 0, kInt},
    KnownSysctl{"net/ipv6/neigh/default/gc_thresh3", 1, 0, kInt},
    KnownSysctl{"vm/dirty_background_ratio", 1, 0, 100},
    KnownSysctl{"vm/dirty_ratio", 1, 0, 100},
    KnownSysctl{"vm/max_map_count", 1, 0, kInt},
    KnownSysctl{"vm/min_free_kbytes", 1, 0, kInt},
    KnownSysctl{"vm/nr_hugepages", 1, 0, kInt},
    KnownSysctl{"vm/overcommit_memory", 1, 0, 2},
    KnownSysctl{"vm/swappiness", 1, 0, 200},
    KnownSysctl{"vm/zone_reclaim_mode", 1, 0, 7},
};

// "net" "ipv4" "conf": the next component is an interface, and the one after it the key.
bool HasInterface(const std::vector<std::string>& components) {
  return components.size() >= 5 && components[0] == "net" &&
         (components[1] == "ipv4" || components[1] == "ipv6") &&
         (components[2] == "conf" || components[2] == "neigh");
}

Status Refuse(std::string_view text, std::string_view why) {
  return Status(Code::kInvalidArgument, "sysctl name " + Quoted(text) + " " + std::string(why));
}

// Whether one typing error lies between the two: the optimal string alignment distance is 1.
bool OneTypoApart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a == b || b.size() - a.size() > 1) return false;
  std::size_t at = 0;
  while (at < a.size() && a[at] == b[at]) ++at;
  if (a.size() != b.size()) return a.substr(at) == b.substr(at + 1);
  if (a.substr(at + 1) == b.substr(at + 1)) return true;
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] &&
         a.substr(at + 2) == b.substr(at + 2);
}

}  // namespace

Result<SysctlName> SysctlName::Parse(std::string_view text) { return ParseWith(text, false); }
Result<SysctlName> SysctlName::ParsePattern(std::string_view text) { return ParseWith(text, true); }

Result<SysctlName> SysctlName::ParseWith(std::string_view text, bool pattern) {
  constexpr std::size_t kLongest = 256;
  if (text.empty() || text.size() > kLongest) return Refuse(text, "must have 1…256 characters");
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("._-/:{}").find(c) != std::string_view::npos || (pattern && c == '*');
    if (!plain) return Refuse(text, "holds a character that no sysctl has");
  }
  const auto first = text.find_first_of("./");
  const char separator = first == std::string_view::npos ? '.' : text[first];
  const char inner = separator == '.' ? '/' : '.';
  SysctlName name;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto end = std::min(text.find(separator, at), text.size());
    std::string component(text.substr(at, end - at));
    // With slashes between components a dot already is a dot.
    if (separator == '.') std::replace(component.begin(), component.end(), inner, '.');
    if (component.empty()) return Refuse(text, "has an empty component");
    if (component == "." || component == "..") return Refuse(text, "has a component that is no name");
    if (component.find_first_of("{}") != std::string::npos && component != kNetdevComponent)
      return Refuse(text, "may hold braces only as {netdev}");
    name.components.push_back(std::move(component));
    at = end + 1;
  }
  if (name.components.size() < 2) return Refuse(text, "needs at least two components, as vm.swappiness");
  // "conf.eth0.100.arp_ignore": no key below conf or neigh has a dot, so what is between is the interface.
  if (HasInterface(name.components) && name.components.size() > 5) {
    if (separator == '/') return Refuse(text, "has more than an interface and a key below conf or neigh");
    auto& parts = name.components;
    for (std::size_t i = 4; i + 1 < parts.size(); ++i) parts[3] += "." + parts[i];
    parts = {parts[0], parts[1], parts[2], parts[3], parts.back()};
  }
  const auto braces = std::find(name.components.begin(), name.components.end(), kNetdevComponent);
  if (braces != name.components.end() && name.Interface() != kNetdevComponent)
    return Refuse(text,
                  "may hold {netdev} only where an interface stands, as net.ipv4.conf.{netdev}.rp_filter");
  return name;
}

std::string SysctlName::Text() const {
  std::string text;
  for (std::string component : components) {
    std::replace(component.begin(), component.end(), '.', '/');
    if (!text.empty()) text += '.';
    text += component;
  }
  return text;
}

std::string SysctlName::Slashed() const { return Joined(components, "/"); }

std::string_view SysctlName::Interface() const {
  return HasInterface(components) && components.size() == 5 ? std::string_view(components[3])
                                                            : std::string_view();
}

SysctlName SysctlName::For(std::string_view netdev) const {
  SysctlName other = *this;
  if (!Interface().empty()) other.components[3] = netdev;
  return other;
}

const KnownSysctl* FindKnownSysctl(const SysctlName& name) {
  const std::string slashed = name.Slashed();
  for (const auto& known : kKnown)
    if (FitsPattern(known.name, slashed)) return &known;
  return nullptr;
}

std::vector<std::string> KnownSysctlParams() {
  std::vector<std::string> params;
  for (const auto& known : kKnown) {
    const std::string name(known.name);
    const auto star = name.find('*');
    const std::vector<std::string> interfaces =
        star == std::string::npos
            ? std::vector<std::string>{""}
            : std::vector<std::string>{name.find("/neigh/") == std::string::npos ? "all" : "default",
                                       std::string(kNetdevComponent)};
    for (const auto& netdev : interfaces) {
      std::string one = name;
      if (star != std::string::npos) one.replace(star, 1, netdev);
      if (const auto parsed = SysctlName::Parse(one); parsed.ok()) params.push_back(parsed->Text());
    }
  }
  return params;
}

std::string MistypedSysctl(const SysctlName& name) {
  const std::string_view netdev = name.Interface();
  const std::string slashed = netdev.empty() ? name.Slashed() : name.For("*").Slashed();
  for (const auto& known : kKnown) {
    if (!OneTypoApart(slashed, known.name)) continue;
    std::string meant(known.name);
    if (const auto star = meant.find('*'); star != std::string::npos && !netdev.empty())
      meant.replace(star, 1, netdev);
    return SysctlName::Parse(meant).ok() ? SysctlName::Parse(meant)->Text() : meant;
  }
  return {};
}

Result<std::string> CanonicalSysctlValue(const KnownSysctl* known, std::string_view value) {
  constexpr std::size_t kLongest = 4096;
  if (value.size() > kLongest)
    return Status(Code::kInvalidArgument, Quoted(value) + " is longer than 4096 characters");
  std::string canonical;
  std::uint64_t before = 0;
  // A list in a document arrives with commas between its items; known names take numbers only.
  const auto words = Words(value, known == nullptr ? " \t\r\n" : " \t\r\n,");
  for (const std::string_view word : words) {
    if (known != nullptr) {
      RW_ASSIGN_OR_RETURN(const std::uint64_t number, ParseWhole(word, known->min, known->max));
      // All of several numbers are thresholds or ends of a range, the lower first.
      if (number < before)
        return Status(Code::kInvalidArgument, Quoted(value) + ": the numbers must not descend");
      before = number;
    } else if (std::any_of(word.begin(), word.end(), [](char c) {
                 return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e;
               })) {
      return Status(Code::kInvalidArgument, Quoted(value) + " holds a character that is not printable ASCII");
    }
    if (!canonical.empty()) canonical += ' ';
    canonical += word;
  }
  if (known != nullptr && words.size() != known->numbers)
    return Status(Code::kInvalidArgument, Quoted(value) + " holds " + std::to_string(words.size()) +
                                              " numbers; allowed: " + std::to_string(known->numbers) +
                                              ", each " + std::to_string(known->min) + "…" +
                                              std::to_string(known->max));
  if (canonical.empty()) return Status(Code::kInvalidArgument, "an empty value; a sysctl always has one");
  return canonical;
}

}  // namespace railwright
