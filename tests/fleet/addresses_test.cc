#include "controller/fleet/addresses.h"

#include <gtest/gtest.h>

namespace railwright::fleet {
namespace {

std::string Expanded(std::string_view pattern, PatternFacts facts = {7, "gpu-012", "r3", "rail0"}) {
  const auto parsed = Pattern::Parse(pattern);
  if (!parsed.ok()) return parsed.status().message();
  const auto text = parsed->Expand(facts);
  return text.ok() ? *text : text.status().message();
}

TEST(PatternTest, PlaceholdersAreFilledIn) {
  EXPECT_EQ(Expanded("10.10.0.{index}/24"), "10.10.0.7/24");
  EXPECT_EQ(Expanded("10.10.0.{n}/24"), "10.10.0.12/24");
  EXPECT_EQ(Expanded("fd00:10:{n}::{index}/64"), "fd00:10:12::7/64");
  EXPECT_EQ(Expanded("{node}.{rack}.{port}"), "gpu-012.r3.rail0");
  EXPECT_EQ(Expanded("plain"), "plain");
}

TEST(PatternTest, ArithmeticRunsFromLeftToRight) {
  EXPECT_EQ(Expanded("10.{rack+100}.0.{n}/24"), "10.103.0.12/24");
  EXPECT_EQ(Expanded("10.10.{index/250}.{index%250+1}/16", {251, "g", "", "p"}), "10.10.1.2/16");
  EXPECT_EQ(Expanded("{index-1*2}"), "12");
}

TEST(PatternTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(Expanded("{indx}"), "\"{indx}\": unknown placeholder \"{indx}\"; did you mean \"{index}\"?");
  EXPECT_EQ(Expanded("{x}"),
            "\"{x}\": unknown placeholder \"{x}\"; known are: {index} {n} {node} {rack} {port}");
  EXPECT_EQ(Expanded("{index"), "\"{index\": a \"{\" is never closed");
  EXPECT_EQ(Expanded("index}"), "\"index}\": a \"}\" that was never opened");
  EXPECT_EQ(Expanded("{index+}"), "\"{index+}\": expected a number up to 1,000,000 after \"+\"");
  EXPECT_EQ(Expanded("{index+x}"), "\"{index+x}\": expected a number up to 1,000,000 after \"+\"");
  EXPECT_EQ(Expanded("{index/0}"), "\"{index/0}\": division by zero");
  EXPECT_EQ(Expanded("{index-9}"), "\"{index-9}\": {index} with its operations gives -2");
  EXPECT_EQ(Expanded("{n}", {1, "login", "", "p"}), "\"{n}\": there is no number in the name \"login\"");
  EXPECT_EQ(Expanded("{rack}", {1, "g", "", "p"}), "\"{rack}\": the node has no rack");
}

std::string Parsed(std::string_view text) {
  const auto cidr = ParseCidr(text);
  return cidr.ok() ? cidr->Text() : cidr.status().message();
}

TEST(CidrTest, OneSpellingPerAddress) {
  EXPECT_EQ(Parsed("10.10.0.1/24"), "10.10.0.1/24");
  EXPECT_EQ(Parsed("FD00:0010:0:0::0001/64"), "fd00:10::1/64");
  EXPECT_EQ(Parsed("2001:db8::1/128"), "2001:db8::1/128");
}

TEST(CidrTest, WhatIsNoAddressIsRefused) {
  EXPECT_EQ(Parsed("10.10.0.300/24"), "\"10.10.0.300\" is no IPv4 address");
  EXPECT_EQ(Parsed("10.10.0.010/24"), "\"10.10.0.010\" is no IPv4 address");
  EXPECT_EQ(Parsed("10.10.0/24"), "\"10.10.0\" is no IPv4 address");
  EXPECT_EQ(Parsed("fd00::10::1/64"), "\"fd00::10::1\" is no IPv6 address");
  EXPECT_EQ(Parsed("fe80::1%eth0/64"), "\"fe80::1%eth0\" is no IPv6 address");
  EXPECT_EQ(Parsed(std::string_view("10.0.0.1\0x/24", 13)), "\"10.0.0.1 x\" is no IPv4 address");
  EXPECT_EQ(Parsed("10.10.0.1"), "\"10.10.0.1\" has no prefix length; write 10.10.0.1/24");
  EXPECT_EQ(Parsed("fd00::1"), "\"fd00::1\" has no prefix length; write fd00::1/64");
  EXPECT_EQ(Parsed("10.10.0.1/33"), "\"10.10.0.1/33\": the prefix length must be 0…32, found \"33\"");
  EXPECT_EQ(Parsed("fd00::1/129"), "\"fd00::1/129\": the prefix length must be 0…128, found \"129\"");
  EXPECT_EQ(Parsed("10.10.0.1/024"), "\"10.10.0.1/024\": the prefix length must be 0…32, found \"024\"");
  EXPECT_EQ(Parsed("10.10.0.1/"), "\"10.10.0.1/\": the prefix length must be 0…32, found \"\"");
}

std::string Host(std::string_view text) {
  const auto cidr = ParseCidr(text);
  return cidr.ok() ? CheckHost(*cidr).message() : cidr.status().message();
}

TEST(CidrTest, OnlyAddressesOfHostsAreForPorts) {
  EXPECT_EQ(Host("10.10.0.1/24"), "");
  EXPECT_EQ(Host("10.10.0.0/24"), "10.10.0.0/24 is the address of the network itself, not of a host in it");
  EXPECT_EQ(Host("10.10.0.255/24"), "10.10.0.255/24 is the broadcast address of its network");
  EXPECT_EQ(Host("10.10.0.255/16"), "");
  EXPECT_EQ(Host("10.10.0.0/31"), "");  // RFC 3021
  EXPECT_EQ(Host("10.10.0.0/32"), "");
  EXPECT_EQ(Host("fd00::/64"), "fd00::/64 is the address of the network itself, not of a host in it");
  EXPECT_EQ(Host("fd00::/127"), "");  // RFC 6164
  EXPECT_EQ(Host("fd00::ffff:ffff:ffff:ffff/64"), "");
  EXPECT_EQ(Host("127.0.0.1/8"), "127.0.0.1/8 is a loopback address");
  EXPECT_EQ(Host("::1/128"), "::1/128 is the loopback address");
  EXPECT_EQ(Host("::/0"), "::/0 is the unspecified address");
  EXPECT_EQ(Host("0.0.0.1/8"), "0.0.0.1/8 is in 0.0.0.0/8, which no port can have");
  EXPECT_EQ(Host("224.0.0.1/4"), "224.0.0.1/4 is a multicast or reserved address");
  EXPECT_EQ(Host("ff02::1/64"), "ff02::1/64 is a multicast address");
  EXPECT_EQ(Host("fe80::1/64"), "fe80::1/64 is link-local; the kernel makes those itself");
  EXPECT_EQ(Host("::ffff:10.0.0.1/96"), "::ffff:10.0.0.1/96 is IPv4 written as IPv6; write the IPv4 address");
}

TEST(CidrTest, NetworksContainTheirHosts) {
  const Cidr network = *ParseCidr("10.10.0.0/20");
  EXPECT_TRUE(network.Contains(*ParseAddress("10.10.15.255")));
  EXPECT_FALSE(network.Contains(*ParseAddress("10.10.16.0")));
  EXPECT_FALSE(network.Contains(*ParseCidr("10.10.0.0/16")));
  EXPECT_FALSE(network.Contains(*ParseAddress("fd00::1")));
  EXPECT_EQ(ParseCidr("fd00:1:2:3:4::5/60")->Network().Text(), "fd00:1:2::/60");
}

}  // namespace
}  // namespace railwright::fleet
