// Bad documents: the exact sentences, because operators and scripts read them.
#include <gtest/gtest.h>

#include "core/spec/loader.h"

namespace railwright {
namespace {

std::vector<std::string> Sentences(std::string_view text) {
  std::vector<std::string> out;
  for (const Problem& problem : LoadDocuments("f", text).problems) out.push_back(problem.ToString());
  return out;
}

struct Case {
  std::string text;
  std::vector<std::string> problems;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(Sentences(one.text), one.problems) << one.text;
}

std::string P(const std::string& rest) { return "kind: Profile\nname: a\n" + rest; }
std::string C(const std::string& rest) { return "kind: Cluster\nname: a\n" + rest; }
std::string R(const std::string& rest) { return "kind: RolloutPolicy\nname: a\n" + rest; }

TEST(LoaderProblemsTest, TheDocumentAsAWhole) {
  const std::string kinds = "\"kind: Cluster\", \"kind: Profile\" or \"kind: RolloutPolicy\"";
  const std::string next = "; begin the document with " + kinds;
  const std::string none = "f: the file holds no document; begin one with " + kinds;
  const std::string later = " is not supported by this version; it reads Cluster, Profile and RolloutPolicy";
  Check({
      {"", {none}},
      {"# only\n\n# comments\n", {none}},
      {P("---\n"), {"f:3:1: no document follows this \"---\"; remove the line or write one"}},
      {"---\n---\n" + P(""), {"f:1:1: no document follows this \"---\"; remove the line or write one"}},
      {"- a\n", {"f:1:1: a document must be a map, found a list" + next}},
      {"hello\n", {"f:1:1: a document must be a map, found \"hello\"" + next}},
      {"name: a\n", {"f:1:1: missing \"kind\"" + next}},
      {"kind:\nname: a\n", {"f:1:1: kind: expected Cluster, Profile or RolloutPolicy, found nothing"}},
      {"kind: [Profile]\n", {"f:1:7: kind: expected Cluster, Profile or RolloutPolicy, found a list"}},
      {"kind: Profil\nname: a\n", {"f:1:7: unknown kind \"Profil\"; did you mean \"Profile\"?"}},
      {"kind: RolloutPolicies\n",
       {"f:1:7: unknown kind \"RolloutPolicies\"; did you mean \"RolloutPolicy\"?"}},
      {"kind: Deployment\n",
       {"f:1:7: unknown kind \"Deployment\"; known are: Cluster, Profile, RolloutPolicy"}},
      {"kind: Topology\nname: a\n", {"f:1:7: kind Topology" + later}},
      {"kind: SwitchProfile\n", {"f:1:7: kind SwitchProfile" + later}},
      {"kind: Playbook\n", {"f:1:7: kind Playbook" + later}},
      {"kind: CompatibilityRules\n", {"f:1:7: kind CompatibilityRules" + later}},
      {"kind: AcceptancePlan\n", {"f:1:7: kind AcceptancePlan" + later}},
      {P("---\n") + P(""), {"f:4:1: Profile \"a\" is declared twice (first at line 1); rename one"}},
  });
}

TEST(LoaderProblemsTest, Fields) {
  Check({
      {P("precedense: 3\n"), {"f:3:1: unknown field \"precedense\"; did you mean \"precedence\"?"}},
      {P("colour: red\n"),
       {"f:3:1: unknown field \"colour\"; known are: name, for, mode, settings, precedence, max_disruption"}},
      // The loader's own field is no field of the operator.
      {P("mark: {line: 1}\n"),
       {"f:3:1: unknown field \"mark\"; known are: name, for, mode, settings, precedence, max_disruption"}},
      // An empty condition would be none at all, and select every node.
      {P("for: {role: \"\"}\n"), {"f:3:13: role: must not be empty"}},
      {P("for: {nodes: []}\n"), {"f:3:14: nodes: must not be empty; leave it out"}},
      {P("for: {labels: {}}\n"), {"f:3:15: labels: must not be empty; leave it out"}},
      {P("for: {nodes: [\"\"]}\n"), {"f:3:15: nodes[0]: must not be empty"}},
      {P("for: {rol: gpu}\n"), {"f:3:7: unknown field \"rol\"; did you mean \"role\"?"}},
      {P("mode: enforced\n"), {"f:3:7: mode: unknown value \"enforced\"; did you mean \"enforce\"?"}},
      {P("mode: yes\n"), {"f:3:7: mode: unknown value \"yes\"; allowed are: observe, enforce"}},
      {"kind: Profile\n", {"f:1:1: missing \"name\" (a text)"}},
      {"kind: Profile\nname:\n", {"f:2:1: name: must not be empty"}},
      {"kind: Profile\nname: \"\"\n", {"f:2:7: name: must not be empty"}},
      {"kind: Profile\nname: a b\n",
       {"f:2:7: name: \"a b\" is no name; letters, digits, \"-\", \"_\" and \".\" are allowed, first a "
        "letter or digit, 63 at most"}},
      {"kind: Profile\nname: ../a\n",
       {"f:2:7: name: \"../a\" is no name; letters, digits, \"-\", \"_\" and \".\" are allowed, first a "
        "letter or digit, 63 at most"}},
      {"kind: Profile\nname: [a]\n", {"f:2:7: name: expected a text, found a list"}},
      {C("nodes:\n  - {role: gpu}\n"), {"f:4:5: missing \"name\" (a text)"}},
      {C("ports:\n  - {name: rail0, role: fabrik}\n"),
       {"f:4:5: missing \"select\" (a map)",
        "f:4:25: role: unknown value \"fabrik\"; did you mean \"fabric\"?"}},
      {C("ports: [{name: p, select: {netdev: e}}]\n"), {"f:3:9: missing \"role\" (a text)"}},
      {R("soaks: 5m\n"), {"f:3:1: unknown field \"soaks\"; did you mean \"soak\"?"}},
      // An empty text would be the default, which nobody asked for.
      {R("soak: \"\"\nwaves: []\nwindows: [\"\"]\nbreaker:\n"),
       {"f:3:7: soak: must not be empty", "f:4:8: waves: must not be empty; leave it out",
        "f:5:11: windows[0]: must not be empty", "f:6:1: breaker: must not be empty"}},
      {R("waves: all\n"), {"f:3:8: waves: expected a list of texts, found \"all\"; put it in [ ]"}},
  });
}

// libfyaml 0.7.12 makes three quotes of four and drops a letter at the end, or drops a blank line: a value
// that nobody wrote is worse than one that is refused.
TEST(LoaderProblemsTest, TextsThatTheReaderOfYamlGetsWrongAreRefused) {
  const std::string quotes =
      "two doubled quotes in a row are not read reliably; put this text in \" instead of '";
  const std::string folded =
      "a folded text (>) with blank lines around lines that are indented further is not read reliably; use a "
      "literal one (|)";
  Check({
      {P("settings:\n  a.b: 'x''''y'\n"), {"f:4:8: " + quotes}},
      {P("settings:\n  a.b: ''''''\n"), {"f:4:8: " + quotes}},
      {P("settings:\n  a.b: >\n    x\n\n     y\n"), {"f:5:1: " + folded}},
      {P("settings:\n  a.b: 'it''s ''fine'''\n  c.d: >\n    x\n    y\n\n    z\n  e.f: \"''''\"\n"), {}},
  });
}

TEST(LoaderProblemsTest, WrongTypes) {
  Check({
      {C("subnets: {a: b}\n"), {"f:3:10: subnets: expected a list of texts, found a map"}},
      {C("subnets: 10.0.0.0/8\n"),
       {"f:3:10: subnets: expected a list of texts, found \"10.0.0.0/8\"; put it in [ ]"}},
      {C("subnets:\n"), {"f:3:1: subnets: expected a list of texts, found nothing"}},
      {C("subnets: [a, [b], {c: d}, ]\n"),
       {"f:3:14: subnets[1]: expected a text, found a list",
        "f:3:19: subnets[2]: expected a text, found a map"}},
      {C("nodes: {name: a}\n"), {"f:3:8: nodes: expected a list of maps, found a map"}},
      {C("nodes: [gpu-1]\n"), {"f:3:9: nodes[0]: expected a map, found \"gpu-1\""}},
      {C("nodes: [{name: a, labels: [x]}]\n"), {"f:3:27: labels: expected a map of texts, found a list"}},
      {C("nodes: [{name: a, labels: {x: [y]}}]\n"), {"f:3:31: labels.x: expected a text, found a list"}},
      {C("nodes: [{name: a, labels: {x: }}]\n"),
       {"f:3:28: labels.x: expected a text, found nothing; write \"\" for an empty text"}},
      {P("for: gpu\n"), {"f:3:6: for: expected a map, found \"gpu\""}},
      {P("settings: [a]\n"), {"f:3:11: settings: expected a map of settings, found a list"}},
      {P("settings:\n"), {"f:3:1: settings: expected a map of settings, found nothing"}},
      {P("settings:\n  link.mtu:\n"),
       {"f:4:3: link.mtu: expected a text, a list of texts or a map, found nothing"}},
      {P("settings:\n  a: [[x]]\n"), {"f:4:7: a: expected a text, found a list"}},
      {P("settings:\n  a: {b: {c: d}}\n"), {"f:4:10: a.b: expected a text or a list of texts, found a map"}},
      {P("precedence: high\n"),
       {"f:3:13: precedence: expected a whole number between -2147483648 and 2147483647, found \"high\""}},
      {P("precedence: 1.5\n"),
       {"f:3:13: precedence: expected a whole number between -2147483648 and 2147483647, found \"1.5\""}},
      {P("precedence: 2147483648\n"),
       {"f:3:13: precedence: expected a whole number between -2147483648 and 2147483647, found "
        "\"2147483648\""}},
      {P("precedence: 017\n"),
       {"f:3:13: precedence: a leading zero is ambiguous (octal or decimal); write 17, found \"017\""}},
      {P("precedence: [1]\n"), {"f:3:13: precedence: expected a number, found a list"}},
      {P("precedence:\n"), {"f:3:1: precedence: expected a number, found nothing"}},
  });
}

TEST(LoaderProblemsTest, WhatYamlOffersAndWeRefuse) {
  Check({
      {P("mode: &m observe\n"),
       {"f:3:7: an anchor (&name) is not accepted; write the value where it is needed"}},
      {P("for: &f {role: gpu}\n"),
       {"f:3:6: an anchor (&name) is not accepted; write the value where it is needed"}},
      {P("mode: *m\n"), {"f:3:7: an alias (*name) is not accepted; write the value out"}},
      {P("mode: !!str observe\n"), {"f:3:7: a tag (!name) is not accepted; the field decides the type"}},
      {P("settings: !x {a: b}\n"), {"f:3:11: a tag (!name) is not accepted; the field decides the type"}},
      {P("mode: observe\nmode: enforce\n"), {"f:4:1: duplicate key \"mode\" (first at 3:1)"}},
      {P("settings: {a: 1, b: 2, \"a\": 3}\n"), {"f:3:24: duplicate key \"a\" (first at 3:12)"}},
      {P("kind: Profile\n"), {"f:3:1: duplicate key \"kind\" (first at 1:1)"}},
      {P("? [a, b]\n: c\n"), {"f:3:3: a key must be a text, found a list"}},
      {P("settings: {\"\": 1}\n"), {"f:3:12: a key must not be empty"}},
      {"%YAML 1.2\n---\n" + P(""), {"f:1:1: directives (%YAML, %TAG) are not accepted; remove the line"}},
      {P("<<: {mode: enforce}\n"),
       {"f:3:1: unknown field \"<<\"; known are: name, for, mode, settings, precedence, max_disruption"}},
  });
}

TEST(LoaderProblemsTest, BrokenYaml) {
  Check({
      {P("for: {role: gpu\nmode: observe\n"),
       {"f:4:5: no comma before this, or the \"{\" at 3:6 is never closed"}},
      {C("subnets: [a, b\n"), {"f:3:10: this \"[\" is never closed"}},
      {C("subnets: [a, {b: c}\n"), {"f:3:10: this \"[\" is never closed"}},
      {P("mode: ]\n"), {"f:3:7: a closing bracket that was never opened"}},
      {P("mode: \"observe\n"), {"f:3:7: a text in \" is never closed"}},
      {P("mode: 'observe\n"), {"f:3:7: a text in ' is never closed"}},
      {P("for:\n\trole: gpu\n"), {"f:4:1: a tab in the indentation; indent with blanks"}},
      {P("for:\n  role: gpu\n rack: r1\n"),
       {"f:5:2: this fits neither what is above it nor a level further out; check the indentation"}},
      {P("mode: a: b\n"),
       {"f:3:8: a second key or list on this line; begin a new line, or put quotes around a value that "
        "contains \": \""}},
      {P("mode: @a\n"), {"f:3:7: a value cannot start with this character; put quotes around it"}},
      {P("mode: observe\nsettings\n"),
       {"f:4:1: no \": \" after this key, or the lines below it are not indented alike"}},
      {P("for: {role: gpu rack: r1}\n"),
       {"f:3:21: no comma before this, or the \"{\" at 3:6 is never closed"}},
      {P("for: {role: gpu]\n"), {"f:3:16: this bracket closes none that is open"}},
      {P("mode: \"a\" b\n"),
       {"f:3:11: something follows the closing quote; put quotes around the whole value"}},
      {P("mode: \"a\\qb\"\n"),
       {"f:3:9: an escape that YAML does not know; write \\\\ for a backslash, or put the text in ' "
        "instead"}},
      {P("mode: [a]# b\n"), {"f:3:10: a comment needs a blank before its \"#\""}},
      {C("subnets:\n  - a\n  b: c\n"),
       {"f:5:3: this fits neither what is above it nor a level further out; check the indentation"}},
      {C("subnets:\n  - a\n - b\n"),
       {"f:5:2: this fits neither what is above it nor a level further out; check the indentation"}},
      {C("subnets: - a\n"),
       {"f:3:10: a second key or list on this line; begin a new line, or put quotes around a value that "
        "contains \": \""}},
      {C("nodes:\n  - name: a\n    - b\n"),
       {"f:5:5: this fits neither what is above it nor a level further out; check the indentation"}},
      {C("nodes:\n  - name: a\n   role: b\n"),
       {"f:5:4: this fits neither what is above it nor a level further out; check the indentation"}},
      {P("for: gpu: x\n"),
       {"f:3:9: a second key or list on this line; begin a new line, or put quotes around a value that "
        "contains \": \""}},
      {P("- a\n"),
       {"f:3:1: this fits neither what is above it nor a level further out; check the indentation"}},
      {P("mode: |\nfoo\n"),
       {"f:4:1: no \": \" after this key, or the lines below it are not indented alike"}},
      {P("mode: observe\n  role: x\n"),
       {"f:3:7: no \": \" after this key, or the lines below it are not indented alike"}},
      {P("}\n"), {"f:3:1: a closing bracket that was never opened"}},
      {P("for: {role: gpu\n"), {"f:3:6: this \"{\" is never closed"}},
      // What is broken in one document hides nothing of the next.
      {P("mode: ]\n---\n") + "kind: Profile\nnam: b\n",
       {"f:3:7: a closing bracket that was never opened", "f:5:1: missing \"name\" (a text)",
        "f:6:1: unknown field \"nam\"; did you mean \"name\"?"}},
  });
}

TEST(LoaderProblemsTest, BytesThatAreNoText) {
  Check({
      {P("mode: \xff\n"), {"f:3:7: invalid UTF-8 (byte 0xff); save the file as UTF-8"}},
      {P("mode: \xC0\xAF\n"), {"f:3:7: invalid UTF-8 (byte 0xc0); save the file as UTF-8"}},
      {P("mode: \xED\xA0\x80\n"), {"f:3:7: invalid UTF-8 (byte 0xed); save the file as UTF-8"}},
      {P("# \xC3\xBC\n# \xE2\x82"), {"f:4:3: invalid UTF-8 (byte 0xe2); save the file as UTF-8"}},
      {P(std::string("mode: \0\n", 8)), {"f:3:7: a NUL byte; the file is not text, or is damaged"}},
      {std::string("k\0i\0n\0d\0", 8), {"f:1:2: a NUL byte; the file is not text, or is damaged"}},
      {P("mode: \x1b[31m\n"), {"f:3:7: the control character U+001B is not accepted; remove it"}},
      {P("mode: a\rb\n"), {"f:3:8: the control character U+000D is not accepted; remove it"}},
      {P("mode: \xE2\x80\xAEobserve\n"),
       {"f:3:7: the invisible character U+202E is not accepted; remove it"}},
      {P("settings: {a: \"x\\0y\"}\n"),
       {"f:3:15: an escape in this text makes a NUL byte; the file is not text, or is damaged"}},
  });
}

TEST(LoaderProblemsTest, Limits) {
  const std::string big = P("# ") + std::string(8U << 20, 'x') + "\n";
  EXPECT_EQ(Sentences(big), (std::vector<std::string>{"f: the file has " + std::to_string(big.size()) +
                                                      " bytes; at most 8 MiB are read"}));
  EXPECT_EQ(Sentences(P("settings:\n  ? " + std::string(1025, 'k') + "\n  : 1\n")),
            (std::vector<std::string>{"f:4:5: a key has more than 1024 bytes"}));
  std::string deep = P("settings: ");
  for (int i = 0; i < 40; ++i) deep += "[";
  EXPECT_EQ(Sentences(deep),
            (std::vector<std::string>{"f:3:42: lists and maps are nested deeper than 32 levels"}));
  std::string blocks = P("settings:\n");
  for (int i = 1; i < 40; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_EQ(Sentences(blocks),
            (std::vector<std::string>{"f:35:33: lists and maps are nested deeper than 32 levels"}));
  std::string many = P("settings: {a: [");
  for (int i = 0; i < 1'000'000; ++i) many += "x,";
  EXPECT_EQ(Sentences(many + "]}\n"),
            (std::vector<std::string>{"f:3:2000004: more than 1000000 values in one document; split it"}));
}

TEST(LoaderProblemsTest, AtMostFiftyProblemsAndOneThatSaysSo) {
  std::string text = "kind: Profile\nname: a\n";
  for (int i = 0; i < 80; ++i) text += "wrong" + std::to_string(i) + ": 1\n";
  const auto sentences = Sentences(text);
  ASSERT_EQ(sentences.size(), 51U);
  EXPECT_EQ(sentences[49].substr(0, 7), "f:52:1:");
  EXPECT_EQ(sentences[50], "f: more problems follow; the first 50 are shown");
}

TEST(LoaderProblemsTest, NoDocumentOfAProblemIsHandedOut) {
  const Loaded loaded = LoadDocuments("f", P("colour: red\n---\nkind: Profile\nname: b\n"));
  EXPECT_EQ(loaded.problems.size(), 1U);
  ASSERT_EQ(loaded.documents.size(), 1U);
  EXPECT_EQ(loaded.documents[0].name, "b");
}

TEST(LoaderProblemsTest, TheFirstLineMovesEveryPlace) {
  const Loaded loaded = LoadDocuments("f", P("colour: red\n"), 101);
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(loaded.problems[0].line, 103);
  EXPECT_EQ(loaded.problems[0].excerpt, "  103 | colour: red\n      | ^~~~~~");
}

TEST(ExcerptTest, TheCaretStandsUnderTheCharacter) {
  EXPECT_EQ(Excerpt("a\nb\xC3\xBC: x\n", 1, {2, 5}), "  2 | b\xC3\xBC: x\n    |     ^");
  EXPECT_EQ(Excerpt("\tx: y", 9, {9, 2}, 1), "  9 |  x: y\n    |  ^");
  EXPECT_EQ(Excerpt("abc", 1, {1, 2}, 9), "  1 | abc\n    |  ^~");
  EXPECT_EQ(Excerpt("abc", 1, {1, 4}), "  1 | abc\n    |    ^");
  EXPECT_EQ(Excerpt("abc", 5, {4, 1}), "");
  EXPECT_EQ(Excerpt("abc", 1, {0, 0}), "");
}

TEST(ExcerptTest, ALineOfMegabytesTakesNoLongerForEveryProblem) {
  std::string text = "{kind: Profile, name: a";
  for (int i = 0; i < 60; ++i) text += ", wrong" + std::to_string(i) + ": " + std::string(100'000, 'x');
  const Loaded loaded = LoadDocuments("f", text + "}\n");
  ASSERT_EQ(loaded.problems.size(), 51U);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_LT(loaded.problems[i].excerpt.size(), 400U);
}

TEST(ExcerptTest, ALongLineIsCutAroundThePlace) {
  const std::string line = std::string(300, 'a') + "X" + std::string(300, 'b');
  const std::string excerpt = Excerpt(line, 1, {1, 301}, 1);
  const std::string first = excerpt.substr(0, excerpt.find('\n'));
  const std::string second = excerpt.substr(excerpt.find('\n') + 1);
  EXPECT_LT(first.size(), 120U);
  // "…" is three bytes and one column.
  EXPECT_EQ(first[second.find('^') + 2], 'X');
}

}  // namespace
}  // namespace railwright
