#include "core/decode/programmable_cc.h"

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

Result<std::optional<bool>> ReadFlag(const Fields& fields, std::string_view name) {
  const std::string* word = fields.Find(name);
  if (word == nullptr) return std::optional<bool>();
  if (*word == "True(1)" || *word == "1") return std::optional(true);
  if (*word == "False(0)" || *word == "0") return std::optional(false);
  return Status(Code::kInternal,
                std::string(name) + " is " + Quoted(*word) + ", which is neither True(1) nor False(0)");
}

}  // namespace

Result<ProgrammableCc> ReadProgrammableCc(std::string_view text) {
  const auto fields = Fields::Parse(text);
  if (!fields.ok()) return Status(Code::kInternal, fields.status().message());
  ProgrammableCc read;
  RW_ASSIGN_OR_RETURN(read.current, ReadFlag(*fields, "current"));
  RW_ASSIGN_OR_RETURN(read.next, ReadFlag(*fields, "next"));
  return read;
}

}  // namespace railwright
