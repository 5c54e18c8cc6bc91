#include "agent/reconcile/try_evidence.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/text.h"

namespace railwright {
namespace {

// A table of GIDs has 16 to 256 places; what the kernel makes for a port's own addresses stands first.
constexpr int kGidsLookedAt = 64;
constexpr std::string_view kNoGid = "0000:0000:0000:0000:0000:0000:0000:0000";

// Mbit/s; 0 when the driver does not tell (a virtual interface, or a link that is down answers EINVAL or -1).
std::uint64_t SpeedOf(const Machine& machine, const std::string& netdev) {
  const std::string text = machine.Get("/sys/class/net/" + netdev + "/speed").value_or({});
  std::uint64_t speed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  constexpr std::uint64_t kUnknown = UINT32_MAX;  // SPEED_UNKNOWN, as some drivers print it
  return error == std::errc() && end == text.data() + text.size() && speed != kUnknown ? speed : 0;
}

std::vector<std::string> GidsOf(const Machine& machine, const std::string& ibdev) {
  std::vector<std::string> gids;
  if (ibdev.empty()) return gids;
  const std::string ports = "/sys/class/infiniband/" + ibdev + "/ports";
  for (const std::string& number : machine.List(ports).value_or({})) {
    const std::string table = ports + "/" + number + "/gids";
    for (int place = 0; place < kGidsLookedAt; ++place) {
      const auto gid = machine.Get(table + "/" + std::to_string(place));
      if (!gid.ok() && gid.status().code() == Code::kNotFound)
        break;  // the end; an unset place answers EINVAL
      if (gid.ok() && !gid->empty() && *gid != kNoGid) gids.push_back(*gid);
    }
  }
  std::sort(gids.begin(), gids.end());
  gids.erase(std::unique(gids.begin(), gids.end()), gids.end());
  return gids;
}

// "0000:0000:0000:0000:0000:ffff:0a0a:0001" → "10.10.0.1"; "" when it is no IPv4 address's.
std::string Ipv4Of(const std::string& gid) {
  constexpr std::string_view kMapped = "0000:0000:0000:0000:0000:ffff:";
  unsigned high = 0, low = 0;
  if (!gid.starts_with(kMapped) ||
      std::sscanf(gid.c_str() + kMapped.size(), "%4x:%4x", &high, &low) != 2)  // NOLINT(cert-err34-c)
    return {};
  return std::to_string(high >> 8) + "." + std::to_string(high & 0xff) + "." + std::to_string(low >> 8) +
         "." + std::to_string(low & 0xff);
}

// Whether `text` names `address` as a whole: "10.0.0.1/24,…" names 10.0.0.1 and not 10.0.0.
bool Names(std::string_view text, const std::string& address) {
  for (auto at = text.find(address); at != std::string_view::npos; at = text.find(address, at + 1)) {
    const auto part = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ':'; };
    const auto after = at + address.size();
    if ((at == 0 || !part(text[at - 1])) && (after == text.size() || !part(text[after]))) return true;
  }
  return false;
}

std::string AddressesPath(const BoundPort& port) { return "/rtnl/addr/" + port.netdev; }
std::string RoutesPath(const BoundPort& port) { return "/rtnl/route/main/" + port.netdev; }

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Status AddMissing(Machine& machine, const std::string& path, const std::string& before) {
  if (before.empty()) return Ok();
  RW_ASSIGN_OR_RETURN(const std::string present, machine.Get(path));
  std::vector<std::string> lines = LinesOf(present);
  const std::size_t there = lines.size();
  for (const std::string& line : LinesOf(before))
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  if (lines.size() == there) return Ok();
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
  return machine.Set(path, all);
}

// IPv6 texts differ from a GID's: every group of four digits, nothing left out. Those of an address that goes
// are told apart by what no step still names: the text of a step that takes any IPv6 address away excuses all
// global ones.
bool GoesOnPurpose(const std::string& gid, const std::vector<OpenTry::Step>& steps) {
  const std::string address = Ipv4Of(gid);
  const bool link_local = gid.starts_with("fe80:");
  return std::any_of(steps.begin(), steps.end(), [&](const OpenTry::Step& step) {
    if (!address.empty()) return Names(step.before, address) && !Names(step.to, address);
    return !link_local && step.before.find("::") != std::string::npos && step.before != step.to;
  });
}

}  // namespace

OpenTry::Evidence EvidenceOf(const Machine& machine, const BoundPort& port) {
  OpenTry::Evidence evidence;
  evidence.port = port.port.name;
  evidence.link = LinkIsUp(machine, port);
  evidence.speed = evidence.link ? SpeedOf(machine, port.netdev) : 0;
  evidence.gids = GidsOf(machine, port.ibdev);
  evidence.addresses = machine.Get(AddressesPath(port)).value_or({});
  evidence.routes = machine.Get(RoutesPath(port)).value_or({});
  return evidence;
}

Missing MissingOf(const Machine& machine, const OpenTry::Evidence& evidence, const BoundPort* port,
                  const std::vector<OpenTry::Step>& steps) {
  Missing missing;
  if (port == nullptr || port->netdev.empty()) {
    missing.link = evidence.link;
    missing.words.push_back("port " + evidence.port + " is not there");
    return missing;
  }
  if (evidence.link && !LinkIsUp(machine, *port)) {
    missing.link = true;
    missing.words.push_back("the link of " + port->netdev + " is down");
    return missing;
  }
  const std::uint64_t speed = evidence.speed == 0 ? 0 : SpeedOf(machine, port->netdev);
  if (speed < evidence.speed)
    missing.words.push_back(port->netdev + " runs at " + std::to_string(speed) + " Mbit/s, before at " +
                            std::to_string(evidence.speed));
  const std::vector<std::string> routes = evidence.routes.empty()
                                              ? std::vector<std::string>()
                                              : LinesOf(machine.Get(RoutesPath(*port)).value_or({}));
  for (const std::string& route : LinesOf(evidence.routes))
    if (std::find(routes.begin(), routes.end(), route) == routes.end())
      missing.words.push_back("route " + OneLine(route) + " is gone");
  if (evidence.gids.empty()) return missing;
  const std::vector<std::string> now = GidsOf(machine, port->ibdev);
  for (const std::string& gid : evidence.gids)
    if (!std::binary_search(now.begin(), now.end(), gid) && !GoesOnPurpose(gid, steps))
      missing.words.push_back("GID " + OneLine(gid, 64) + " of " + port->netdev + " is gone");
  return missing;
}

Status PutBackRoutes(Machine& machine, const OpenTry::Evidence& evidence, const BoundPort& port) {
  return AddMissing(machine, RoutesPath(port), evidence.routes);
}

Status PutBackAround(Machine& machine, const OpenTry::Evidence& evidence, const BoundPort& port) {
  // Addresses first: a route needs the network of its gateway.
  RW_RETURN_IF_ERROR(AddMissing(machine, AddressesPath(port), evidence.addresses));
  return PutBackRoutes(machine, evidence, port);
}

}  // namespace railwright
