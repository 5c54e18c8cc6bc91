// No bytes may crash, hang or silence the loader. The seed is fixed; the long search is in tests/fuzz.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <random>

#include "core/spec/loader.h"

namespace railwright {
namespace {

constexpr std::string_view kSeed = R"(kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[001-004]", role: gpu, rack: r1, labels: {a: b}}
ports:
  - name: rail0
    select: {pci: "0000:18:00.0"}
    role: fabric
    addresses:
      - "10.10.0.{index}/24"
---
kind: Profile
name: roce-lossless # why
for: {role: gpu}
mode: enforce
precedence: 10
settings:
  link.mtu: {fabric: 4200, rail1: [1, 2]}
  file.x: |
    one
    	two
  text: >-
    folded 'text' "here"
)";

constexpr std::array<std::string_view, 40> kPieces{
    "---\n",      "...\n",   "&a ",   "*a ",      "!!str ",  "!<x> ",
    "? ",         "- ",      ": ",    "[",        "]",       "{",
    "}",          "|\n",     "|+2\n", ">-\n",     "\"",      "'",
    "\\x",        "\\u0000", "\\UD8", "%YAML ",   "#",       "\t",
    "\r\n",       "\r",      "\n",    "\n  ",     ",",       "kind: Cluster\n",
    "<<: ",       "@",       "\x85",  "\xC3",     "[[[[[[[", "- - - - - - ",
    "? ? ? ? ? ", "{a: {",   "a: b:", "name: x\n"};

TEST(LoadDocumentsRandomTest, EveryMutationEndsInDocumentsOrProblems) {
  std::mt19937 random(20261130);
  const auto below = [&](std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(random()) % limit;
  };
  std::size_t good = 0, bad = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (int round = 0; round < 3000 && std::chrono::steady_clock::now() < end; ++round) {
    std::string text(kSeed);
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) {
      const std::size_t at = below(text.size() + 1);
      switch (below(5)) {
        case 0: text.insert(at, kPieces[below(kPieces.size())]); break;
        case 1:
          if (at < text.size()) text[at] = static_cast<char>(random());
          break;
        case 2: text.erase(at, below(20)); break;
        case 3: text.insert(below(text.size() + 1), text.substr(at, below(60))); break;
        default:
          if (below(8) == 0) text.resize(at);
      }
    }
    const Loaded loaded = LoadDocuments("f", text, 1 + static_cast<int>(below(3)));
    ASSERT_FALSE(loaded.documents.empty() && loaded.problems.empty()) << text;
    (loaded.problems.empty() ? good : bad) += 1;
    for (const Problem& problem : loaded.problems) {
      EXPECT_FALSE(problem.message.empty()) << text;
      EXPECT_TRUE(problem.line == 0 || !problem.excerpt.empty()) << problem.ToString() << "\n" << text;
    }
    for (const Document& document : loaded.documents) {
      const Loaded again = LoadDocuments("f", document.text, document.line);
      ASSERT_EQ(again.documents.size(), 1U) << document.text;
      EXPECT_EQ(again.documents[0].id(), document.id());
    }
  }
  // Both kinds must occur, or the mutations test nothing.
  EXPECT_GT(good, 20U);
  EXPECT_GT(bad, 200U);
}

}  // namespace
}  // namespace railwright
