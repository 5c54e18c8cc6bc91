// Speed and width of a PCI Express link, as sysfs prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

struct PciLink {
  /// In units of 0.1 GT/s, so that 2.5 is whole; none for "Unknown": virtual functions do not tell.
  std::optional<std::uint32_t> speed;
  std::uint32_t width = 0;  ///< lanes; 0: not told, or not trained

  /// "32.0 GT/s PCIe" and "16". InvalidArgument for what is neither.
  static Result<PciLink> Parse(std::string_view speed, std::string_view width);
  /// "32.0 GT/s x16".
  std::string Text() const;
};

/// What two ends can do together: the lesser of both, in speed and in width.
PciLink BestOfBoth(const PciLink& one, const PciLink& other);

}  // namespace railwright
