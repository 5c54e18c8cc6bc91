// Rounds: how often a test of chance is repeated: few times in every run, many in `tests/run.sh --slow`.
#pragma once

#include <cstdlib>

namespace railwright {

inline int Rounds(int fast, int slow) { return std::getenv("RAILWRIGHT_SLOW") != nullptr ? slow : fast; }

}  // namespace railwright
