#include "core/text/yaml.h"

#include <gtest/gtest.h>
#include <libfyaml.h>

#include <memory>
#include <random>

namespace railwright {
namespace {

using Json = nlohmann::ordered_json;

// What an independent YAML reader makes of `text`, as JSON. Plain scalars are resolved by libfyaml's JSON
// mode.
Json Read(const std::string& text) {
  const std::unique_ptr<fy_document, decltype(&fy_document_destroy)> document(
      fy_document_build_from_string(nullptr, text.data(), text.size()), &fy_document_destroy);
  if (document == nullptr) return "no YAML: " + text;
  char* emitted = fy_emit_document_to_string(
      document.get(), static_cast<fy_emitter_cfg_flags>(FYECF_MODE_JSON_ONELINE | FYECF_WIDTH_INF));
  if (emitted == nullptr) return "cannot be written: " + text;
  Json value = Json::parse(emitted, nullptr, false);
  free(emitted);
  return value.is_discarded() ? Json("no JSON from: " + text) : value;
}

TEST(ToYaml, StringsThatAReaderCouldMistakeAreQuoted) {
  for (const char* text : {"",     "no",   "Yes",  "on",       "OFF",      "null",        "~",         "true",
                           "017",  "1500", "1e5",  "0x1f",     "12:30:45", "2026-11-30",  "-",         "- x",
                           "a: b", "a #b", "#x",   "&a",       "*a",       "!t",          "[a]",       "{a}",
                           "%x",   "@x",   "`x",   " lead",    "trail ",   "end:",        "tab\there", ".inf",
                           "+1",   "=",    "<<",   "?",        "|",        ">",           "'",         "\"",
                           "y",    "N",    "\x7f", "\xc2\x85", "é",        "10.10.0.1/24"}) {
    const std::string yaml = ToYaml(Json{{"key", text}});
    EXPECT_TRUE(yaml.starts_with("key: \"")) << yaml;
    EXPECT_EQ(Read(yaml), (Json{{"key", text}})) << yaml;
  }
}

TEST(ToYaml, PlainTextStaysPlain) {
  EXPECT_EQ(ToYaml(Json{{"key", "link.mtu"}, {"place", "site.yaml:14:5"}, {"text", "is not so (yet)"}}),
            "key: link.mtu\nplace: site.yaml:14:5\ntext: is not so (yet)\n");
}

TEST(ToYaml, NestsListsAndMaps) {
  const Json value{{"nodes", {{{"name", "gpu-001"}, {"findings", Json::array()}}, {{"name", "gpu-002"}}}},
                   {"rows", {{1, 2}, {3}}},
                   {"none", nullptr},
                   {"empty", Json::object()}};
  EXPECT_EQ(ToYaml(value),
            "nodes:\n"
            "  - name: gpu-001\n"
            "    findings: []\n"
            "  - name: gpu-002\n"
            "rows:\n"
            "  - - 1\n"
            "    - 2\n"
            "  - - 3\n"
            "none: null\n"
            "empty: {}\n");
  EXPECT_EQ(Read(ToYaml(value)), value);
}

TEST(ToYaml, SeveralLinesAreALiteralBlock) {
  EXPECT_EQ(ToYaml(Json{{"text", "kind: Profile\n  x\n\ny"}}), "text: |-\n  kind: Profile\n    x\n\n  y\n");
  for (const char* text :
       {"a\nb", "a\nb\n", "a\nb\n\n", "a\n\nb", "a\n", " a\nb", "\na", "\n", "a\n\tb", "a\r\nb"}) {
    EXPECT_EQ(Read(ToYaml(Json{{"text", text}, {"next", 1}})), (Json{{"text", text}, {"next", 1}})) << text;
    EXPECT_EQ(Read(ToYaml(Json::array({text, "x"}))), Json::array({text, "x"})) << text;
  }
}

TEST(ToYaml, ATopLevelScalarIsOneLine) {
  EXPECT_EQ(ToYaml(Json(3)), "3\n");
  EXPECT_EQ(ToYaml(Json::array()), "[]\n");
  EXPECT_EQ(ToYaml(Json("two\nlines\n")), "|\n  two\n  lines\n");
}

TEST(ToYaml, InvalidUtf8IsReplacedNotThrown) {
  EXPECT_EQ(ToYaml(Json{{"name", "a\xff"}}), "name: \"a\xef\xbf\xbd\"\n");
  EXPECT_EQ(ToJsonText(Json("a\xff")), "\"a\xef\xbf\xbd\"\n");
}

// Random values made of awkward pieces, read back by a reader that is not ours.
Json Any(std::mt19937& random, int depth) {
  static const char* const kPieces[]{"a", ":",  " ", "#",  "-", "\n", "\"", "'",
                                     "1", "no", "é", "\t", "{", "]",  "\\", "%"};
  const auto pick = [&](unsigned n) { return random() % n; };
  if (depth > 0 && pick(3) == 0) {
    Json list = Json::array();
    for (auto i = pick(4); i > 0; --i) list.push_back(Any(random, depth - 1));
    return list;
  }
  if (depth > 0 && pick(2) == 0) {
    Json map = Json::object();
    for (auto i = pick(4); i > 0; --i) map["k" + std::to_string(i)] = Any(random, depth - 1);
    return map;
  }
  switch (pick(5)) {
    case 0: return nullptr;
    case 1: return pick(2) == 0;
    case 2: return static_cast<int>(pick(10'000));
    default: {
      std::string text;
      for (auto i = pick(6); i > 0; --i) text += kPieces[pick(16)];
      return text;
    }
  }
}

TEST(ToYaml, AnotherReaderGivesTheSameValuesBack) {
  std::mt19937 random(20261130);
  for (int i = 0; i < 3000; ++i) {
    const Json value{{"v", Any(random, 3)}};
    const std::string yaml = ToYaml(value);
    ASSERT_EQ(Read(yaml), value) << yaml;
  }
}

}  // namespace
}  // namespace railwright
