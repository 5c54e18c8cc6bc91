#include "core/decode/roce_cm.h"

#include <charconv>
#include <cstdint>

#include "core/decode/values.h"

namespace railwright {

Result<std::string> CanonicalRoceMode(std::string_view text) {
  text = Trimmed(text);
  if (text == "v1" || text == "IB/RoCE v1") return std::string("v1");
  if (text == "v2" || text == "RoCE v2") return std::string("v2");
  return Status(Code::kInvalidArgument, Quoted(text) + "; allowed: v1, v2");
}

std::string KernelRoceMode(std::string_view canonical) {
  return canonical == "v1" ? "IB/RoCE v1" : "RoCE v2";
}

Result<std::string> CanonicalTos(std::string_view text) {
  text = Trimmed(text);
  if (!text.starts_with("0x") && !text.starts_with("0X")) {
    RW_ASSIGN_OR_RETURN(const auto number, ParseWhole(text, 0, 255, "0…255, or 0x00…0xff"));
    return std::to_string(number);
  }
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  if (text.size() == 2 || error != std::errc() || end != text.data() + text.size() || number > 255)
    return Status(Code::kInvalidArgument, Quoted(text) + "; allowed: 0…255, or 0x00…0xff");
  return std::to_string(number);
}

}  // namespace railwright
