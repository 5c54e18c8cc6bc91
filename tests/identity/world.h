// A small cluster for the tests: a time, a root, keys that are made once.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/identity/issuer.h"
#include "core/identity/verify.h"

namespace railwright::identity {

/// 2026-12-01T10:00:00Z.
Time Noon();
ClusterName Cluster(std::string_view name = "pod-a");
NodeUuid Uuid(int last = 1);
PrivateKey NewKey(KeyKind kind = KeyKind::kP256);
Issuer NewRoot(Time now = Noon(), CaTerms terms = {}, std::string_view cluster = "pod-a");
/// The root and a node's key of all tests that do not need their own.
const Issuer& Root();
const PublicKey& NodeKey();
Certificate NodeLeaf(Time now = Noon());
Expected Clients(std::string_view cluster = "pod-a");
Expected Servers();

/// The value, or a failed test and the end of it.
template <class T>
T Must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.status().ToString();
    throw std::runtime_error(result.status().ToString());
  }
  return std::move(result).value();
}

/// Refused with this code, and a message that has these words.
template <class T>
void ExpectRefused(const Result<T>& result, Code code, std::string_view words) {
  ASSERT_FALSE(result.ok()) << "accepted; expected: " << words;
  EXPECT_EQ(result.status().code(), code) << result.status().ToString();
  EXPECT_NE(result.status().message().find(words), std::string::npos) << result.status().ToString();
}

}  // namespace railwright::identity
