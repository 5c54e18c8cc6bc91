#include "core/identity/authority.h"

#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

TEST(Authority, IsReadBackFromItsText) {
  const Authority one{.roles = {"approver", "operator"}, .scope = "role=gpu scope=* r1,r2"};
  EXPECT_EQ(one.Text(), "v1 roles=approver,operator scope=role=gpu scope=* r1,r2");
  EXPECT_EQ(Must(Authority::Parse(one.Text())), one);
}

TEST(Authority, NothingSaidNeverMeansEverything) {
  for (const std::string& bad :
       {std::string(), std::string("v1"), std::string("v1 roles= scope=*"),
        std::string("v1 roles=viewer scope="), std::string("v1 roles=viewer"), std::string("v1 scope=*"),
        std::string("v2 roles=viewer scope=*"), std::string("v1 roles=viewer,operator scope=*"),
        std::string("v1 roles=viewer,viewer scope=*"), std::string("v1 roles=viewer, scope=*"),
        std::string("v1 roles=,viewer scope=*"), std::string("v1 roles=Viewer scope=*"),
        std::string("v1  roles=viewer scope=*"), std::string("v1 roles=viewer scope=a\n"),
        std::string("v1 roles=viewer scope=\xc3\xa4"), "v1 roles=" + std::string(33, 'a') + " scope=*",
        "v1 roles=a scope=" + std::string(513, '*')})
    EXPECT_EQ(Authority::Parse(bad).status().code(), Code::kInvalidArgument) << bad;
  EXPECT_TRUE(Authority::Parse("v1 roles=a scope=" + std::string(512, '*')).ok());
  EXPECT_EQ((Authority{.roles = {"viewer"}, .scope = ""}).Text(), "");
  Authority many{.roles = {}, .scope = "*"};
  for (char c = 'a'; c <= 'q'; ++c) many.roles.emplace_back(1, c);
  EXPECT_FALSE(many.Check().ok()) << "17 roles";
  many.roles.pop_back();
  EXPECT_TRUE(many.Check().ok()) << "16 roles";
}

}  // namespace
}  // namespace railwright::identity
