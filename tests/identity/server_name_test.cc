#include "core/identity/server_name.h"

#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

TEST(ServerName, IsADnsNameOrAnAddress) {
  EXPECT_FALSE(Must(ServerName::Parse("ctl-1.example")).is_address());
  EXPECT_FALSE(Must(ServerName::Parse("localhost")).is_address());
  EXPECT_EQ(Must(ServerName::Parse("192.0.2.1")).address(), std::string("\xc0\x00\x02\x01", 4));
  const ServerName v6 = Must(ServerName::Parse("2001:DB8:0::1"));
  EXPECT_EQ(v6.text(), "2001:db8::1") << "one spelling";
  EXPECT_EQ(v6.address().size(), 16U);
  for (const std::string& bad : std::vector<std::string>{"",
                                                         ".",
                                                         "a.",
                                                         ".a",
                                                         "a..b",
                                                         "-a",
                                                         "a-",
                                                         "A.example",
                                                         "*.example",
                                                         "a_b",
                                                         "a b",
                                                         "1.2.3",
                                                         "256.1.1.1",
                                                         "01.2.3.4",
                                                         "1.2.3.4.5",
                                                         "[::1]",
                                                         "::g",
                                                         "fe80::1%eth0",
                                                         std::string("a\0b", 3),
                                                         std::string("1.2.3.4\0", 8),
                                                         std::string(64, 'a'),
                                                         std::string("a\nb")})
    EXPECT_EQ(ServerName::Parse(bad).status().code(), Code::kInvalidArgument) << bad;
  EXPECT_TRUE(ServerName::Parse(std::string(63, 'a') + "." + std::string(63, 'b')).ok());
}

TEST(Endpoint, IsReadBack) {
  for (const char* text : {"ctl.example:7444", "192.0.2.1:1", "[2001:db8::1]:65535"})
    EXPECT_EQ(Must(Endpoint::Parse(text)).Text(), text);
  for (const char* bad :
       {"", "ctl", "ctl:", "ctl:0", "ctl:65536", "ctl:07444", "ctl:-1", "ctl: 1", "ctl:1 ", ":1", "::1:1",
        "[::1]", "[::1]:", "[192.0.2.1]:1", "[ctl]:1", "ctl:1:1", "unix:/run/x"})
    EXPECT_EQ(Endpoint::Parse(bad).status().code(), Code::kInvalidArgument) << bad;
}

}  // namespace
}  // namespace railwright::identity
