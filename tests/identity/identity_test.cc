#include "core/identity/identity.h"

#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

constexpr const char* kUuid = "0f8fad5b-d9cb-469f-a165-708677289501";

TEST(SpiffeId, ThreeFormsAreReadAndWritten) {
  const auto node = SpiffeId::Node(Cluster(), Uuid());
  EXPECT_EQ(node.Uri(), std::string("spiffe://pod-a/node/") + kUuid);
  const auto oper = SpiffeId::Operator(Cluster(), Must(OperatorName::Parse("ada.l")));
  EXPECT_EQ(oper.Uri(), "spiffe://pod-a/operator/ada.l");
  const auto controller = SpiffeId::Controller(Cluster());
  EXPECT_EQ(controller.Uri(), "spiffe://pod-a/controller");
  for (const SpiffeId& one : {node, oper, controller}) EXPECT_EQ(Must(SpiffeId::Parse(one.Uri())), one);
  const SpiffeId read = Must(SpiffeId::Parse(node.Uri()));
  EXPECT_EQ(read.party(), Party::kNode);
  EXPECT_EQ(read.name(), kUuid);
  EXPECT_EQ(read.cluster().text(), "pod-a");
}

TEST(SpiffeId, NothingElseIsRead) {
  const std::string node = std::string("spiffe://pod-a/node/") + kUuid;
  for (const std::string& bad :
       std::vector<std::string>{"",
                                "spiffe://",
                                "spiffe://pod-a",
                                "spiffe://pod-a/",
                                "spiffe://pod-a/node",
                                "spiffe://pod-a/node/",
                                "spiffe:///controller",
                                "SPIFFE://pod-a/controller",
                                "http://pod-a/controller",
                                "spiffe:/pod-a/controller",
                                "spiffe://Pod-a/controller",
                                "spiffe://pod.a/controller",
                                "spiffe://pod_a/controller",
                                "spiffe://pod-a:443/controller",
                                "spiffe://x@pod-a/controller",
                                "spiffe://pod-a/controller/",
                                "spiffe://pod-a//controller",
                                "spiffe://pod-a/Controller",
                                "spiffe://pod-a/controller?x",
                                "spiffe://pod-a/controller#x",
                                "spiffe://pod-a/controller ",
                                " spiffe://pod-a/controller",
                                "spiffe://pod-a/%63ontroller",
                                "spiffe://pod-a/controllers",
                                "spiffe://pod-a/operator/",
                                "spiffe://pod-a/operator/.",
                                "spiffe://pod-a/operator/..",
                                "spiffe://pod-a/operator/a/b",
                                "spiffe://pod-a/operator/Ada",
                                "spiffe://pod-a/operator/ada%2e",
                                "spiffe://pod-a/admin/ada",
                                node + "/",
                                node + "0",
                                node.substr(0, node.size() - 1),
                                "spiffe://pod-a/node/00000000-0000-0000-0000-000000000000",
                                "spiffe://pod-a/node/0F8FAD5B-D9CB-469F-A165-708677289501",
                                "spiffe://pod-a/node/0f8fad5bd9cb469fa165708677289501",
                                "spiffe://pod-a/node/{0f8fad5b-d9cb-469f-a165-7086772895}",
                                std::string("spiffe://pod-a/controller\0", 26),
                                std::string("spiffe://pod-a\0x/controller", 27)})
    EXPECT_EQ(SpiffeId::Parse(bad).status().code(), Code::kInvalidArgument) << bad;
}

TEST(ClusterName, Has1To63Characters) {
  EXPECT_TRUE(ClusterName::Parse("a").ok());
  EXPECT_TRUE(ClusterName::Parse(std::string(63, '9')).ok());
  EXPECT_FALSE(ClusterName::Parse("").ok());
  EXPECT_FALSE(ClusterName::Parse(std::string(64, 'a')).ok());
}

TEST(OperatorName, Has1To64Characters) {
  EXPECT_TRUE(OperatorName::Parse("a_b-c.9").ok());
  EXPECT_TRUE(OperatorName::Parse("...").ok());
  EXPECT_TRUE(OperatorName::Parse(std::string(64, 'z')).ok());
  EXPECT_FALSE(OperatorName::Parse(std::string(65, 'z')).ok());
  ExpectRefused(OperatorName::Parse("ada\n"), Code::kInvalidArgument, "ada\\n");
}

}  // namespace
}  // namespace railwright::identity
