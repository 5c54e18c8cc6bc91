#include "controller/fleet/ports.h"

#include <algorithm>
#include <set>

namespace railwright::fleet {

namespace {

using v1::PortDecl;

// "0000:18:00.0" in lower case; the domain may be left out. "" when it is none.
std::string CanonicalPci(std::string_view text) {
  std::string bdf(text);
  std::transform(bdf.begin(), bdf.end(), bdf.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (bdf.size() == 7) bdf = "0000:" + bdf;
  constexpr std::string_view kShape = "xxxx:xx:xx.o";  // domain:bus:device.function, as the kernel prints it
  if (bdf.size() != kShape.size()) return {};
  for (std::size_t i = 0; i < bdf.size(); ++i) {
    const char c = bdf[i];
    const bool fits = kShape[i] == 'x'   ? (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')
                      : kShape[i] == 'o' ? c >= '0' && c <= '7'
                                         : c == kShape[i];
    if (!fits) return {};
  }
  return bdf;
}

// dev_valid_name of the kernel: 1…15 bytes (IFNAMSIZ), no "/", ":" or white space, not "." or "..".
bool IsNetdev(std::string_view name) {
  return !name.empty() && name.size() <= 15 && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || c == ':' || c <= ' ' || c == 0x7F; });
}

std::vector<std::string_view> SplitCommas(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view part = text.substr(at, comma - at);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    out.push_back(part);
    at = comma + 1;
  }
  return out;
}

}  // namespace

PortBinder::PortBinder(const Document& document, const v1::Cluster& cluster, Complaints& complaints,
                       std::vector<std::string>& warnings)
    : document_(document), cluster_(cluster), complaints_(complaints), warnings_(warnings) {
  for (const PortDecl& decl : cluster.ports()) Compile(decl);
  FindTwins();
}

void PortBinder::Compile(const PortDecl& decl) {
  PortPlan plan;
  plan.decl = &decl;
  plan.role = ParsePortRole(decl.role()).value_or(PortRole::kUnspecified);
  const auto place = [&](int number, std::uint32_t sub = 0) {
    return document_.places.Of(decl.mark(), number, sub);
  };
  if (IsReservedPortName(decl.name()))
    complaints_.At(
        document_, place(PortDecl::kNameFieldNumber),
        "a port cannot be named " + Quoted(decl.name()) + "; profiles use this word to select ports");
  const v1::PortSelect& select = decl.select();
  if (select.pci().empty() == select.netdev().empty()) {
    complaints_.At(document_, select.has_mark() ? select.mark() : decl.mark(),
                   "port " + decl.name() + ": select by either pci or netdev, " +
                       (select.pci().empty() ? "neither" : "not both") + " is given");
  } else if (!select.pci().empty()) {
    plan.pci = CanonicalPci(select.pci());
    if (plan.pci.empty())
      complaints_.At(document_, document_.places.Of(select.mark(), v1::PortSelect::kPciFieldNumber),
                     "port " + decl.name() + ": " + Quoted(select.pci()) +
                         " is no PCI address; write it as lspci -D does: \"0000:18:00.0\"");
  } else {
    plan.netdev = select.netdev();
    if (!IsNetdev(plan.netdev))
      complaints_.At(document_, document_.places.Of(select.mark(), v1::PortSelect::kNetdevFieldNumber),
                     "port " + decl.name() + ": " + Quoted(select.netdev()) +
                         " is no interface name (1 to 15 characters, no blank, \"/\" or \":\")");
  }
  plan.on = CompileSelector(document_, decl.on(), complaints_);
  if (!decl.address().empty()) AddPattern(plan, decl.address(), place(PortDecl::kAddressFieldNumber));
  for (int i = 0; i < decl.addresses_size(); ++i)
    AddPattern(plan, decl.addresses(i), place(PortDecl::kAddressesFieldNumber, Places::Index(i)));
  plan.gateway_place = place(PortDecl::kGatewayFieldNumber);
  if (!decl.gateway().empty())
    for (const std::string_view text : SplitCommas(decl.gateway())) {
      auto pattern = Pattern::Parse(text);
      if (pattern.ok())
        plan.gateways.push_back(std::move(*pattern));
      else
        complaints_.At(document_, plan.gateway_place, "gateway: " + pattern.status().message());
    }
  plans_.push_back(std::move(plan));
}

void PortBinder::AddPattern(PortPlan& plan, const std::string& text, Place place) {
  auto pattern = Pattern::Parse(text);
  if (pattern.ok())
    plan.addresses.emplace_back(std::move(*pattern), place);
  else
    complaints_.At(document_, place, "address: " + pattern.status().message(), static_cast<int>(text.size()));
}

void PortBinder::Tell(Place place, std::string sentence) {
  const auto [told, fresh] = told_.try_emplace({place.line, place.column}, std::move(sentence), 0);
  if (!fresh) ++told->second.second;
}

void PortBinder::Bind(InventoryNode& node, const v1::NodeDecl& decl) {
  std::vector<const PortPlan*> mine;
  for (const PortPlan& plan : plans_)
    if (plan.on.Matches(node)) mine.push_back(&plan);
  for (Twins& twins : twins_)
    if (twins.a->on.Matches(node) && twins.b->on.Matches(node)) twins.nodes.push_back(node.name);
  CheckOverrides(node, decl);
  for (const PortPlan* plan : mine) {
    Port& port = node.ports.emplace_back();
    port.name = plan->decl->name();
    port.role = plan->role;
    port.pci = plan->pci;
    port.netdev = plan->netdev;
    std::vector<Cidr> addresses;
    const auto own = decl.addresses().find(port.name);
    if (own != decl.addresses().end()) {
      const Place place =
          document_.places.Of(decl.mark(), v1::NodeDecl::kAddressesFieldNumber, Places::Key(port.name));
      for (const std::string_view text : SplitCommas(own->second))
        Address(*plan, text, text, place, node, port, addresses);
    } else {
      for (const auto& [pattern, place] : plan->addresses) {
        const auto text = pattern.Expand({node.index, node.name, node.rack, port.name});
        if (text.ok())
          Address(*plan, *text, pattern.text(), place, node, port, addresses);
        else
          Tell(place, "port " + port.name + " of " + node.name + ": " + text.status().message());
      }
    }
    Gateways(*plan, node, port, addresses, own != decl.addresses().end());
  }
}

void PortBinder::Address(const PortPlan& plan, std::string_view text, std::string_view from, Place place,
                         const InventoryNode& node, Port& port, std::vector<Cidr>& addresses) {
  const auto cidr = ParseCidr(text);
  const Status wrong = cidr.ok() ? CheckHost(*cidr) : cidr.status();
  if (!wrong.ok()) {
    std::string sentence = "port " + port.name + " of " + node.name + ": " + wrong.message();
    if (from != text)
      sentence +=
          " (pattern " + Quoted(from) + ", node " + std::to_string(node.index) +
          " of its cluster); make the pattern wider, as in \"10.10.{index/250}.{index%250+1}/16\", or give " +
          "the node addresses of its own";
    return Tell(place, std::move(sentence));
  }
  port.addresses.push_back(cidr->Text());
  addresses.push_back(*cidr);
  given_.push_back({*cidr, &node, plan.decl->name(), plan.role, place});
}

void PortBinder::Gateways(const PortPlan& plan, const InventoryNode& node, Port& port,
                          const std::vector<Cidr>& addresses, bool own_addresses) {
  for (const Pattern& pattern : plan.gateways) {
    const std::string head = "gateway of port " + port.name + " of " + node.name + ": ";
    const auto text = pattern.Expand({node.index, node.name, node.rack, port.name});
    const auto gateway = text.ok() ? ParseAddress(*text) : Result<Cidr>(text.status());
    if (!gateway.ok()) {
      std::string why = gateway.status().message();
      if (text.ok() && text->find('/') != std::string::npos) why += "; write it without a prefix length";
      Tell(plan.gateway_place, head + why);
      continue;
    }
    const auto within =
        std::find_if(addresses.begin(), addresses.end(), [&](const Cidr& a) { return a.Contains(*gateway); });
    if (within == addresses.end()) {
      // A node with addresses of its own in one family only needs no gateway of the other.
      const bool same_family =
          std::any_of(addresses.begin(), addresses.end(), [&](const Cidr& a) { return a.v6 == gateway->v6; });
      if (own_addresses && !same_family) continue;
      Tell(plan.gateway_place,
           head + gateway->Address() + " is in no network of the port" +
               (addresses.empty() ? ", which has no address" : " (" + port.addresses[0] + ")"));
      continue;
    }
    Cidr in_network = *gateway;
    in_network.prefix = within->prefix;
    if (const Status host = CheckHost(in_network); !host.ok())
      Tell(plan.gateway_place, head + host.message());
    else if (in_network == *within)
      Tell(plan.gateway_place, head + gateway->Address() + " is the port's own address");
    else
      port.gateways.push_back(gateway->Address());
  }
}

void PortBinder::FindTwins() {
  for (const PortPlan& b : plans_)
    for (const PortPlan& a : plans_) {
      if (&a == &b) break;
      const bool same_name = a.decl->name() == b.decl->name();
      const bool same_port =
          (!a.pci.empty() && a.pci == b.pci) || (!a.netdev.empty() && a.netdev == b.netdev);
      if (same_name || same_port) twins_.push_back({&a, &b, {}});
    }
}

void PortBinder::CheckOverrides(const InventoryNode& node, const v1::NodeDecl& decl) {
  for (const auto& [name, addresses] : decl.addresses()) {
    std::vector<std::string_view> known;
    bool found = false;
    for (const PortPlan& plan : plans_)
      if (plan.on.Matches(node)) {
        known.push_back(plan.decl->name());
        found = found || known.back() == name;
      }
    if (!found)
      complaints_.At(
          document_, document_.places.Of(decl.mark(), v1::NodeDecl::kAddressesFieldNumber, Places::Key(name)),
          "node " + node.name + " has no port " + Quoted(name) + DidYouMean(name, known, "its ports"));
  }
}

void PortBinder::CheckDoubleAddresses() {
  std::vector<const Given*> sorted;
  sorted.reserve(given_.size());
  for (const Given& given : given_) sorted.push_back(&given);
  const auto order = [](const Given* a, const Given* b) {
    return std::tie(a->address.v6, a->address.bytes) < std::tie(b->address.v6, b->address.bytes);
  };
  std::stable_sort(sorted.begin(), sorted.end(), order);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Given &a = *sorted[i - 1], &b = *sorted[i];
    if (order(&a, &b)) continue;
    const auto at = [](const Given& g) { return "port " + std::string(g.port) + " of " + g.node->name; };
    Tell(b.place, at(a) + " and " + at(b) + " would both have " + b.address.Address() +
                      (a.place == b.place ? "; let the pattern vary with {index} or {n}"
                                          : " (the other at " + PlaceText(document_, a.place) + ")"));
  }
}

std::vector<std::string> PortBinder::Subnets() {
  std::set<Cidr> subnets;
  const bool stated = cluster_.subnets_size() > 0;
  for (int i = 0; i < cluster_.subnets_size(); ++i) {
    const Place place =
        document_.places.Of(cluster_.mark(), v1::Cluster::kSubnetsFieldNumber, Places::Index(i));
    const auto subnet = ParseCidr(cluster_.subnets(i));
    if (!subnet.ok())
      complaints_.At(document_, place, "subnets: " + subnet.status().message());
    else if (subnet->Network() != *subnet)
      complaints_.At(document_, place,
                     "subnets: " + subnet->Text() + " has bits of a host; write " + subnet->Network().Text());
    else if (!subnets.insert(*subnet).second)
      complaints_.At(document_, place, "subnets: " + subnet->Text() + " is given twice");
  }
  std::vector<const Given*> outside;
  for (const Given& given : given_) {
    if (given.role != PortRole::kFabric) continue;
    if (!stated)
      subnets.insert(given.address.Network());
    else if (std::none_of(subnets.begin(), subnets.end(),
                          [&](const Cidr& s) { return s.Contains(given.address); }))
      outside.push_back(&given);
  }
  if (!outside.empty())
    warnings_.push_back("Cluster/" + cluster_.name() + ": " + outside.front()->address.Text() + " (port " +
                        std::string(outside.front()->port) + " of " + outside.front()->node->name +
                        (outside.size() > 1 ? ", and " + std::to_string(outside.size() - 1) + " more" : "") +
                        ") is in none of its subnets; the firewall will not let its peers in");
  std::vector<std::string> out;
  for (const Cidr& subnet : subnets) out.push_back(subnet.Text());
  return out;
}

std::vector<std::string> PortBinder::Finish() {
  for (const auto& [a, b, nodes] : twins_) {
    if (nodes.empty()) continue;
    const bool same_name = a->decl->name() == b->decl->name();
    complaints_.At(document_, b->decl->mark(),
                   (same_name ? "port " + Quoted(b->decl->name()) + " is declared twice"
                              : "ports " + a->decl->name() + " and " + b->decl->name() + " select the same " +
                                    (b->pci.empty() ? "netdev " + b->netdev : "pci " + b->pci)) +
                       " (first at " + PlaceText(document_, PlaceOf(a->decl->mark())) + ") for " +
                       Named(nodes) + (same_name ? "; rename one, or keep them apart with \"on:\"" : ""));
  }
  CheckDoubleAddresses();
  for (auto& [place, told] : told_) {
    auto& [sentence, more] = told;
    if (more > 0) sentence += " (and " + std::to_string(more) + " more like it)";
    complaints_.At(document_, {place.first, place.second}, sentence);
  }
  const bool fabric = std::any_of(plans_.begin(), plans_.end(),
                                  [](const PortPlan& p) { return p.role == PortRole::kFabric; });
  if (!fabric && cluster_.nodes_size() > 0)
    warnings_.push_back("Cluster/" + cluster_.name() +
                        " declares no fabric port; settings of ports have no effect there");
  return Subnets();
}

}  // namespace railwright::fleet
