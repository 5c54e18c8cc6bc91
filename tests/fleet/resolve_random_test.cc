// No documents may crash or hang the resolution, however they were mangled; and what a short text can ask for
// is bounded.
#include <chrono>
#include <random>

#include "tests/fleet/documents_of_tests.h"

namespace railwright {
namespace {

constexpr std::string_view kSeed = R"(kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[1-4]", role: gpu, rack: r1, labels: {pool: train}}
  - {name: st-1, role: storage, addresses: {rail0: "10.10.0.99/24, fd00::99/64"}}
ports:
  - {name: rail0, select: {pci: "0000:18:00.0"}, role: fabric, address: "10.10.0.{index}/24", gateway: "10.10.0.254"}
  - {name: rail1, select: {netdev: e1}, role: fabric, addresses: ["10.{rack+1}.{index/250}.{n%250}/24", "fd00:{n}::1/64"], on: {role: gpu}}
  - {name: mgmt, select: {netdev: eno1}, role: management}
subnets: [10.10.0.0/16]
tenants: [{name: t, nodes: ["gpu-[1-2]"]}]
---
kind: Profile
name: a
for: {role: gpu, nodes: ["gpu-[1-3]"], labels: {pool: train}}
mode: enforce
settings:
  link.mtu: {fabric: 4200, rail1: 9000, all: 1500}
  qos.pfc: [3, 4]
  sysctl.net.ipv4.conf.{netdev}.rp_filter: 2
---
kind: Profile
name: b
precedence: 3
settings: {nccl.A: x, limits.memlock: {soft: 1, hard: [2, 3]}}
)";

TEST(ResolveRandomTest, EveryMutationResolvesOrIsExplained) {
  constexpr std::string_view kPieces[] = {
      "[", "]",     "{",   "}",  "-",  "/",    ":",     ",",   "0",   "9",      "99999999999", "index", "%0",
      "*", "[1-9]", "{n}", "::", "/0", "/128", "rail0", "gpu", "all", "fabric", "\"\"",        " ",     "-1"};
  std::mt19937 random(4711);
  const auto below = [&](std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(random()) % limit;
  };
  std::size_t resolved = 0, refused = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (int round = 0; round < 1500 && std::chrono::steady_clock::now() < end; ++round) {
    std::string text(kSeed);
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      switch (below(3)) {
        case 0: text.insert(at, kPieces[below(std::size(kPieces))]); break;
        case 1: text.erase(at, 1 + below(4)); break;
        default: text[at] = static_cast<char>(' ' + below(95));
      }
    }
    const Loaded loaded = LoadDocuments("f", text);
    const auto result = Resolve(loaded.documents, Declarations());
    if (const auto* problems = std::get_if<std::vector<Problem>>(&result)) {
      ++refused;
      ASSERT_FALSE(problems->empty()) << text;
      for (const Problem& problem : *problems)
        EXPECT_TRUE(!problem.message.empty() && (problem.file.empty() || !problem.excerpt.empty()))
            << problem.ToString();
    } else {
      ++resolved;
      for (const auto& [name, node] : std::get<Resolved>(result).nodes)
        EXPECT_EQ(node.settings.size(), node.layers.size());
    }
  }
  EXPECT_GT(resolved, 20U);
  EXPECT_GT(refused, 100U);
}

TEST(ResolveLimitsTest, AShortTextCannotAskForMillionsOfNodes) {
  std::string text = "kind: Cluster\nname: a\nnodes:\n";
  for (int i = 0; i < 2000; ++i) text += "  - {name: 'n" + std::to_string(i) + "-[1-60000]'}\n";
  EXPECT_EQ(Problems({{"c.yaml", text}}),
            std::vector<std::string>{
                "c.yaml:5:12: nodes: with \"n1-[1-60000]\" these are more than 100,000 nodes"});
  std::string many = "kind: Cluster\nname: a\nnodes: [{name: a}]\ntenants:\n  - name: t\n    nodes:\n";
  std::string profile = "kind: Profile\nname: p\nfor:\n  nodes:\n";
  for (int i = 0; i < 2000; ++i) {
    many += "      - 'n" + std::to_string(i) + "-[1-60000]'\n";
    profile += "    - 'n" + std::to_string(i) + "-[1-60000]'\n";
  }
  EXPECT_EQ(Problems({{"c.yaml", many}, {"p.yaml", profile}}),
            (std::vector<std::string>{
                "c.yaml:7:9: tenant \"t\" names n0-[1-60000], which cluster a does not declare",
                "c.yaml:8:9: nodes: with \"n1-[1-60000]\" these are more than 100,000 nodes",
                "p.yaml:6:7: nodes: with \"n1-[1-60000]\" these are more than 100,000 nodes"}));
}

TEST(ResolveLimitsTest, AClusterHasAtMost256Ports) {
  std::string text = "kind: Cluster\nname: a\nnodes: [{name: a}]\nports:\n";
  for (int i = 0; i < 300; ++i)
    text += "  - {name: p" + std::to_string(i) + ", select: {netdev: e" + std::to_string(i) +
            "}, role: fabric}\n";
  EXPECT_EQ(Problems({{"c.yaml", text}}),
            std::vector<std::string>{"c.yaml:261:5: cluster \"a\" declares more than 256 ports"});
}

TEST(ResolveLimitsTest, TenThousandNodesResolve) {
  std::string text = "kind: Cluster\nname: a\nnodes:\n  - {name: 'gpu-[00001-10000]', role: gpu}\nports:\n";
  for (int i = 0; i < 8; ++i)
    text += "  - {name: rail" + std::to_string(i) + ", select: {netdev: e" + std::to_string(i) +
            "}, role: fabric, address: '10." + std::to_string(i) + ".{index/250}.{index%250+1}/16'}\n";
  text += "---\nkind: Profile\nname: p\nsettings:\n  link.mtu: 4200\n";
  for (int i = 0; i < 39; ++i) text += "  nccl.V" + std::to_string(i) + ": x\n";
  const Resolved resolved = Good({{"c.yaml", text}});
  ASSERT_EQ(resolved.nodes.size(), 10000U);
  EXPECT_EQ(resolved.nodes.at("gpu-10000").node.ports[7].addresses, std::vector<std::string>{"10.7.40.1/16"});
  EXPECT_EQ(resolved.nodes.at("gpu-10000").settings.size(), 47U);
  EXPECT_EQ(resolved.nodes.at("gpu-10000").settings.id(), resolved.nodes.at("gpu-00001").settings.id());
}

}  // namespace
}  // namespace railwright
