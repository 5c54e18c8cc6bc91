#include "core/identity/join_token.h"

#include <numeric>
#include <set>

#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

// 0, 1, 2 …: the id and the secret below are what another program's base32 makes of them.
Status Counting(std::span<std::uint8_t> out) {
  std::iota(out.begin(), out.end(), std::uint8_t{0});
  return Ok();
}
constexpr const char* kToken = "aaaqeayeaudao.baequcymbuha6earcijrifiwc4mbsgq3";

std::string TextOf(const JoinToken& token) { return std::string(token.Text().Reveal()); }

TEST(JoinToken, IsItsRandomBytesInBase32) {
  const JoinToken token = Must(JoinToken::Generate(Counting));
  EXPECT_EQ(token.id(), "aaaqeayeaudao");
  EXPECT_EQ(TextOf(token), kToken);
  EXPECT_EQ(TextOf(Must(JoinToken::Parse(kToken))), kToken);
}

TEST(JoinToken, NoRandomBytesMeanNoToken) {
  const auto dry = [](std::span<std::uint8_t>) { return Status(Code::kInternal, "dry"); };
  ExpectRefused(JoinToken::Generate(dry), Code::kInternal, "dry");
}

TEST(JoinToken, TheSystemNeverGivesOneTwice) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const JoinToken token = Must(JoinToken::Generate());
    EXPECT_EQ(TextOf(token).size(), JoinToken::kChars);
    seen.insert(token.id());
    seen.insert(TextOf(token).substr(14));
  }
  EXPECT_EQ(seen.size(), 2000U);
}

TEST(JoinToken, StoredIsTheDigestOfTheSecretOnly) {
  const StoredToken stored = Must(Must(JoinToken::Generate(Counting)).Stored());
  EXPECT_EQ(stored.id, "aaaqeayeaudao");
  EXPECT_EQ(Hex(stored.secret_digest), "233172831961de41b909b08f4d97a564caa6e6a9972a86033632c185d734a301")
      << "of the bytes 8 to 27";
}

TEST(StoredToken, KnowsItsTokenAndNoOther) {
  const JoinToken token = Must(JoinToken::Generate());
  const StoredToken stored = Must(token.Stored());
  const std::string text = TextOf(token);
  EXPECT_TRUE(Must(stored.Matches(Must(JoinToken::Parse(text)))));
  int others = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz234567")) {
      std::string changed = text;
      changed[at] = c;
      if (changed == text) continue;
      const auto other = JoinToken::Parse(changed);
      if (at == JoinToken::kIdChars) {
        EXPECT_FALSE(other.ok()) << "no dot";
        continue;
      }
      if (!other.ok()) continue;
      ++others;
      EXPECT_FALSE(Must(stored.Matches(*other))) << at << c;
    }
  }
  // The id's last character carries four bits of the 64 and one that must be zero.
  EXPECT_EQ(others, 12 * 31 + 15 + 32 * 31);
}

TEST(JoinToken, HasOneSpelling) {
  const std::string text = kToken;
  for (const std::string& bad :
       {std::string(), text.substr(1), text + "a", text + "=", " " + text, text.substr(0, 45) + "1",
        text.substr(0, 45) + "A", text.substr(0, 13) + "-" + text.substr(14),
        text.substr(0, 12) + "p" + text.substr(13)})
    ExpectRefused(JoinToken::Parse(bad), Code::kInvalidArgument, "a join token is 13 characters");
}

TEST(JoinToken, ErrorsNeverShowIt) {
  const std::string text = TextOf(Must(JoinToken::Generate()));
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); ++at) words.push_back(std::string(text).replace(at, 1, "!"));
  words.push_back(text + "x");
  const std::string pin = NodeKey().pin().Text();
  const auto shows = [&](const std::string& message) {
    for (std::size_t at = 0; at + 8 <= text.size(); ++at)
      if (message.find(text.substr(at, 8)) != std::string::npos) return true;
    return false;
  };
  for (const std::string& word : words) {
    EXPECT_FALSE(shows(JoinToken::Parse(word).status().message())) << word;
    for (const std::string& line : {"railwright-agent join c:1 --token " + word + " --ca " + pin,
                                    "railwright-agent join " + word + " --token c:1 --ca " + pin,
                                    "railwright-agent join c:1 --token " + pin + " --ca " + word,
                                    word + " railwright-agent join c:1 --token x --ca y",
                                    "railwright-agent join c:1 --token " + word, word}) {
      const auto parsed = JoinLine::Parse(line);
      ASSERT_FALSE(parsed.ok()) << line;
      EXPECT_FALSE(shows(parsed.status().message())) << parsed.status().message();
    }
  }
}

TEST(JoinLine, IsReadBack) {
  const std::string line = std::string("railwright-agent join [2001:db8::1]:7444 --token ") + kToken +
                           " --ca " + NodeKey().pin().Text();
  const JoinLine read = Must(JoinLine::Parse(line));
  EXPECT_EQ(read.Text().Reveal(), line);
  EXPECT_EQ(read.ca, NodeKey().pin());
  EXPECT_EQ(read.controller.port, 7444);
  EXPECT_EQ(Must(JoinLine::Parse("  \t" + line + " \r\n")).Text().Reveal(), line)
      << "pasted with blanks around it";
}

TEST(JoinLine, ThePinIsNotOptional) {
  const std::string token = kToken, pin = NodeKey().pin().Text();
  const std::string start = "railwright-agent join ctl:7444 ";
  ExpectRefused(JoinLine::Parse(start + "--token " + token), Code::kInvalidArgument, "5 of 7 words");
  ExpectRefused(JoinLine::Parse(start + "--token " + token + " --ca "), Code::kInvalidArgument,
                "6 of 7 words");
  ExpectRefused(JoinLine::Parse(start + "--token " + token + " --ca none"), Code::kInvalidArgument,
                "the CA's pin");
  ExpectRefused(JoinLine::Parse(start + "--ca " + pin + " --token " + token), Code::kInvalidArgument,
                "a join line is");
  ExpectRefused(JoinLine::Parse(start + "--token " + token + " --ca " + pin + " --insecure"),
                Code::kInvalidArgument, "words behind the pin");
  ExpectRefused(JoinLine::Parse("railwright-agent join ctl --token " + token + " --ca " + pin),
                Code::kInvalidArgument, "HOST:PORT");
  ExpectRefused(JoinLine::Parse("sudo " + start + "--token " + token + " --ca " + pin),
                Code::kInvalidArgument, "words behind");
  ExpectRefused(JoinLine::Parse(std::string(1025, ' ')), Code::kInvalidArgument, "1025 bytes");
}

}  // namespace
}  // namespace railwright::identity
