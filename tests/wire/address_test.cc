#include "core/wire/address.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

TEST(Address, LoopbackAndUnixSocketsAreLocal) {
  for (const char* address :
       {"unix:/run/railwright/controller.sock", "unix:///run/c.sock", "127.0.0.1:7443", "127.9.9.9:1",
        "localhost:7443", "[::1]:7443", "[0:0:0:0:0:0:0:1]:7443", "[::ffff:127.0.0.1]:7443"})
    EXPECT_TRUE(ParseAddress(address)->local) << address;
}

TEST(Address, EverythingElseIsNot) {
  for (const char* address :
       {"10.0.0.1:7443", "0.0.0.0:7443", "[::]:7443", "[fe80::1]:7443", "controller.example:7443",
        "[::ffff:10.0.0.1]:7443", "128.0.0.1:7443", "localhost.evil.example:7443", "127.0.0.1.example:1"})
    EXPECT_FALSE(ParseAddress(address)->local) << address;
}

TEST(Address, WhatIsNoAddressIsInvalid) {
  for (const char* address : {"",
                              "unix:",
                              "127.0.0.1",
                              "127.0.0.1:",
                              "127.0.0.1:x",
                              "127.0.0.1:65536",
                              "127.0.0.1:-1",
                              "127.1:80",
                              "0177.0.0.1:80",
                              "127.0.0.1.:80",
                              "256.0.0.1:80",
                              "::1:7443",
                              "[::1]",
                              "[::1]7443",
                              "[:::1]:1",
                              "[::1::]:1",
                              "[1:2:3:4:5:6:7:8:9]:1",
                              "[12345::1]:1",
                              "http://127.0.0.1:80",
                              ":80",
                              "a b:80",
                              "-x:80"}) {
    EXPECT_EQ(ParseAddress(address).status().code(), Code::kInvalidArgument) << address;
  }
  EXPECT_EQ(ParseAddress("unix:/" + std::string(107, 'x')).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(ParseAddress("unix:/" + std::string(106, 'x')).ok());
}

TEST(Address, TheTargetNeedsNoResolverForLiterals) {
  EXPECT_EQ(ParseAddress("localhost:7443")->Target(), "ipv4:127.0.0.1:7443");
  EXPECT_EQ(ParseAddress("[::1]:7443")->Target(), "ipv6:[::1]:7443");
  EXPECT_EQ(ParseAddress("unix:///run/c.sock")->Target(), "unix:/run/c.sock");
  EXPECT_EQ(ParseAddress("head.example:7443")->Target(), "dns:///head.example:7443");
}

}  // namespace
}  // namespace railwright
