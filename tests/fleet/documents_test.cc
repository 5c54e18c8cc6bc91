// Applying documents over those in force, and what is released and restored.
#include "controller/fleet/documents.h"

#include "tests/fleet/documents_of_tests.h"

namespace railwright {
namespace {

using Texts = std::vector<std::string>;

std::string P(const std::string& name, const std::string& settings) {
  return "kind: Profile\nname: " + name + "\nmode: enforce\nsettings: {" + settings + "}\n";
}
const std::string kCluster =
    "kind: Cluster\nname: pod\nnodes: [{name: 'a[1-2]'}]\nports: [{name: r0, select: {netdev: e0}, role: "
    "fabric}]\n";

std::vector<Document> Files(const std::string& text, const std::string& file = "f.yaml") {
  return Documents({{file, text}});
}

DocumentChanges Applied(const std::vector<Document>& present, std::vector<Document> given,
                        bool prune = false) {
  auto result = ApplyDocuments(present, std::move(given), prune);
  if (std::holds_alternative<DocumentChanges>(result)) return std::get<DocumentChanges>(std::move(result));
  ADD_FAILURE() << "refused";
  return {};
}

Texts Ids(const std::vector<Document>& documents) {
  Texts out;
  for (const Document& document : documents)
    out.push_back(document.id() + "@" + document.file + ":" + std::to_string(document.line));
  return out;
}

TEST(ApplyDocumentsTest, WhatIsNamedIsReplacedAndTheRestStays) {
  const auto present =
      Files(kCluster + "---\n" + P("a", "nccl.A: 1") + "---\n" + P("b", "nccl.B: 1"), "old.yaml");
  const auto changes =
      Applied(present, Files(P("c", "nccl.C: 1") + "---\n" + P("a", "nccl.A: 2"), "new.yaml"));
  EXPECT_EQ(changes.added, Texts{"Profile/c"});
  EXPECT_EQ(changes.changed, Texts{"Profile/a"});
  EXPECT_EQ(changes.removed, Texts{});
  EXPECT_EQ(Ids(changes.next), (Texts{"Cluster/pod@old.yaml:1", "Profile/a@new.yaml:6",
                                      "Profile/b@old.yaml:11", "Profile/c@new.yaml:1"}));
}

TEST(ApplyDocumentsTest, PruneRemovesWhatIsNotNamed) {
  const auto present = Files(kCluster + "---\n" + P("a", "nccl.A: 1") + "---\n" + P("b", "nccl.B: 1"));
  const auto changes = Applied(present, Files(kCluster + "---\n" + P("a", "nccl.A: 1")), true);
  EXPECT_EQ(changes.removed, Texts{"Profile/b"});
  EXPECT_EQ(changes.added, Texts{});
  EXPECT_EQ(changes.changed, Texts{});
  EXPECT_EQ(changes.next.size(), 2U);
}

TEST(ApplyDocumentsTest, AMovedDocumentIsNotChangedButKnowsItsNewPlace) {
  const auto present = Files(P("a", "nccl.A: 1"), "old.yaml");
  const auto changes = Applied(present, Files("# moved\n---\n" + P("a", "nccl.A: 1"), "new.yaml"));
  EXPECT_TRUE(changes.empty());
  EXPECT_EQ(Ids(changes.next), Texts{"Profile/a@new.yaml:3"});
}

TEST(ApplyDocumentsTest, TheSameDocumentInTwoFilesIsRefused) {
  const auto result = ApplyDocuments(
      {}, Documents({{"a.yaml", P("x", "nccl.A: 1")}, {"b.yaml", "\n" + P("x", "nccl.A: 1")}}), false);
  const auto& problems = std::get<std::vector<Problem>>(result);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].ToString(),
            "b.yaml:2:1: Profile \"x\" is declared twice (first at a.yaml:1:1); rename one");
}

std::string Shown(const std::vector<NodeKey>& keys) {
  std::string out;
  for (const auto& [node, at] : keys) out += node + ":" + at.key + "@" + at.target + " ";
  return out;
}

Resolved State(const std::string& documents) { return Good({{"f.yaml", kCluster + documents}}); }

TEST(ReleasedTest, WhatIsNoLongerDeclaredIsReleasedOnNodesThatStay) {
  const Resolved before = State("---\n" + P("a", "nccl.A: 1, link.mtu: 4200"));
  EXPECT_EQ(Shown(Released(before, State("---\n" + P("a", "nccl.A: 2")))), "a1:link.mtu@r0 a2:link.mtu@r0 ");
  EXPECT_EQ(Shown(Released(before, before)), "");
  const Resolved smaller = Good({{"f.yaml", "kind: Cluster\nname: pod\nnodes: [{name: a2}]\n"}});
  EXPECT_EQ(Shown(Released(before, smaller)), "a2:link.mtu@r0 a2:nccl.A@ ");
  EXPECT_EQ(RemovedNodes(before, smaller), Texts{"a1"});
}

TEST(RestoresTest, TheyAddUpUntilDeclaredAgain) {
  const Resolved both = State("---\n" + P("a", "nccl.A: 1, nccl.B: 1"));
  const Resolved only_b = State("---\n" + P("a", "nccl.B: 1"));
  const Resolved none = State("");
  const auto first = Restores({}, both, only_b, true);
  EXPECT_EQ(Shown(first), "a1:nccl.A@ a2:nccl.A@ ");
  // Not asked for: what is dropped now stays as it is, what was to be restored still is.
  EXPECT_EQ(Shown(Restores(first, only_b, none, false)), "a1:nccl.A@ a2:nccl.A@ ");
  EXPECT_EQ(Shown(Restores(first, only_b, none, true)), "a1:nccl.A@ a1:nccl.B@ a2:nccl.A@ a2:nccl.B@ ");
  EXPECT_EQ(Shown(Restores(first, only_b, both, true)), "");
  const Resolved smaller = Good({{"f.yaml", "kind: Cluster\nname: pod\nnodes: [{name: a2}]\n"}});
  EXPECT_EQ(Shown(Restores(first, only_b, smaller, false)), "a2:nccl.A@ ");
}

TEST(GroupPayloadsTest, NodesWithTheSameSettingsAreOneGroup) {
  const Resolved resolved =
      Good({{"f.yaml", kCluster + "---\nkind: Cluster\nname: pod2\nnodes: [{name: b1}]\n---\n" +
                           P("a", "nccl.A: 1") +
                           "---\nkind: Profile\nname: own\nfor: {nodes: [a2]}\nsettings: {nccl.B: 1}\n"}});
  Texts shown;
  for (const PayloadGroup& group : GroupPayloads(resolved)) {
    std::string text = group.cluster + " " + std::to_string(group.settings.size());
    for (const ResolvedNode* node : group.nodes) text += " " + node->node.name;
    shown.push_back(text);
  }
  EXPECT_EQ(shown, (Texts{"pod 1 a1", "pod 2 a2", "pod2 1 b1"}));
}

}  // namespace
}  // namespace railwright
