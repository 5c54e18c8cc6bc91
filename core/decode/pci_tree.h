// The PCI functions of a machine and how they hang together, as Machine tells them (`/pci`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// One function.
struct PciFunction {
  std::string bdf;     ///< "0000:18:00.0"
  std::string class_;  ///< six hexadecimal digits: "020000" is an Ethernet controller
  std::string id;      ///< "15b3:1021", vendor and device
  std::string driver;  ///< "mlx5_core"; "" when none is bound
  /// The way from the host bridge to it, itself last: {"pci0000:15", "0000:15:01.0", …, "0000:18:00.0"}.
  std::vector<std::string> path;

  /// A GPU: a display or 3D controller of NVIDIA (class 0x0300 or 0x0302 of vendor 0x10de).
  bool IsGpu() const;
  bool IsBridge() const { return class_.starts_with("0604"); }
};

/// Where two functions meet.
enum class PciNearness {
  kSameSwitch,      ///< below one bridge: traffic between them need not reach the root complex
  kSameHostBridge,  ///< below one host bridge, by different root ports
  kApart,           ///< below different host bridges
};

class PciTree {
 public:
  /// One function a line: `pci0000:15/0000:15:01.0 class=060400 id=8086:352a driver=pcieport`.
  /// InvalidArgument names the line.
  static Result<PciTree> Parse(std::string_view text);
  static std::string LineOf(const PciFunction& function);

  const std::vector<PciFunction>& functions() const { return functions_; }
  /// nullptr when there is none.
  const PciFunction* Find(std::string_view bdf) const;

 private:
  std::vector<PciFunction> functions_;
};

/// How many components the two ways have in common; the functions themselves do not count.
std::size_t CommonPath(const PciFunction& a, const PciFunction& b);
PciNearness NearnessOf(const PciFunction& a, const PciFunction& b);

/// "0000:18:00.0": domain, bus, device, function in lower-case hexadecimal as sysfs spells them.
bool IsBdf(std::string_view text);

}  // namespace railwright
