#include "core/decode/pfc_storm.h"

#include "core/decode/values.h"

namespace railwright {

std::string PfcStormText(std::uint16_t milliseconds) {
  if (milliseconds == kPfcStormOff) return "off";
  if (milliseconds == kPfcStormAuto) return "auto";
  return std::to_string(milliseconds);
}

Result<std::uint16_t> ParsePfcStorm(std::string_view text, std::uint16_t least, std::uint16_t most) {
  text = Trimmed(text);
  if (text == "off") return kPfcStormOff;
  if (text == "auto") return kPfcStormAuto;
  RW_ASSIGN_OR_RETURN(const auto milliseconds, ParseWhole(text, least, most,
                                                          "off, auto, or " + std::to_string(least) + "…" +
                                                              std::to_string(most) + " ms"));
  return static_cast<std::uint16_t>(milliseconds);
}

}  // namespace railwright
