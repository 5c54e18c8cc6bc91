// Which PCI bridges redirect the traffic between a network card and a GPU, as words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/decode/pci_tree.h"
#include "railwright/result.h"

namespace railwright {

/// What a bridge redirects: "rr", "cr", "ec" (P2P request, completion redirect, egress control; the three
/// that the kernel's p2pdma tests), in that order; none: traffic between devices goes the direct way.
using AcsRedirects = std::vector<std::string>;

/// Bridges by PCI address, `0000:15:01.0=rr+cr 0000:17:01.0=direct`, or `none` when no bridge can redirect.
struct AcsState {
  std::map<std::string, AcsRedirects> bridges;

  static Result<AcsState> Parse(std::string_view text);
  std::string Text() const;
  bool Direct() const;
};

/// A bridge on the way of a card.
struct AcsBridge {
  std::string bdf;
  /// The peers, of which traffic with the card turns round at this bridge. There a redirect takes effect; at
  /// others the traffic goes up anyway, but the kernel's p2pdma refuses the way all the same.
  std::vector<std::string> turns_round_for;
};

/// The bridges between `card` and its peers, sorted by address. With `peers` empty: every bridge above it.
/// Else those of both ways below the bridge, or host bridge, that card and peer have in common.
std::vector<AcsBridge> BridgesBetween(const PciTree& tree, const PciFunction& card,
                                      const std::vector<const PciFunction*>& peers);

/// GPUs that share a switch or root port with `card`; without any, those below the same host bridge. Farther
/// ones are no peers: their traffic crosses the root complex whatever the bridges do.
std::vector<const PciFunction*> GpusNear(const PciTree& tree, const PciFunction& card);

/// A function below `bridge` that is bound to vfio-pci, or nullptr: a virtual machine relies on its
/// isolation.
const PciFunction* PassedThroughBelow(const PciTree& tree, std::string_view bridge);

}  // namespace railwright
