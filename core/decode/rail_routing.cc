#include "core/decode/rail_routing.h"

#include <algorithm>
#include <set>

#include "core/decode/cidr.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

// 0 and 253…255 are the kernel's (unspec, default, main, local); room is left above for 64 ports of a node.
constexpr std::uint32_t kLastTable = 0x7fffff00;
// 32766 is the rule of the main table; a rule behind it is never asked.
constexpr std::uint32_t kLastPriority = 32700;

std::string Items(const std::vector<std::string>& items) {
  return items.empty() ? "none" : Joined(items, ", ");
}

bool IsKernelTable(std::uint64_t table) { return table == 0 || (table >= 253 && table <= 255); }

}  // namespace

Result<RailRoutingWish> RailRoutingWish::Parse(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Status(
        Code::kInvalidArgument,
        Quoted(text) + " " + why +
            "; allowed: per-rail, and table=1…2147483392 priority=1…32700 of the node's first port");
  };
  const auto words = Words(text, " \t,");
  if (words.empty() || words.front() != "per-rail") return refuse("does not begin with per-rail");
  RailRoutingWish wish;
  bool table = false, priority = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (name == "table" && !table) {
      const auto number = ParseWhole(value, 1, kLastTable);
      if (!number.ok() || IsKernelTable(*number))
        return refuse("names no table of its own (253…255 are the kernel's)");
      wish.table = static_cast<std::uint32_t>(*number);
      table = true;
    } else if (name == "priority" && !priority) {
      const auto number = ParseWhole(value, 1, kLastPriority);
      if (!number.ok()) return refuse("names no priority before the main table's");
      wish.priority = static_cast<std::uint32_t>(*number);
      priority = true;
    } else {
      return refuse("holds " + Quoted(word));
    }
  }
  return wish;
}

std::string RailRoutingWish::Text() const {
  const RailRoutingWish plain;
  std::string text = "per-rail";
  if (table != plain.table) text += " table=" + std::to_string(table);
  if (priority != plain.priority) text += " priority=" + std::to_string(priority);
  return text;
}

std::string RailRouting::Text() const {
  return "priority " + std::to_string(priority) + ": " + Items(rules) + "; table " + std::to_string(table) +
         ": " + Items(routes);
}

Result<RailRouting> RailRouting::Parse(std::string_view text) {
  const Status bad(Code::kInvalidArgument, Quoted(text) + " is no routing of a rail");
  RailRouting routing;
  const auto part = [&](std::string_view name, std::uint32_t& number, std::vector<std::string>& items) {
    if (!text.starts_with(name)) return false;
    text.remove_prefix(name.size());
    const auto colon = text.find(": ");
    if (colon == std::string_view::npos) return false;
    const auto value = ParseWhole(text.substr(0, colon), 1, UINT32_MAX);
    if (!value.ok()) return false;
    number = static_cast<std::uint32_t>(*value);
    text.remove_prefix(colon + 2);
    const auto end = std::min(text.find("; "), text.size());
    std::string_view list = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    if (list == "none") return true;
    while (!list.empty()) {
      const auto comma = std::min(list.find(", "), list.size());
      items.emplace_back(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 2, list.size()));
    }
    return !items.empty();
  };
  if (!part("priority ", routing.priority, routing.rules) || !part("table ", routing.table, routing.routes) ||
      !text.empty())
    return bad;
  return routing;
}

Result<RailRouting> RailRouting::For(const RailRoutingWish& wish, int index, const std::string& netdev,
                                     const std::vector<std::string>& addresses,
                                     const std::vector<std::string>& gateways) {
  const auto offset = static_cast<std::uint32_t>(std::max(index, 0));
  RailRouting routing;
  routing.table = wish.table + offset;
  routing.priority = wish.priority + offset;
  if (IsKernelTable(routing.table))
    return Status(Code::kInvalidArgument, "table=" + std::to_string(wish.table) + " gives port number " +
                                              std::to_string(offset) + " table " +
                                              std::to_string(routing.table) +
                                              ", which is the kernel's; choose another table=");
  if (addresses.empty())
    return Status(
        Code::kInvalidArgument,
        "the port has no address, so it has no route of its own; give it one in the Cluster document");
  std::set<std::string> rules, routes;
  std::vector<Cidr> subnets;
  for (const auto& text : addresses) {
    RW_ASSIGN_OR_RETURN(const Cidr address, Cidr::Parse(text));
    rules.insert("from " + address.Address() + " lookup " + std::to_string(routing.table));
    const Cidr subnet = address.Network();
    const bool known = std::find(subnets.begin(), subnets.end(), subnet) != subnets.end();
    subnets.push_back(subnet);
    // A host prefix has no neighbours that a connected route could reach.
    if (known || subnet.length == subnet.longest()) continue;
    std::string route = subnet.Text() + " dev " + netdev;
    // IPv6 routes have no scope, and the source is the rule's already.
    if (!address.v6) route += " scope link src " + address.Address();
    routes.insert(route);
  }
  for (const auto& text : gateways) {
    RW_ASSIGN_OR_RETURN(const Cidr gateway, Cidr::ParseAddress(text));
    const bool reachable = std::any_of(subnets.begin(), subnets.end(),
                                       [&](const Cidr& subnet) { return subnet.Contains(gateway); });
    if (!reachable)
      return Status(Code::kInvalidArgument,
                    "gateway " + text + " lies in no subnet of the port (" + Joined(addresses, ", ") + ")");
    routes.insert("default via " + gateway.Address() + " dev " + netdev);
  }
  routing.rules.assign(rules.begin(), rules.end());
  routing.routes.assign(routes.begin(), routes.end());
  return routing;
}

}  // namespace railwright
