#include "agent/machine/redact.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

constexpr std::uint64_t kSeed = 0x1234567890abcdef;

int SharedBits(const IpAddress& a, const IpAddress& b) {
  int bits = 0;
  const int all = static_cast<int>(8 * a.size());
  while (bits < all &&
         ((a.bytes[static_cast<std::size_t>(bits / 8)] ^ b.bytes[static_cast<std::size_t>(bits / 8)]) >>
              (7 - bits % 8) &
          1) == 0)
    ++bits;
  return bits;
}

IpAddress Ip(std::string_view text) { return IpAddress::Parse(text).value(); }

TEST(AddressMapTest, TwoAddressesShareAsManyBitsAsBefore) {
  std::mt19937 random(1);
  for (std::uint64_t seed : {kSeed, std::uint64_t{0}, std::uint64_t{42}}) {
    AddressMap map(seed);
    for (int round = 0; round < 3000; ++round) {
      const bool v6 = round % 2 == 0;
      IpAddress a = v6 ? Ip("fd00::1") : Ip("10.0.0.1");
      for (std::size_t i = 1; i < (v6 ? 8 : 4); ++i) a.bytes[i] = static_cast<std::uint8_t>(random());
      IpAddress b = a;
      const std::size_t at = 8 + random() % (v6 ? 56 : 24);
      b.bytes[at / 8] = static_cast<std::uint8_t>(b.bytes[at / 8] ^ (0x80 >> at % 8));
      EXPECT_EQ(SharedBits(map.Map(a), map.Map(b)), static_cast<int>(at)) << a.Text() << " " << b.Text();
    }
  }
}

TEST(AddressMapTest, TheSameValueHasTheSameReplacementAndDiffers) {
  AddressMap map(kSeed);
  EXPECT_EQ(map.Map(Ip("10.10.0.1")), map.Map(Ip("10.10.0.1")));
  EXPECT_NE(map.Map(Ip("10.10.0.1")), Ip("10.10.0.1"));
  EXPECT_NE(map.Map(Ip("fd00:10::1")), Ip("fd00:10::1"));
  EXPECT_NE(map.Map(Ip("8.8.8.8")), Ip("8.8.8.8"));
}

TEST(AddressMapTest, RangesKeepTheirMeaning) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    AddressMap map(seed);
    EXPECT_EQ(map.Map(Ip("10.1.2.3")).bytes[0], 10);
    EXPECT_EQ(map.Map(Ip("172.20.1.1")).bytes[0], 172);
    EXPECT_EQ(map.Map(Ip("172.20.1.1")).bytes[1] & 0xf0, 16);
    EXPECT_TRUE(map.Map(Ip("192.168.7.1")).Text().starts_with("192.168."));
    EXPECT_EQ(map.Map(Ip("100.64.7.1")).bytes[0], 100);
    EXPECT_EQ(map.Map(Ip("fe80::1")), Ip("fe80::1"));
    EXPECT_EQ(map.Map(Ip("fd12::1")).bytes[0] & 0xfe, 0xfc);
    const auto global = map.Map(Ip("2001:470::1"));
    EXPECT_EQ(global.bytes[0] & 0xe0, 0x20);
    const auto first = map.Map(Ip("198.51.100.1")).bytes[0];
    EXPECT_TRUE(first != 0 && first != 10 && first != 127 && first < 224 && first != 192) << int{first};
    for (const char* same :
         {"0.0.0.0", "127.0.0.1", "255.255.255.255", "224.0.0.251", "255.255.255.0", "::", "::1", "ff02::1"})
      EXPECT_EQ(map.Map(Ip(same)), Ip(same));
  }
}

TEST(AddressMapTest, ANetworkStaysANetwork) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    AddressMap map(seed);
    EXPECT_FALSE((IpPrefix{map.Map(Ip("10.16.0.0"), 12), 12}.HasHostBits()));
    EXPECT_FALSE((IpPrefix{map.Map(Ip("fd00:10::"), 32), 32}.HasHostBits()));
    // The host in it stays in it.
    EXPECT_GE(SharedBits(map.Map(Ip("10.16.0.0"), 12), map.Map(Ip("10.18.3.9"), 12)), 12);
  }
}

TEST(AddressMapTest, AnInterfaceIdFollowsItsMac) {
  AddressMap map(kSeed);
  const auto mac = map.MapMac({0x50, 0x6b, 0x4b, 0xc5, 0x12, 0x34});
  EXPECT_EQ(map.Map(Ip("fe80::526b:4bff:fec5:1234")), Ip("fe80::ff:fe00:1"));
  EXPECT_EQ(mac, (std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(map.MapMac({1, 0, 0x5e, 0, 0, 1}), (std::array<std::uint8_t, 6>{1, 0, 0x5e, 0, 0, 1}))
      << "multicast";
}

class RedactorTest : public testing::Test {
 protected:
  Redactor redactor_{kSeed, "gpu-017.example.net"};
};

TEST_F(RedactorTest, AddressesLengthsAndRoutesStayConsistent) {
  const std::string address = redactor_.Text("/rtnl/addr/rail0", "10.10.0.1/24\nfd00:10::1/64");
  const std::string route = redactor_.Text("/rtnl/route/101",
                                           "10.10.0.0/24 dev rail0 scope link src 10.10.0.1\n"
                                           "default via 10.10.0.254 dev rail0\nfd00:10::/64 dev rail0");
  const std::string v4 = address.substr(0, address.find('/'));
  const std::string net = v4.substr(0, v4.rfind('.'));
  EXPECT_TRUE(v4.ends_with(".1"));
  EXPECT_NE(v4, "10.10.0.1");
  const std::string v6_net =
      address.substr(address.find('\n') + 1, address.rfind("1/64") - address.find('\n') - 1);
  EXPECT_EQ(route, net + ".0/24 dev rail0 scope link src " + v4 + "\ndefault via " + net +
                       ".254 dev rail0\n" + v6_net + "/64 dev rail0");
}

TEST_F(RedactorTest, NftJsonKeepsItsNetworksAndRanges) {
  const std::string text = redactor_.Text(
      "/nft/ruleset",
      R"({"prefix": {"addr": "10.16.0.0", "len": 12}},{"prefix":{"addr":"10.16.0.0","len":12}},{"op": "==", "key": "state"})");
  const std::string net = AddressMap(kSeed).Map(Ip("10.16.0.0"), 12).Text();
  EXPECT_EQ(text, R"({"prefix": {"addr": ")" + net + R"(", "len": 12}},{"prefix":{"addr":")" + net +
                      R"(","len":12}},{"op": "==", "key": "state"})");
  // Low ends stay low, whatever the seed does to them.
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    Redactor redactor(seed, "");
    const std::string range =
        redactor.Text("/nft/ruleset", R"("range": ["10.0.3.0", "10.99.0.1"] and 10.0.3.0-10.99.0.1.)");
    const auto quote = [&](std::size_t n) {
      std::size_t at = 0;
      for (std::size_t i = 0; i < n; ++i) at = range.find('"', at) + 1;
      return range.substr(at, range.find('"', at) - at);
    };
    const IpAddress low = Ip(quote(3)), high = Ip(quote(5));
    EXPECT_TRUE(low.bytes < high.bytes) << range;
    EXPECT_TRUE(range.ends_with(" and " + low.Text() + "-" + high.Text() + ".")) << range;
  }
}

TEST_F(RedactorTest, MacsGuidsAndUuidsInEveryForm) {
  EXPECT_EQ(redactor_.Text("/rtnl/link/rail0", "ifindex=3 address=50:6B:4B:c5:12:34"),
            "ifindex=3 address=02:00:00:00:00:01");
  EXPECT_EQ(redactor_.Text("/x", "50-6b-4b-c5-12-34 enx506b4bc51234 00:00:00:00:00:00"),
            "02-00-00-00-00-01 enx020000000001 00:00:00:00:00:00");
  EXPECT_EQ(redactor_.Name("/rtnl/link/enx506b4bc51234/mtu"), "/rtnl/link/enx020000000001/mtu");
  EXPECT_EQ(redactor_.Text("/sys/class/infiniband/mlx5_0/node_guid", "506b:4b03:00c5:1234"),
            "0200:00ff:fe00:0001");
  EXPECT_EQ(redactor_.Text("/proc/cmdline", "root=UUID=3f2504e0-4f89-11d3-9a0c-0305e82c3301 ro"),
            "root=UUID=00000000-0000-4000-8000-000000000001 ro");
}

TEST_F(RedactorTest, AddressesBehindAWordAndAColonAreFound) {
  EXPECT_EQ(redactor_.Text("/x", "lladdr:50:6b:4b:c5:12:34"), "lladdr:02:00:00:00:00:01");
  const std::string v4 = AddressMap(kSeed).Map(Ip("10.10.0.1")).Text();
  EXPECT_EQ(redactor_.Text("/x", "addr:10.10.0.1 10.10.0.1:4791 [10.10.0.1]:80 (10.10.0.1)."),
            "addr:" + v4 + " " + v4 + ":4791 [" + v4 + "]:80 (" + v4 + ").");
}

TEST_F(RedactorTest, GidsKeepTheirForm) {
  const std::string v4 = AddressMap(kSeed).Map(Ip("10.10.0.1")).Text();
  const IpAddress mapped = Ip("::ffff:" + v4);
  std::string hex;
  for (int i = 12; i < 16; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", mapped.bytes[static_cast<std::size_t>(i)]);
    hex += two;
  }
  EXPECT_EQ(redactor_.Text("/sys/class/infiniband/mlx5_0/ports/1/gids/3",
                           "0000:0000:0000:0000:0000:ffff:0a0a:0001"),
            "0000:0000:0000:0000:0000:ffff:" + hex.substr(0, 4) + ":" + hex.substr(4));
}

TEST_F(RedactorTest, WhatOnlyLooksLikeAnAddressStays) {
  for (const char* text : {"0000:18:00.0", "version 1.2.3", "12:30:59", "a:b", "::", "state=up kind=veth",
                           "std::string", "mlx5_0:1", "inet6", "1,2,3", "0x1f", "fff:"})
    EXPECT_EQ(redactor_.Text("/proc/x", text), text);
  EXPECT_EQ(redactor_.Text("/pkg/libfoo", "version=5.8.2.0 hold=0"), "version=5.8.2.0 hold=0");
  EXPECT_EQ(redactor_.Text("/sys/module/mlx5_core/version", "23.10.0.1"), "23.10.0.1");
}

TEST_F(RedactorTest, TheHostsOwnNameIsReplacedAsAWholeWord) {
  EXPECT_EQ(
      redactor_.Text("/file/etc/motd", "Welcome to GPU-017, gpu-017.example.net; gpu-0170 and xgpu-017 stay"),
      "Welcome to this-node, this-node; gpu-0170 and xgpu-017 stay");
  EXPECT_EQ(redactor_.Text("/proc/sys/kernel/hostname", "gpu-017"), "this-node");
  Redactor ordinary(kSeed, "vm");
  EXPECT_EQ(ordinary.Text("/file/etc/hostname", "vm\n"), "this-node\n");
  EXPECT_EQ(ordinary.Text("/file/etc/sysctl.conf", "vm.swappiness=1"), "vm.swappiness=1")
      << "too ordinary a word";
}

TEST_F(RedactorTest, NamesOutOfEtcHostsAreReplacedEverywhere) {
  redactor_.Learn("/file/etc/hosts",
                  "127.0.0.1 localhost\n10.10.0.9\tstorage-a.corp stg # old: x\n::1 ip6-localhost\n");
  const std::string text = redactor_.Text("/file/etc/fstab", "storage-a.corp:/home storage-a localhost stg");
  EXPECT_EQ(text.find("storage"), std::string::npos) << text;
  EXPECT_NE(text.find(" localhost "), std::string::npos) << text;
  EXPECT_EQ(text.find("stg"), std::string::npos) << text;
}

TEST_F(RedactorTest, SerialNumbersAreReplacedWhereverTheyStand) {
  redactor_.Learn("/sys/class/dmi/id/product_serial", "SN12345XY\n");
  EXPECT_EQ(redactor_.Text("/sys/class/dmi/id/product_serial", "SN12345XY"), "serial-1");
  EXPECT_EQ(redactor_.Text("/file/etc/motd", "asset SN12345XY."), "asset serial-1.");
  EXPECT_EQ(redactor_.Text("/sys/class/dmi/id/chassis_serial", "Not Specified"), "Not Specified");
  EXPECT_EQ(redactor_.Text("/file/etc/machine-id", "0123456789abcdef0123456789abcdef\n").substr(0, 7),
            "serial-");
}

TEST_F(RedactorTest, SecretsInFilesAndOnTheCommandLine) {
  struct Case {
    const char* path;
    const char* text;
    const char* clean;
  };
  for (const Case& one : {
           Case{"/file/etc/a.conf", "user = bob\npassword = a b c\nport=1\n",
                "user = bob\npassword = REDACTED-1\nport=1\n"},
           Case{"/file/etc/a.conf", "PASSWORD=\"a b c\" x", "PASSWORD=\"REDACTED-1\" x"},
           Case{"/file/etc/a.yaml", "auth:\n  api_key: 'a b c'\n", "auth:\n  api_key: 'REDACTED-1'\n"},
           Case{"/file/etc/a.json", "{\"token\": \"a b c\", \"key\": 5}",
                "{\"token\": \"REDACTED-1\", \"key\": REDACTED-2}"},
           Case{"/file/etc/a", "https://user:a@example.org/x", "https://REDACTED@example.org/x"},
           Case{"/file/etc/k", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\n",
                "-----BEGIN RSA PRIVATE KEY-----\nREDACTED\n-----END RSA PRIVATE KEY-----\n"},
           Case{"/proc/cmdline", "ro rd.luks.key=abc iommu=pt", "ro rd.luks.key=REDACTED-1 iommu=pt"},
           Case{"/file/etc/nccl.conf", "NCCL_DEBUG=WARN\nNCCL_IB_HCA=mlx5_0\n",
                "NCCL_DEBUG=WARN\nNCCL_IB_HCA=mlx5_0\n"},
           Case{"/file/etc/a", "keyboard=de\nmonkeys: 3\npasswordless\npassword",
                "keyboard=de\nmonkeys: 3\npasswordless\npassword"},
           Case{"/nft/ruleset", "{\"meta\": {\"key\": \"iifname\"}}", "{\"meta\": {\"key\": \"iifname\"}}"},
       }) {
    Redactor redactor(kSeed, "");
    EXPECT_EQ(redactor.Text(one.path, one.text), one.clean);
  }
}

// 10.10.0.1 as /proc/net/route prints it.
std::string HostHex(const IpAddress& address) {
  std::string hex;
  for (std::size_t word = 0; word < address.size(); word += 4) {
    std::uint32_t number = 0;
    std::memcpy(&number, address.bytes.data() + word, sizeof number);
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08X", number);
    hex += digits;
  }
  return hex;
}
std::string NetworkHex(const IpAddress& address) {
  std::string hex;
  for (const std::uint8_t byte : address.span()) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  return hex;
}

TEST_F(RedactorTest, HexadecimalRoutesFollowTheDottedOnes) {
  AddressMap map(kSeed);
  const auto route = [](const IpAddress& network, const IpAddress& gateway) {
    return "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT        \n"
           "rail0\t00000000\t" +
           HostHex(gateway) + "\t0003\t0\t0\t0\t00000000\t0\t0\t0     \nenx506b4bc51234\t" +
           HostHex(network) + "\t00000000\t0001\t0\t0\t0\t" + HostHex(Ip("255.240.0.0")) + "\t0\t0\t0    \n";
  };
  std::string expected = route(map.Map(Ip("10.16.0.0"), 12), map.Map(Ip("10.16.0.254")));
  expected.replace(expected.find("enx506b4bc51234"), 15, "enx020000000001");
  for (const char* path : {"/proc/net/route", "/proc/self/net/route", "/proc/4711/net/route"}) {
    Redactor redactor(kSeed, "");
    EXPECT_EQ(redactor.Text(path, route(Ip("10.16.0.0"), Ip("10.16.0.254"))), expected) << path;
  }
  // Elsewhere eight digits are no address.
  EXPECT_EQ(redactor_.Text("/proc/net/ip_tables_names", "0A0A0001"), "0A0A0001");
  EXPECT_EQ(redactor_.Text("/file/etc/route", "x 0A0A0001 0A0A0001"), "x 0A0A0001 0A0A0001");
}

TEST_F(RedactorTest, HexadecimalIPv6FollowsTheWrittenOne) {
  AddressMap map(kSeed);
  const IpAddress host = Ip("fd00:10::1"), network = Ip("fd00:10::"), link = Ip("fe80::526b:4bff:fec5:1234");
  const IpAddress mapped_link = map.Map(link);
  EXPECT_EQ(redactor_.Text("/proc/net/if_inet6", NetworkHex(host) + " 02 40 00 80    rail0\n" +
                                                     NetworkHex(link) + " 02 40 20 80    rail0\n" +
                                                     NetworkHex(Ip("::1")) + " 01 80 10 80       lo\n"),
            NetworkHex(map.Map(host)) + " 02 40 00 80    rail0\n" + NetworkHex(mapped_link) +
                " 02 40 20 80    rail0\n" + NetworkHex(Ip("::1")) + " 01 80 10 80       lo\n");
  EXPECT_EQ(redactor_.Text("/proc/net/ipv6_route", NetworkHex(network) + " 20 " + NetworkHex(Ip("::")) +
                                                       " 00 " + NetworkHex(host) +
                                                       " 00000400 00000001 00000000 00000001 rail0"),
            NetworkHex(map.Map(network, 32)) + " 20 " + NetworkHex(Ip("::")) + " 00 " +
                NetworkHex(map.Map(host)) + " 00000400 00000001 00000000 00000001 rail0");
}

TEST_F(RedactorTest, SocketsTrieAndNeighboursFollowToo) {
  AddressMap map(kSeed);
  const IpAddress own = map.Map(Ip("10.10.0.1")), peer = map.Map(Ip("10.10.0.2"));
  EXPECT_EQ(redactor_.Text("/proc/net/tcp",
                           "  sl  local_address rem_address   st\n   0: " + HostHex(Ip("10.10.0.1")) +
                               ":1F90 " + HostHex(Ip("10.10.0.2")) + ":D431 01 00000000:00000012"),
            "  sl  local_address rem_address   st\n   0: " + HostHex(own) + ":1F90 " + HostHex(peer) +
                ":D431 01 00000000:00000012");
  EXPECT_EQ(redactor_.Text("/proc/net/udp6",
                           "  12: " + HostHex(Ip("fd00:10::1")) + ":12B7 " + HostHex(Ip("::")) + ":0000 07"),
            "  12: " + HostHex(map.Map(Ip("fd00:10::1"))) + ":12B7 " + HostHex(Ip("::")) + ":0000 07");
  const std::string network = map.Map(Ip("10.16.0.0"), 12).Text();
  EXPECT_EQ(redactor_.Text("/proc/net/fib_trie",
                           "Main:\n  +-- 10.16.0.0/12 2 0 2\n     |-- 10.16.0.0\n        /12 link UNICAST\n"
                           "     |-- 10.10.0.1\n        /32 host LOCAL\n"),
            "Main:\n  +-- " + network + "/12 2 0 2\n     |-- " + network +
                "\n        /12 link UNICAST\n     |-- " + own.Text() + "\n        /32 host LOCAL\n");
  EXPECT_EQ(redactor_.Text("/proc/net/arp", "10.10.0.2  0x1  0x2  50:6b:4b:c5:12:34  *  rail0"),
            peer.Text() + "  0x1  0x2  02:00:00:00:00:01  *  rail0");
}

TEST_F(RedactorTest, TheLongestKnownWordIsReplacedAmongHundreds) {
  std::mt19937 random(3);
  const auto any = [&](std::size_t most) {
    constexpr std::string_view kLetters = "ab-_.c1";
    std::string word;
    for (std::size_t n = 3 + random() % most; n > 0; --n) word += kLetters[random() % kLetters.size()];
    return word;
  };
  std::map<std::string, std::string> known;  // word → replacement, asked one by one
  Redactor redactor(kSeed, "");
  std::string hosts;
  for (int i = 0; i < 1000; ++i) hosts += "10.0.0.1 " + any(6) + "\n";
  redactor.Learn("/file/etc/hosts", hosts);
  for (const std::string& line : SortedLines(hosts)) {
    const std::string name = line.substr(9);
    for (const std::string& word : {name, name.substr(0, name.find('.'))})
      if (const std::string clean = redactor.Text("/x", word); clean.starts_with("host-") && clean != word)
        if (clean.find_first_not_of("0123456789", 5) == std::string::npos) known[word] = clean;
  }
  ASSERT_GT(known.size(), 300u);
  const auto in_name = [](char c) {
    return c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  for (int round = 0; round < 60; ++round) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += any(12) + " ./"[random() % 3];
    std::string expected;
    for (std::size_t at = 0; at < text.size();) {
      const std::pair<const std::string, std::string>* best = nullptr;
      if (in_name(text[at]) && (at == 0 || !in_name(text[at - 1])))
        for (const auto& one : known) {
          const std::size_t end = at + one.first.size();
          if (text.compare(at, one.first.size(), one.first) == 0 &&
              (end >= text.size() || !in_name(text[end])) &&
              (best == nullptr || one.first.size() > best->first.size()))
            best = &one;
        }
      if (best == nullptr) {
        expected += text[at++];
      } else {
        expected += best->second;
        at += best->first.size();
      }
    }
    EXPECT_EQ(redactor.Text("/x", text), expected) << text;
  }
}

TEST_F(RedactorTest, AnyTextIsRedactedWithoutHarm) {
  std::mt19937 random(2);
  const std::string_view pieces[] = {"10.0.0.1",  ":",
                                     "::",        ".",
                                     "/24",       "fe80",
                                     "key=",      "\"",
                                     "gpu-017",   "-",
                                     "\n",        "://",
                                     "@",         "aa:bb:cc:dd:ee:ff",
                                     "password:", "-----BEGIN PRIVATE KEY-----",
                                     "\xff",      " ",
                                     "'",         ","};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t n = random() % 16; n > 0; --n) text += pieces[random() % std::size(pieces)];
    redactor_.Learn("/file/etc/hosts", text);
    const std::string clean = redactor_.Text("/file/x", text);
    EXPECT_EQ(clean.find(" aa:bb:cc:dd:ee:ff "), std::string::npos);
  }
}

TEST(RedactorFieldsTest, SerialNumbersAmongFieldsAreReplacedAndVersionsStay) {
  constexpr const char* kInfo =
      "driver=mlx5_core serial=MT2143X00001 board.serial=MT2143X99 fixed.fw.psid=MT_0000000834 "
      "running.fw.version=28.39.1002";
  constexpr const char* kGpu =
      "name=NVIDIA_H200 uuid=GPU-8d5f0b1c-1111-2222-3333-444455556666 serial=1654922012345 persistence=on";
  Redactor redactor(kSeed, "");
  redactor.Learn("/devlink/pci/0000:3b:00.0/info", kInfo);
  redactor.Learn("/nvml/0000:3b:00.0", kGpu);
  EXPECT_EQ(redactor.Text("/devlink/pci/0000:3b:00.0/info", kInfo),
            "driver=mlx5_core serial=serial-1 board.serial=serial-2 fixed.fw.psid=MT_0000000834 "
            "running.fw.version=28.39.1002");
  EXPECT_EQ(redactor.Text("/nvml/0000:3b:00.0", kGpu),
            "name=NVIDIA_H200 uuid=GPU-00000000-0000-4000-8000-000000000001 serial=serial-3 persistence=on");
  EXPECT_EQ(redactor.Text("/nvml/driver", "version=580.159.04 nvml=13.580.159.04"),
            "version=580.159.04 nvml=13.580.159.04");
  EXPECT_EQ(redactor.Text("/file/tmp/log", "GPU 1654922012345 failed"), "GPU serial-3 failed");
}

}  // namespace
}  // namespace railwright::machine
