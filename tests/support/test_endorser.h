// TestEndorser: a controller's signer whose key is that of TestSigner, and for whom every node has joined.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "controller/sign/state_signer.h"
#include "tests/support/memory_statements.h"
#include "tests/support/test_signer.h"

namespace railwright {

/// Of any name, the same each time.
inline std::string TestUuidOf(const std::string& node) {
  char text[40];
  std::snprintf(text, sizeof text, "0f8fad5b-d9cb-469f-a165-%012llx",
                static_cast<unsigned long long>(std::hash<std::string>{}(node)&0xffff'ffff'ffff));
  return text;
}

class TestEndorser {
 public:
  explicit TestEndorser(const Clock& clock)
      : signer_({.cluster = key.cluster, .signers = key.Trust().signers, .key = &key.key}, statements, clock,
                TestUuidOf) {}
  Endorser* get() { return &signer_; }

  TestSigner key;
  MemoryStatements statements;

 private:
  StateSigner signer_;
};

}  // namespace railwright
