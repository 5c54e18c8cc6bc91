// Good documents: what comes out, and where it says it came from.
#include "core/spec/loader.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace railwright {
namespace {

// The house plan's own sample.
constexpr std::string_view kSample = R"(kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[001-004]", role: gpu, rack: r1}
ports:
  - {name: rail0, select: {pci: "0000:18:00.0"}, role: fabric, address: "10.10.0.{index}/24"}
  - {name: rail1, select: {pci: "0000:3b:00.0"}, role: fabric, address: "10.11.0.{index}/24"}
  - {name: mgmt,  select: {netdev: eno1},        role: management}
---
kind: Profile
name: roce-lossless
for: {role: gpu}
mode: enforce
settings:
  link.mtu: {fabric: 4200}
  qos.pfc: {fabric: [3]}
  dcqcn.rpg_ai_rate: {fabric: 5}
  sysctl.net.ipv4.conf.all.arp_ignore: 1
)";

std::vector<Document> Good(std::string_view text, int first_line = 1) {
  Loaded loaded = LoadDocuments("site.yaml", text, first_line);
  for (const Problem& problem : loaded.problems)
    ADD_FAILURE() << problem.ToString() << "\n" << problem.excerpt;
  return std::move(loaded.documents);
}

v1::Profile GoodProfile(std::string_view text) {
  const auto documents = Good(text);
  if (documents.size() != 1 || !std::holds_alternative<v1::Profile>(documents[0].body)) {
    ADD_FAILURE() << "not one Profile";
    return {};
  }
  return std::get<v1::Profile>(documents[0].body);
}

TEST(LoadDocumentsTest, TheSampleOfTheHousePlanIsRead) {
  const auto documents = Good(kSample);
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].id(), "Cluster/pod-a");
  EXPECT_EQ(documents[1].id(), "Profile/roce-lossless");
  EXPECT_EQ(documents[1].file, "site.yaml");
  const auto& cluster = std::get<v1::Cluster>(documents[0].body);
  EXPECT_EQ(cluster.nodes(0).name(), "gpu-[001-004]");
  ASSERT_EQ(cluster.ports_size(), 3);
  EXPECT_EQ(cluster.ports(0).select().pci(), "0000:18:00.0");
  EXPECT_EQ(cluster.ports(2).select().netdev(), "eno1");
  const auto& profile = std::get<v1::Profile>(documents[1].body);
  EXPECT_EQ(profile.for_().role(), "gpu");
  ASSERT_EQ(profile.settings_size(), 4);
  EXPECT_EQ(profile.settings(1).key(), "qos.pfc");
  const v1::TextMapEntry& fabric = profile.settings(1).value().map().entries(0);
  EXPECT_EQ(fabric.key(), "fabric");
  EXPECT_EQ(fabric.value().list().items(0), "3");
  EXPECT_EQ(profile.settings(3).value().scalar(), "1");
}

TEST(LoadDocumentsTest, MarksAndPlacesPointAtTheFile) {
  const auto documents = Good(kSample);
  const auto& cluster = std::get<v1::Cluster>(documents[0].body);
  EXPECT_EQ(cluster.ports(1).mark().file(), "site.yaml");
  EXPECT_EQ(cluster.ports(1).mark().line(), 7U);
  EXPECT_EQ(cluster.ports(1).mark().column(), 5U);
  EXPECT_EQ(documents[0].places.Of(cluster.ports(1).mark(), v1::PortDecl::kAddressFieldNumber),
            (Place{7, 73}));
  // A value that was not written has its owner's place.
  EXPECT_EQ(documents[0].places.Of(cluster.ports(2).mark(), v1::PortDecl::kAddressFieldNumber),
            (Place{8, 5}));
  const auto& profile = std::get<v1::Profile>(documents[1].body);
  EXPECT_EQ(profile.settings(0).mark().line(), 15U);
  EXPECT_EQ(profile.settings(0).mark().column(), 3U);
  EXPECT_EQ(profile.settings(0).value().map().entries(0).value().mark().column(), 22U);
}

TEST(LoadDocumentsTest, PlacesOfItemsAndOfMapValuesAreKept) {
  const auto documents = Good(
      "kind: Cluster\n"
      "name: a\n"
      "nodes:\n"
      "  - name: n1\n"
      "    labels:\n"
      "      zone: z\n"
      "      pool: p\n"
      "subnets:\n"
      "  - 10.0.0.0/24\n"
      "  - 10.0.1.0/24\n");
  const auto& cluster = std::get<v1::Cluster>(documents[0].body);
  const auto& places = documents[0].places;
  EXPECT_EQ(places.Of(cluster.nodes(0).mark(), v1::NodeDecl::kLabelsFieldNumber, Places::Key("pool")),
            (Place{7, 13}));
  EXPECT_EQ(places.Of(cluster.mark(), v1::Cluster::kSubnetsFieldNumber, Places::Index(1)), (Place{10, 5}));
}

// A stored document is read again with the line it began at, and says the same places.
TEST(LoadDocumentsTest, ADocumentsOwnTextReadAgainGivesTheSame) {
  const std::string text =
      "# head\n\n" + std::string(kSample) + "\n\n---\n# about b\nkind: Profile\nname: b\n\n\n";
  for (const Document& document : Good(text)) {
    const auto again = Good(document.text, document.line);
    ASSERT_EQ(again.size(), 1U) << document.text;
    EXPECT_EQ(again[0].id(), document.id());
    EXPECT_EQ(again[0].text, document.text);
    EXPECT_EQ(again[0].line, document.line);
    const auto bytes = [](const Document& d) {
      return std::visit([](const auto& body) { return body.ShortDebugString(); }, d.body);
    };
    EXPECT_EQ(bytes(again[0]), bytes(document));
  }
}

TEST(LoadDocumentsTest, ADocumentsTextHasNoBlankTailSoThatMovingItChangesNothing) {
  const auto a = Good("kind: Profile\nname: a\n");
  const auto c = Good("kind: Profile\nname: z\n---\nkind: Profile\nname: a\n\n \n\n");
  EXPECT_EQ(a[0].text, "kind: Profile\nname: a\n");
  EXPECT_EQ(c[1].text, a[0].text);
  EXPECT_EQ(c[1].line, 4);
}

TEST(LoadDocumentsTest, BlankLinesBeforeADocumentAreNoneOfItButItsCommentsAre) {
  const auto a = Good("kind: Profile\nname: a\n");
  for (const std::string head : {"\n", " \t\n\n", "\r\n", "---\n\n", "# of another\n...\n\n\n"}) {
    const auto moved = Good(head + a[0].text);
    ASSERT_EQ(moved.size(), 1U) << head;
    EXPECT_EQ(moved[0].text, a[0].text) << head;
    EXPECT_EQ(moved[0].line, 1 + std::count(head.begin(), head.end(), '\n')) << head;
    const v1::Mark& mark = std::get<v1::Profile>(moved[0].body).mark();
    EXPECT_EQ(static_cast<int>(mark.line()), moved[0].line) << head;
  }
  const auto commented = Good("\n# of a\n\nkind: Profile\nname: a\n");
  EXPECT_EQ(commented[0].text, "# of a\n\nkind: Profile\nname: a\n");
  EXPECT_EQ(commented[0].line, 2);
}

TEST(LoadDocumentsTest, ScalarsStayWhatWasWritten) {
  const auto profile = GoodProfile(
      "kind: Profile\n"
      "name: a\n"
      "settings:\n"
      "  a: 017\n"
      "  b: no\n"
      "  c: 1e3\n"
      "  d: 0x10\n"
      "  e: ~\n"
      "  f: null\n"
      "  g: 1_000\n"
      "  h: 2026-11-30\n"
      "  i: \"\"\n"
      "  j: 'it''s'\n"
      "  k: \"a\\tb\\u00fc\"\n"
      "  l: |\n"
      "    #!/bin/sh\n"
      "    \tls\n"
      "  m: >-\n"
      "    one\n"
      "    line\n"
      "  n: [017, no]\n"
      "  o: {p: 012, q: [off]}\n");
  const char* expected[] = {"017",     "no",   "1e3",          "0x10",
                            "~",       "null", "1_000",        "2026-11-30",
                            "",        "it's", "a\tb\xC3\xBC", "#!/bin/sh\n\tls\n",
                            "one line"};
  for (int i = 0; i < 13; ++i)
    EXPECT_EQ(profile.settings(i).value().scalar(), expected[i]) << profile.settings(i).key();
  EXPECT_EQ(profile.settings(13).value().list().items(0), "017");
  EXPECT_EQ(profile.settings(14).value().map().entries(0).value().scalar(), "012");
  EXPECT_EQ(profile.settings(14).value().map().entries(1).value().list().items(0), "off");
}

TEST(LoadDocumentsTest, FieldsOfNumbersAreReadAsNumbers) {
  EXPECT_EQ(GoodProfile("kind: Profile\nname: a\nprecedence: -20\n").precedence(), -20);
  EXPECT_EQ(GoodProfile("kind: Profile\nname: a\nprecedence: \"7\"\n").precedence(), 7);
  EXPECT_EQ(GoodProfile("kind: Profile\nname: a\nprecedence: 2147483647\n").precedence(), 2147483647);
  EXPECT_EQ(GoodProfile("kind: Profile\nname: a\nprecedence: 0\n").precedence(), 0);
}

TEST(LoadDocumentsTest, OrderOfFieldsAndStyleDoNotMatter) {
  const auto documents = Good("{name: a, settings: {}, \"kind\": Profile}");
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0].id(), "Profile/a");
}

TEST(LoadDocumentsTest, WindowsFilesAreRead) {
  const auto documents = Good("\xEF\xBB\xBFkind: Profile\r\nname: a\r\n---\r\nkind: Profile\r\nname: b\r\n");
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].name, "a");
  EXPECT_EQ(documents[1].name, "b");
  EXPECT_EQ(documents[1].line, 4);
}

TEST(LoadDocumentsTest, MarkersAndCommentsAroundDocuments) {
  const auto documents = Good(
      "# of the lab\n"
      "--- # first\n"
      "kind: Profile\n"
      "name: a # a name\n"
      "...\n"
      "# between\n"
      "---\n"
      "kind: Profile\n"
      "name: b--- \n"
      "--- {kind: Profile, name: c}\n");
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].line, 3);
  EXPECT_EQ(documents[1].name, "b---");
  EXPECT_EQ(documents[1].line, 8);
  EXPECT_EQ(documents[2].name, "c");
  EXPECT_EQ(documents[2].line, 10);
}

TEST(LoadDocumentsTest, ManyNodesAreReadFastEnough) {
  std::string text = "kind: Cluster\nname: big\nnodes:\n";
  for (int i = 0; i < 10000; ++i)
    text +=
        "  - {name: n" + std::to_string(i) + ", role: gpu, addresses: {r0: 10.0.0.1/8, r1: 10.0.0.2/8}}\n";
  const auto documents = Good(text);
  EXPECT_EQ(std::get<v1::Cluster>(documents.at(0).body).nodes_size(), 10000);
}

}  // namespace
}  // namespace railwright
