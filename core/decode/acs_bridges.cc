#include "core/decode/acs_bridges.h"

#include <algorithm>
#include <array>

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::array<std::string_view, 3> kRedirects{"rr", "cr", "ec"};
constexpr std::string_view kDirect = "direct";
constexpr std::string_view kNone = "none";

}  // namespace

Result<AcsState> AcsState::Parse(std::string_view text) {
  AcsState state;
  if (text == kNone) return state;
  RW_ASSIGN_OR_RETURN(const Fields fields, Fields::Parse(text));
  if (fields.empty()) return Status(Code::kInvalidArgument, Quoted(text) + " names no bridge");
  for (const auto& [bdf, value] : fields.all()) {
    if (!IsBdf(bdf)) return Status(Code::kInvalidArgument, Quoted(bdf) + " is no PCI address");
    AcsRedirects& redirects = state.bridges[bdf];
    if (value == kDirect) continue;
    const auto given = Words(value, "+");
    for (const std::string_view name : kRedirects)
      if (std::find(given.begin(), given.end(), name) != given.end()) redirects.emplace_back(name);
    if (given.empty() || Joined(redirects, "+") != value)
      return Status(Code::kInvalidArgument,
                    bdf + "=" + value + "; allowed: direct, or rr, cr, ec in that order with + between them");
  }
  return state;
}

std::string AcsState::Text() const {
  if (bridges.empty()) return std::string(kNone);
  Fields fields;
  for (const auto& [bdf, redirects] : bridges)
    fields.Set(bdf, redirects.empty() ? std::string(kDirect) : Joined(redirects, "+"));
  return fields.Text();
}

bool AcsState::Direct() const {
  return std::all_of(bridges.begin(), bridges.end(), [](const auto& one) { return one.second.empty(); });
}

std::vector<AcsBridge> BridgesBetween(const PciTree& tree, const PciFunction& card,
                                      const std::vector<const PciFunction*>& peers) {
  std::map<std::string, AcsBridge> found;
  const auto add = [&](const PciFunction& end, std::size_t from, const std::string& peer) {
    // The end itself is no bridge; neither is a function that is not there any more.
    for (std::size_t i = from; i + 1 < end.path.size(); ++i) {
      const PciFunction* bridge = tree.Find(end.path[i]);
      if (bridge == nullptr || bridge == &card) continue;
      AcsBridge& one = found[bridge->bdf];
      one.bdf = bridge->bdf;
      if (!peer.empty() && i == from) one.turns_round_for.push_back(peer);
    }
  };
  if (peers.empty()) add(card, 1, "");
  for (const PciFunction* peer : peers) {
    const std::size_t common = CommonPath(card, *peer);
    if (common == 0) continue;
    add(card, common, peer->bdf);
    add(*peer, common, peer->bdf);
  }
  std::vector<AcsBridge> bridges;
  for (auto& [bdf, bridge] : found) bridges.push_back(std::move(bridge));
  return bridges;
}

std::vector<const PciFunction*> GpusNear(const PciTree& tree, const PciFunction& card) {
  for (const PciNearness wanted : {PciNearness::kSameSwitch, PciNearness::kSameHostBridge}) {
    std::vector<const PciFunction*> gpus;
    for (const PciFunction& one : tree.functions())
      if (one.IsGpu() && NearnessOf(card, one) == wanted) gpus.push_back(&one);
    if (!gpus.empty()) return gpus;
  }
  return {};
}

const PciFunction* PassedThroughBelow(const PciTree& tree, std::string_view bridge) {
  for (const PciFunction& one : tree.functions())
    if (one.driver == "vfio-pci" && one.bdf != bridge &&
        std::find(one.path.begin(), one.path.end(), bridge) != one.path.end())
      return &one;
  return nullptr;
}

}  // namespace railwright
