// One name, one type: two of one name are undefined behaviour in any program that links both, and no tool
// says so.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/repo/tree.h"

namespace railwright::repo {
namespace {

/// Types that `text` defines at namespace scope, outside unnamed namespaces: "railwright::fleet::Cidr".
std::set<std::string> TypesOf(const std::string& text) {
  static const std::regex opens(R"(^\s*(inline\s+)?namespace\s*([\w:]*)\s*\{)");
  static const std::regex closes(R"(^\}\s*// namespace)");
  static const std::regex type(R"(^(class|struct|enum class|union)\s+(\w+)\s*(final)?\s*(:[^:;]*)?\{)");
  std::vector<std::string> spaces;
  std::set<std::string> types;
  for (const std::string& line : LinesOf(text)) {
    std::smatch match;
    if (std::regex_search(line, closes)) {
      if (!spaces.empty()) spaces.pop_back();
    } else if (std::regex_search(line, match, opens)) {
      spaces.push_back(match[2]);
    } else if (std::regex_search(line, match, type)) {
      std::string name;
      bool unnamed = false;
      for (const std::string& space : spaces) {
        unnamed = unnamed || space.empty();
        name += space + "::";
      }
      if (!unnamed) types.insert(name + match[2].str());
    }
  }
  return types;
}

TEST(TypesTest, ATypeIsFoundInItsNamespace) {
  EXPECT_EQ(TypesOf("namespace a {\nnamespace {\nstruct X {\n};\n}  // namespace\nstruct Y {\n};\nclass Z "
                    "final : public Y {\n};\n"
                    "struct Forward;\nenum class E : int { k };\nnamespace b::c {\nstruct X {\n};\n}  // "
                    "namespace b::c\n}  // namespace a\n"),
            (std::set<std::string>{"a::Y", "a::Z", "a::E", "a::b::c::X"}));
}

TEST(TypesTest, NoTypeOfTheProductIsDefinedTwice) {
  std::map<std::string, std::string> where;
  for (const std::string folder : {"include", "core", "agent", "controller"})
    for (const std::string& file : FilesBelow(folder, {".cc", ".h"}))
      for (const std::string& type : TypesOf(ReadText(Root() / file))) {
        const auto [it, fresh] = where.emplace(type, file);
        EXPECT_TRUE(fresh) << type << " is defined in " << it->second << " and in " << file;
      }
  EXPECT_GT(where.size(), 200u) << "the walk saw too few types to mean anything";
}

}  // namespace
}  // namespace railwright::repo
