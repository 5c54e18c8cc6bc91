// Profiles over nodes: what applies, what wins, what is refused.
#include "tests/fleet/documents_of_tests.h"

namespace railwright {
namespace {

const std::string kCluster = R"(kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[1-4]", role: gpu, rack: r1, labels: {pool: train}}
  - {name: st-1, role: storage, rack: r2}
ports:
  - {name: rail0, select: {netdev: e0}, role: fabric, address: "10.10.0.{index}/24", on: {role: gpu}}
  - {name: rail1, select: {netdev: e1}, role: fabric, address: "10.11.0.{index}/24", on: {role: gpu}}
  - {name: mgmt, select: {netdev: eno1}, role: management}
)";

std::string P(const std::string& name, const std::string& rest) {
  return "kind: Profile\nname: " + name + "\n" + rest;
}

Resolved With(const std::vector<std::string>& profiles) {
  std::vector<std::pair<std::string, std::string>> files{{"c.yaml", kCluster}};
  for (std::size_t i = 0; i < profiles.size(); ++i)
    files.emplace_back("p" + std::to_string(i) + ".yaml", profiles[i]);
  return Good(files);
}

std::vector<std::string> ProblemsWith(const std::vector<std::string>& profiles) {
  std::vector<std::pair<std::string, std::string>> files{{"c.yaml", kCluster}};
  for (std::size_t i = 0; i < profiles.size(); ++i)
    files.emplace_back("p" + std::to_string(i) + ".yaml", profiles[i]);
  return Problems(files);
}

using Texts = std::vector<std::string>;

TEST(ResolveTest, TheProfileOfTheHousePlanResolves) {
  const Resolved resolved = With({P("roce-lossless", R"(for: {role: gpu}
mode: enforce
settings:
  link.mtu: {fabric: 4200}
  qos.pfc: {fabric: [3]}
  dcqcn.rpg_ai_rate: {fabric: 5}
  sysctl.net.ipv4.conf.all.arp_ignore: 1
)")});
  EXPECT_EQ(resolved.warnings, Texts{});
  EXPECT_EQ(resolved.nodes.at("gpu-4").settings.size(), 7U);
  EXPECT_EQ(Values(resolved, "gpu-4", "qos.pfc"), "rail0=3 rail1=3");
  EXPECT_EQ(Values(resolved, "gpu-4", "dcqcn.rpg_ai_rate"), "rail0=5 rail1=5");
  EXPECT_EQ(Values(resolved, "gpu-4", "sysctl.net.ipv4.conf.all.arp_ignore"), "-=1");
  EXPECT_EQ(resolved.nodes.at("st-1").settings.size(), 0U);
}

TEST(ResolveTest, ASettingOfPortsGoesToAllFabricPorts) {
  const Resolved resolved = With({P("a", "mode: enforce\nsettings: {link.mtu: 4200}\n")});
  EXPECT_EQ(Values(resolved, "gpu-1", "link.mtu"), "rail0=4200 rail1=4200");
  EXPECT_EQ(Values(resolved, "st-1", "link.mtu"), "");
}

TEST(ResolveTest, WithoutAModeAProfileObserves) {
  EXPECT_EQ(Values(With({P("a", "settings: {limits.memlock: unlimited}\n")}), "st-1", "limits.memlock"),
            "-=(unlimited)");
}

TEST(ResolveTest, APortsNameWinsOverItsRoleAndThatOverAll) {
  const Resolved resolved =
      With({P("a", "mode: enforce\nsettings:\n  link.mtu: {all: 1500, rail1: 9000, fabric: 4200}\n")});
  EXPECT_EQ(Values(resolved, "gpu-1", "link.mtu"), "mgmt=1500 rail0=4200 rail1=9000");
  EXPECT_EQ(Values(resolved, "st-1", "link.mtu"), "mgmt=1500");
}

TEST(ResolveTest, ListsAndMapsHaveOneText) {
  const Resolved resolved = With({P("a", R"(settings:
  qos.pfc: {rail0: [3, 0, 3], rail1: 5}
  limits.memlock: {soft: 1, hard: [2, 3]}
  nccl.NCCL_IB_HCA: [mlx5_0, mlx5_1]
  nccl.NCCL_EMPTY: ""
)")});
  EXPECT_EQ(Values(resolved, "gpu-1", "qos.pfc"), "rail0=(0,3) rail1=(5)");
  EXPECT_EQ(Values(resolved, "gpu-1", "limits.memlock"), "-=(soft=1 hard=2,3)");
  EXPECT_EQ(Values(resolved, "gpu-1", "nccl.NCCL_IB_HCA"), "-=(mlx5_0,mlx5_1)");
  EXPECT_EQ(Values(resolved, "gpu-1", "nccl.NCCL_EMPTY"), "-=()");
}

TEST(ResolveTest, AKeyMayBeOfPortsByItsParamAndHasOneSpelling) {
  const Resolved resolved = With({P("a", R"(settings:
  sysctl.net/ipv4/conf/{netdev}/rp_filter: 2
  sysctl.net.ipv4.conf.all.arp_ignore: 1
)")});
  EXPECT_EQ(Values(resolved, "gpu-1", "sysctl.net.ipv4.conf.{netdev}.rp_filter"), "rail0=(2) rail1=(2)");
  EXPECT_EQ(Values(resolved, "gpu-1", "sysctl.net.ipv4.conf.all.arp_ignore"), "-=(1)");
}

TEST(ResolveTest, SelectorsMustHoldAltogether) {
  const auto selected = [](const std::string& selector) {
    const Resolved resolved = With({P("a", "for: " + selector + "\nsettings: {nccl.A: x}\n")});
    Texts nodes;
    for (const auto& [name, node] : resolved.nodes)
      if (!node.settings.empty()) nodes.push_back(name);
    return FoldNames(nodes);
  };
  EXPECT_EQ(selected("{}"), "gpu-[1-4],st-1");
  EXPECT_EQ(selected("{role: gpu}"), "gpu-[1-4]");
  EXPECT_EQ(selected("{rack: r2}"), "st-1");
  EXPECT_EQ(selected("{labels: {pool: train}}"), "gpu-[1-4]");
  EXPECT_EQ(selected("{nodes: ['gpu-[2-3]', st-1]}"), "gpu-[2-3],st-1");
  EXPECT_EQ(selected("{role: gpu, nodes: ['gpu-[2-3]', st-1]}"), "gpu-[2-3]");
  EXPECT_EQ(selected("{role: gpu, rack: r2}"), "");
  EXPECT_EQ(selected("{labels: {pool: serve}}"), "");
}

TEST(ResolveTest, TheHigherPrecedenceWinsAndEveryLayerIsKept) {
  const Resolved resolved = With({
      P("base", "mode: enforce\nsettings: {link.mtu: 4200}\n"),
      P("top", "precedence: 10\nfor: {nodes: [gpu-1]}\nsettings:\n  link.mtu: {rail0: 9000}\n"),
      P("low", "precedence: -5\nmode: enforce\nsettings: {link.mtu: 1500}\n"),
  });
  EXPECT_EQ(Values(resolved, "gpu-1", "link.mtu"), "rail0=(9000) rail1=4200");
  EXPECT_EQ(Values(resolved, "gpu-2", "link.mtu"), "rail0=4200 rail1=4200");
  const std::vector<Layer>& layers = resolved.nodes.at("gpu-1").layers.at(KeyTarget{"link.mtu", "rail0"});
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0].origin.document, "Profile/top");
  EXPECT_EQ(layers[0].origin.place, "p1.yaml:6:21");
  EXPECT_EQ(layers[0].mode, Mode::kObserve);
  EXPECT_EQ(layers[1].value, "4200");
  EXPECT_EQ(layers[1].precedence, 0);
  EXPECT_EQ(layers[2].origin.document, "Profile/low");
  EXPECT_EQ(resolved.nodes.at("gpu-1").settings[0].origin, layers[0].origin);
}

TEST(ResolveTest, EqualProfilesThatAgreeAreNoConflict) {
  const Resolved resolved = With({P("a", "mode: enforce\nsettings: {link.mtu: 4200}\n"),
                                  P("b", "mode: enforce\nsettings: {link.mtu: '04200'}\n")});
  EXPECT_EQ(Values(resolved, "gpu-1", "link.mtu"), "rail0=4200 rail1=4200");
  EXPECT_EQ(resolved.nodes.at("gpu-1").settings[0].origin.document, "Profile/a");
  EXPECT_EQ(resolved.nodes.at("gpu-1").layers.at(KeyTarget{"link.mtu", "rail1"}).size(), 2U);
}

TEST(ResolveTest, EqualProfilesThatDisagreeAreAConflictToldOnce) {
  EXPECT_EQ(
      ProblemsWith({P("a", "mode: enforce\nsettings: {link.mtu: 4200}\n"),
                    P("b", "mode: enforce\nfor: {nodes: ['gpu-[2-3]']}\nsettings: {link.mtu: 9000}\n")}),
      Texts{"p1.yaml:5:22: conflict: link.mtu on rail0, rail1 of gpu-[2-3] is \"4200\" (enforce) by "
            "Profile/a at "
            "p0.yaml:4:22, and \"9000\" (enforce) by Profile/b; give the one that shall win a higher "
            "\"precedence\" (both have 0)"});
}

TEST(ResolveTest, WhetherANodeIsWrittenIsNeverAGuess) {
  EXPECT_EQ(
      ProblemsWith({P("a", "mode: enforce\nsettings: {nccl.A: x}\n"), P("b", "settings: {nccl.A: x}\n")}),
      Texts{
          "p1.yaml:3:20: conflict: nccl.A of gpu-[1-4],st-1 is \"x\" (enforce) by Profile/a at p0.yaml:4:20, "
          "and "
          "\"x\" (observe) by Profile/b; give the one that shall win a higher \"precedence\" (both have 0)"});
}

TEST(ResolveTest, BelowTheWinnerNothingIsAConflict) {
  const Resolved resolved = With({P("a", "settings: {nccl.A: x}\n"), P("b", "settings: {nccl.A: y}\n"),
                                  P("c", "precedence: 1\nsettings: {nccl.A: z}\n")});
  EXPECT_EQ(Values(resolved, "gpu-1", "nccl.A"), "-=(z)");
}

TEST(ResolveTest, KeysAndValuesAreCheckedByTheCatalogue) {
  EXPECT_EQ(ProblemsWith({P("a", R"(settings:
  link.mtuu: 4200
  link.mtu: {fabric: 99999, rail0: x, rial1: 4200}
  qos.pfc: [8]
  nccl.A: 1
)")}),
            (Texts{"p0.yaml:4:3: unknown setting \"link.mtuu\"; did you mean \"link.mtu\"?",
                   "p0.yaml:5:22: link.mtu: found \"99999\"; allowed: 68…9978",
                   "p0.yaml:5:36: link.mtu: found \"x\"; allowed: 68…9978",
                   "p0.yaml:5:39: link.mtu: \"rial1\" is neither a port role nor a declared port; did you "
                   "mean \"rail1\"?",
                   "p0.yaml:6:12: qos.pfc: found \"8\"; allowed: priorities 0…7"}));
}

TEST(ResolveTest, OneKeyInTwoSpellingsIsGivenTwice) {
  EXPECT_EQ(ProblemsWith({P("a", "settings:\n  sysctl.net/a: 1\n  sysctl.net.a: 2\n")}),
            Texts{"p0.yaml:5:3: setting sysctl.net.a is given twice (first at p0.yaml:4:3)"});
}

TEST(ResolveTest, ARoleThatNoNodeHasIsRefused) {
  EXPECT_EQ(ProblemsWith({P("a", "for: {role: gpus}\nsettings: {nccl.A: 1}\n")}),
            Texts{"p0.yaml:3:13: no node has the role \"gpus\"; did you mean \"gpu\"?"});
  EXPECT_EQ(ProblemsWith({P("a", "for: {role: login}\nsettings: {nccl.A: 1}\n")}),
            Texts{"p0.yaml:3:13: no node has the role \"login\"; roles in use: gpu, storage"});
}

TEST(ResolveTest, AnEmptyMapForPortsSetsNothingAndIsRefused) {
  EXPECT_EQ(ProblemsWith({P("a", "settings: {link.mtu: {}}\n")}),
            Texts{"p0.yaml:3:22: link.mtu: an empty map sets nothing; write {fabric: VALUE}"});
}

TEST(ResolveTest, BadRangesInSelectors) {
  EXPECT_EQ(ProblemsWith({P("a", "for: {nodes: [gpu-1, 'gpu-[']}\nsettings: {nccl.A: 1}\n")}),
            Texts{"p0.yaml:3:22: nodes: \"gpu-[\": a \"[\" is never closed"});
}

TEST(ResolveTest, WhatHasNoEffectIsAWarning) {
  EXPECT_EQ(With({P("a", "for: {rack: r9}\nsettings: {nccl.A: 1}\n")}).warnings,
            Texts{"Profile/a selects no node"});
  EXPECT_EQ(With({P("a", "for: {nodes: ['gpu-[3-9]']}\nsettings: {nccl.A: 1}\n")}).warnings,
            Texts{"Profile/a names gpu-[5-9], which no cluster declares"});
  EXPECT_EQ(With({P("a", "")}).warnings, Texts{"Profile/a has no settings"});
  EXPECT_EQ(With({P("a", "settings: {link.mtu: 4200, qos.pfc: [3]}\n")}).warnings,
            Texts{"Profile/a sets link.mtu, qos.pfc on fabric ports, which st-1 does not have"});
  EXPECT_EQ(
      With({P("a", "for: {role: storage}\nsettings: {link.mtu: {rail0: 4200, storage: 9000}}\n")}).warnings,
      (Texts{"Profile/a sets link.mtu on port rail0, which st-1 does not have",
             "Profile/a sets link.mtu on storage ports, which st-1 does not have"}));
  EXPECT_EQ(
      With({P("a", "for: {role: gpu}\nmode: enforce\nsettings: {link.mtu: {management: 1500}}\n")}).warnings,
      Texts{
          "Profile/a enforces link.mtu on port mgmt (management); only fabric ports are written, others are "
          "reported"});
  EXPECT_EQ(With({P("a", "for: {role: gpu}\nmode: enforce\nsettings: {link.mtu: 4200}\n")}).warnings,
            Texts{});
  EXPECT_EQ(
      With({P("a",
              "for: {role: gpu}\nmode: enforce\nsettings: {link.mtu: {all: 1500}, qos.pfc: {mgmt: 3}}\n")})
          .warnings,
      Texts{"Profile/a enforces link.mtu, qos.pfc on port mgmt (management); only fabric ports are written, "
            "others "
            "are reported"});
}

TEST(ResolveTest, SettingsAreSortedAndAlikeNodesShareThem) {
  const Resolved resolved = With({P("a", "settings: {qos.pfc: [3], nccl.B: 1, link.mtu: 4200, nccl.A: 1}\n"),
                                  P("b", "for: {nodes: [gpu-2]}\nsettings: {nccl.C: 1}\n")});
  Texts order;
  for (const SettingSpec& spec : resolved.nodes.at("gpu-1").settings)
    order.push_back(spec.key + "@" + spec.target);
  EXPECT_EQ(order, (Texts{"link.mtu@rail0", "link.mtu@rail1", "nccl.A@", "nccl.B@", "qos.pfc@rail0",
                          "qos.pfc@rail1"}));
  EXPECT_EQ(resolved.nodes.at("gpu-1").settings.id(), resolved.nodes.at("gpu-4").settings.id());
  EXPECT_NE(resolved.nodes.at("gpu-1").settings.id(), resolved.nodes.at("gpu-2").settings.id());
  EXPECT_EQ(resolved.nodes.at("gpu-2").settings.size(), 7U);
}

TEST(ResolveTest, TheSameProfileTwiceIsRefused) {
  EXPECT_EQ(ProblemsWith({P("a", "settings: {nccl.A: 1}\n"), P("a", "settings: {nccl.A: 1}\n")}),
            Texts{"p1.yaml:1:1: Profile \"a\" is declared twice (first at p0.yaml:1:1); rename one"});
}

TEST(ResolveTest, ProblemsHaveAnExcerptAndAreInTheOrderOfTheFiles) {
  std::vector<Document> documents = Documents(
      {{"c.yaml", kCluster}, {"p.yaml", P("a", "for: {role: gpus}\nsettings:\n  nccl.A: 1\n  nope: 1\n")}});
  const auto result = Resolve(documents, Declarations());
  const auto& problems = std::get<std::vector<Problem>>(result);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].excerpt, "  3 | for: {role: gpus}\n    |             ^~~~");
  EXPECT_EQ(problems[1].excerpt, "  6 |   nope: 1\n    |   ^~~~");
}

TEST(ResolveTest, AThousandProblemsAreCut) {
  std::string settings = "settings:\n";
  for (int i = 0; i < 1000; ++i) settings += "  nope" + std::to_string(i) + ": 1\n";
  const Texts problems = ProblemsWith({P("a", settings)});
  ASSERT_EQ(problems.size(), 101U);
  EXPECT_EQ(problems.back(), "more problems follow; the first 100 are shown");
}

}  // namespace
}  // namespace railwright
