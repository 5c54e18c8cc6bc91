// Category B: real configuration spaces and real trees.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "core/decode/acs_bridges.h"
#include "core/decode/pci_config.h"
#include "core/decode/pci_tree.h"
#include "tests/cases/cases.h"

namespace railwright {
namespace {

// The bytes of the first function of an `lspci -xxxx` dump.
std::string BytesOf(const std::string& dump) {
  std::string bytes;
  const std::regex row("^([0-9a-f]{2,3}): ((?:[0-9a-f]{2} ?)+)\\s*$");
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    if (std::stoul(match[1], nullptr, 16) != bytes.size()) break;  // the next function
    std::istringstream words(match[2]);
    for (std::string word; words >> word;) bytes += static_cast<char>(std::stoul(word, nullptr, 16));
  }
  return bytes;
}

// "SrcValid+ TransBlk- …" → the bits with a plus.
unsigned BitsOf(const std::string& flags) {
  const std::pair<const char*, unsigned> names[] = {
      {"SrcValid+", 0x01},    {"TransBlk+", 0x02},   {"ReqRedir+", 0x04},   {"CmpltRedir+", 0x08},
      {"UpstreamFwd+", 0x10}, {"EgressCtrl+", 0x20}, {"DirectTrans+", 0x40}};
  unsigned bits = 0;
  for (const auto& [name, bit] : names)
    if (flags.find(name) != std::string::npos) bits |= bit;
  return bits;
}

const cases::Case* Find(const std::vector<cases::Case>& list, const std::string& id) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.id.starts_with(id); });
  return found == list.end() ? nullptr : &*found;
}

TEST(PciCases, RealConfigurationSpacesAreDecodedAsLspciDoes) {
  const auto list = cases::Load("B");
  RW_SKIP_WITHOUT_CASES(list);
  int judged = 0;
  for (const cases::Case& one : list) {
    const auto& answer = one.answer.value("decoded_first_device", nlohmann::json::object());
    for (const auto& file : one.files) {
      if (!file.string().ends_with(".xxxx.txt")) continue;
      SCOPED_TRACE(file.filename().string());
      const std::string bytes = BytesOf(cases::Read(file));
      ASSERT_GE(bytes.size(), 64U);
      const auto config = PciConfig::Decode(bytes);
      ASSERT_TRUE(config.ok()) << config.status().ToString();
      ++judged;
      const auto express = config->Express();
      if (answer.contains("maxreadreq") && bytes.size() > 64) {
        ASSERT_TRUE(express.ok()) << express.status().ToString();
        EXPECT_EQ(express->read_request, answer["maxreadreq"].get<unsigned>());
        EXPECT_EQ(express->payload, answer["maxpayload"].get<unsigned>());
      }
      const auto acs = config->Acs();
      if (answer.contains("acs_cap") && bytes.size() > 256) {
        ASSERT_TRUE(acs.ok()) << acs.status().ToString();
        EXPECT_EQ(acs->capability & 0x7f, BitsOf(answer["acs_cap"]));
        EXPECT_EQ(acs->control & 0x7f, BitsOf(answer["acs_ctl"]));
      } else {
        EXPECT_FALSE(acs.ok());
      }
    }
  }
  EXPECT_GE(judged, 5);
}

// A tree out of `lspci -vvv`, by the bus ranges of its bridges.
PciTree TreeOf(const std::string& text) {
  struct Function {
    std::string bdf, cls;
    int bus = 0, secondary = -1, subordinate = -1;
  };
  std::vector<Function> functions;
  const std::regex header("^(?:([0-9a-f]{4,}):)?([0-9a-f]{2}):([0-9a-f]{2}\\.[0-7]) (.*)$");
  const std::regex buses("Bus: primary=([0-9a-f]{2}), secondary=([0-9a-f]{2}), subordinate=([0-9a-f]{2})");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, header)) {
      const std::string what = match[4];
      const char* cls = what.find("bridge") != std::string::npos ? "060400" : "020000";
      functions.push_back({"0000:" + std::string(match[2]) + ":" + std::string(match[3]), cls,
                           static_cast<int>(std::stoul(match[2], nullptr, 16)), -1, -1});
    } else if (std::regex_search(line, match, buses) && !functions.empty()) {
      functions.back().secondary = static_cast<int>(std::stoul(match[2], nullptr, 16));
      functions.back().subordinate = static_cast<int>(std::stoul(match[3], nullptr, 16));
    }
  }
  // The bridge with the fewest buses that has this one: a dump may leave bridges out.
  const auto parent = [&](const Function& one) -> const Function* {
    const Function* nearest = nullptr;
    for (const Function& bridge : functions)
      if (bridge.secondary <= one.bus && one.bus <= bridge.subordinate &&
          (nearest == nullptr ||
           bridge.subordinate - bridge.secondary < nearest->subordinate - nearest->secondary))
        nearest = &bridge;
    return nearest;
  };
  std::string tree;
  for (const Function& one : functions) {
    std::string way = one.bdf;
    const Function* top = &one;
    for (const Function* up = parent(one); up != nullptr; up = parent(*up)) {
      way = up->bdf + "/" + way;
      top = up;
    }
    char host[16];
    std::snprintf(host, sizeof host, "pci0000:%02x", static_cast<unsigned>(top->bus) & 0xff);
    tree += std::string(host) + "/" + way + " class=" + one.cls + " id=0:0\n";
  }
  auto parsed = PciTree::Parse(tree);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString() << "\n" << tree;
  return parsed.ok() ? *parsed : PciTree();
}

TEST(PciCases, TrafficTurnsRoundAtTwoPortsAndNotAtTheOthersOfItsWay) {
  const auto list = cases::Load("B");
  RW_SKIP_WITHOUT_CASES(list);
  const cases::Case* mixed = Find(list, "B06");
  ASSERT_NE(mixed, nullptr);
  const PciTree tree = TreeOf(cases::Read(mixed->files.front()));
  const PciFunction* card = tree.Find("0000:45:00.0");
  const PciFunction* gpu = tree.Find("0000:4a:00.0");
  ASSERT_TRUE(card != nullptr && gpu != nullptr);
  std::vector<std::string> all, turns;
  for (const AcsBridge& bridge : BridgesBetween(tree, *card, {gpu})) {
    all.push_back(bridge.bdf.substr(5));
    if (!bridge.turns_round_for.empty()) turns.push_back(bridge.bdf.substr(5));
  }
  EXPECT_EQ(turns, mixed->answer["turnaround_ports"].get<std::vector<std::string>>());
  EXPECT_EQ(all, (std::vector<std::string>{"44:00.0", "44:01.0", "46:00.0", "47:00.0", "49:00.0"}))
      << "48:00.0 is not in the dump; the root port 40:01.1 and the upstream port 43:00.0 are above what "
         "they have in common";
}

TEST(PciCases, EveryCardOfARealNodeHasItsGpuBelowOneSwitch) {
  const auto list = cases::Load("B");
  RW_SKIP_WITHOUT_CASES(list);
  const cases::Case* node = Find(list, "B05");
  ASSERT_NE(node, nullptr);
  const PciTree tree = TreeOf(cases::Read(node->files.front()));
  for (const auto& [gpu, card] : node->answer["gpu_nic_pairs"].items()) {
    const PciFunction* one = tree.Find("0000:" + gpu);
    const PciFunction* other = tree.Find("0000:" + card.get<std::string>());
    ASSERT_TRUE(one != nullptr && other != nullptr) << gpu;
    EXPECT_EQ(NearnessOf(*one, *other), PciNearness::kSameSwitch) << gpu;
  }
}

}  // namespace
}  // namespace railwright
