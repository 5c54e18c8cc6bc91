// Every document that we ship is read and fits the settings of this build.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "controller/fleet/resolve.h"

namespace railwright {
namespace {

namespace fs = std::filesystem;

// YAML files below templates/ and deploy/ whose first document names a kind.
std::vector<fs::path> Shipped() {
  std::vector<fs::path> out;
  for (const char* folder : {"templates", "deploy"}) {
    const fs::path root = fs::path(RAILWRIGHT_SOURCE_DIR) / folder;
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.path().extension() == ".yaml") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool HasKind(const std::string& text) {
  return text.starts_with("kind:") || text.find("\nkind:") != std::string::npos;
}

// A cluster in which every selector of the profiles finds a node with fabric, storage and management ports.
std::string ClusterFor(const std::vector<Document>& documents) {
  std::set<std::string> roles{"gpu"};
  for (const Document& document : documents)
    if (const auto* profile = std::get_if<v1::Profile>(&document.body))
      if (!profile->for_().role().empty()) roles.insert(profile->for_().role());
  std::string text = "kind: Cluster\nname: of-this-test\nnodes:\n";
  for (const std::string& role : roles) text += "  - {name: node-" + role + ", role: \"" + role + "\"}\n";
  return text +
         "ports:\n"
         "  - {name: rail0, select: {netdev: e0}, role: fabric, address: '10.10.0.{index}/24'}\n"
         "  - {name: rail1, select: {netdev: e1}, role: fabric, address: '10.11.0.{index}/24'}\n"
         "  - {name: st0, select: {netdev: e2}, role: storage}\n"
         "  - {name: mgmt, select: {netdev: e3}, role: management}\n";
}

TEST(ShippedDocumentsTest, EveryOneIsReadAndResolves) {
  const CatalogDeclarations catalog;
  std::size_t seen = 0;
  for (const fs::path& path : Shipped()) {
    const std::string text = Read(path);
    if (!HasKind(text)) continue;
    ++seen;
    Loaded loaded = LoadDocuments(path.filename().string(), text);
    for (const Problem& problem : loaded.problems)
      ADD_FAILURE() << path << "\n" << problem.ToString() << "\n" << problem.excerpt;
    const bool has_cluster = std::any_of(loaded.documents.begin(), loaded.documents.end(),
                                         [](const Document& d) { return d.kind == "Cluster"; });
    if (!has_cluster) {
      Loaded cluster = LoadDocuments("cluster.yaml", ClusterFor(loaded.documents));
      ASSERT_EQ(cluster.documents.size(), 1U);
      loaded.documents.push_back(std::move(cluster.documents[0]));
    }
    const auto result = Resolve(loaded.documents, catalog);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&result)) {
      for (const Problem& problem : *problems)
        ADD_FAILURE() << path << "\n" << problem.ToString() << "\n" << problem.excerpt;
      continue;
    }
    for (const std::string& warning : std::get<Resolved>(result).warnings)
      EXPECT_TRUE(!has_cluster) << path << ": " << warning;
  }
  EXPECT_GT(seen, 0U) << "no document was found below templates/ and deploy/ of " << RAILWRIGHT_SOURCE_DIR;
}

}  // namespace
}  // namespace railwright
