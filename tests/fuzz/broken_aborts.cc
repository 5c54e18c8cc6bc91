// In a libFuzzer program a broken sentence is a crash.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz.h"

namespace railwright::fuzz {

void Broken(const char* sentence, const char* place, const std::string& seen) {
  std::fprintf(stderr, "BROKEN: %s: always %s\n  seen: %s\n", place, sentence, seen.c_str());
  std::abort();
}

}  // namespace railwright::fuzz
