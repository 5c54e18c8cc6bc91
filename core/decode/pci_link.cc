#include "core/decode/pci_link.h"

#include <algorithm>

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

Result<std::optional<std::uint32_t>> ParseSpeed(std::string_view text) {
  std::string_view rest = Trimmed(text);
  if (rest.starts_with("Unknown")) return std::optional<std::uint32_t>();
  const Status refused(Code::kInvalidArgument, Quoted(text) + " is no link speed");
  const auto unit = rest.find(" GT/s");
  if (unit == std::string_view::npos) return refused;
  rest = rest.substr(0, unit);
  const auto dot = rest.find('.');
  const auto whole = ParseNumber(rest.substr(0, dot));
  const auto tenths =
      dot == std::string_view::npos ? Result<std::uint64_t>(0) : ParseNumber(rest.substr(dot + 1));
  // 128 GT/s is generation 7; ten times that is no link.
  if (!whole.ok() || !tenths.ok() || *whole > 1280 || *tenths > 9) return refused;
  return std::optional<std::uint32_t>(static_cast<std::uint32_t>(*whole * 10 + *tenths));
}

}  // namespace

Result<PciLink> PciLink::Parse(std::string_view speed, std::string_view width) {
  PciLink link;
  RW_ASSIGN_OR_RETURN(link.speed, ParseSpeed(speed));
  const auto lanes = ParseNumber(Trimmed(width));
  // The kernel prints 255 where the register makes no sense.
  if (!lanes.ok() || *lanes > 255) return Status(Code::kInvalidArgument, Quoted(width) + " is no link width");
  link.width = static_cast<std::uint32_t>(*lanes == 255 ? 0 : *lanes);
  return link;
}

std::string PciLink::Text() const {
  const std::string rate =
      speed ? std::to_string(*speed / 10) + "." + std::to_string(*speed % 10) + " GT/s" : "unknown speed";
  return rate + " x" + std::to_string(width);
}

PciLink BestOfBoth(const PciLink& one, const PciLink& other) {
  PciLink best;
  best.width = one.width == 0 || other.width == 0 ? std::max(one.width, other.width)
                                                  : std::min(one.width, other.width);
  best.speed = one.speed && other.speed ? std::min(one.speed, other.speed)
               : one.speed              ? one.speed
                                        : other.speed;
  return best;
}

}  // namespace railwright
