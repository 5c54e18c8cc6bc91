// NVCONFIG USER_PROGRAMMABLE_CC: whether a card runs DCQCN or a program of its user's.
#pragma once

#include <optional>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// nullopt: the tool did not tell.
struct ProgrammableCc {
  std::optional<bool> current;  ///< what the card runs with since its last reset
  std::optional<bool> next;     ///< what it runs with after the next one
};

/// `next=False(0) current=False(0)`, the values as mstconfig prints them. Internal when one is neither true
/// nor false.
Result<ProgrammableCc> ReadProgrammableCc(std::string_view text);

}  // namespace railwright
