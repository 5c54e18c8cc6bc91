#include "core/files/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "tests/agent/temporary_directory.h"

namespace railwright {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public testing::Test {
 protected:
  static mode_t ModeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }
  std::size_t Files() const {
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(directory_.path())) ++files;
    return files;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/file";
};

TEST_F(WholeFileTest, IsOldOrNewAndNothingIsLeftBesideIt) {
  ASSERT_TRUE(WriteWholeFile(path_, "old").ok());
  ASSERT_TRUE(WriteWholeFile(path_, std::string("n\0w", 3), {.sync = Sync::kNone}).ok());
  EXPECT_EQ(*ReadWhole(path_), std::string("n\0w", 3));
  EXPECT_EQ(ModeOf(path_), 0600U);
  EXPECT_EQ(Files(), 1U);
}

TEST_F(WholeFileTest, HasTheModeThatWasAskedForWhateverTheUmask) {
  const mode_t mask = umask(0077);
  const Status written = WriteWholeFile(path_, "for all", {.mode = 0644});
  umask(mask);
  ASSERT_TRUE(written.ok()) << written.ToString();
  EXPECT_EQ(ModeOf(path_), 0644U);
}

TEST_F(WholeFileTest, AnErrorKeepsTheOldContentAndLeavesNothingBeside) {
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  EXPECT_FALSE(WriteWholeFile(path_, "a file cannot replace a folder").ok());
  EXPECT_TRUE(fs::is_directory(path_));
  EXPECT_EQ(Files(), 1U);
}

TEST_F(WholeFileTest, ThatMustNotReplaceAnythingDoesNot) {
  ASSERT_TRUE(WriteWholeFile(path_, "first", {.replace = false}).ok());
  EXPECT_EQ(WriteWholeFile(path_, "second", {.replace = false}).code(), Code::kAlreadyExists);
  EXPECT_EQ(*ReadWhole(path_), "first");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(WholeFileTest, ReplacesALinkAndNeverWritesThroughIt) {
  const std::string other = directory_.path() + "/other";
  ASSERT_TRUE(WriteWholeFile(other, "another's").ok());
  ASSERT_EQ(symlink(other.c_str(), path_.c_str()), 0);
  ASSERT_TRUE(WriteWholeFile(path_, "ours").ok());
  EXPECT_FALSE(fs::is_symlink(path_));
  EXPECT_EQ(*ReadWhole(other), "another's");
}

TEST_F(WholeFileTest, OfManyWritersAtOnceIsOneOfThemWhole) {
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'i'; ++c)
    writers.emplace_back([this, c] {
      for (int i = 0; i < 50; ++i)
        EXPECT_TRUE(WriteWholeFile(path_, std::string(100'000, c), {.sync = Sync::kNone}).ok());
    });
  for (std::thread& writer : writers) writer.join();
  const std::string text = *ReadWhole(path_);
  EXPECT_EQ(text, std::string(100'000, text[0]));
  EXPECT_EQ(Files(), 1U);
}

TEST_F(WholeFileTest, ThatIsTooLongIsRefusedAndThatIsMissingIsNotFound) {
  ASSERT_TRUE(WriteWholeFile(path_, std::string(1000, 'x'), {.mode = 0644}).ok());
  EXPECT_EQ(ReadWhole(path_, 999).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(ReadWholeFile(path_, 999).status().code(), Code::kDataLoss);
  EXPECT_TRUE(ReadWhole(path_, 1000).ok());
  EXPECT_TRUE(ReadWholeFile(path_, 1000).ok());
  EXPECT_EQ(ReadWhole(path_ + "x").status().code(), Code::kNotFound);
  EXPECT_EQ(ReadWholeFile(path_ + "x", 1).status().code(), Code::kNotFound);
}

TEST_F(WholeFileTest, ThatIsPrivateIsRefusedOnceOthersMayHaveReadIt) {
  ASSERT_TRUE(WriteWholeFile(path_, "a key", {.mode = 0640}).ok());
  const auto refused = ReadPrivateFile(path_, 100);
  EXPECT_EQ(refused.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("chmod 600 " + path_), std::string::npos)
      << refused.status().message();
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_EQ(*ReadPrivateFile(path_, 100), "a key");
}

TEST_F(WholeFileTest, OnlyAPlainFileIsReadWhereOneIsMeant) {
  ASSERT_TRUE(WriteWholeFile(path_, "text").ok());
  const std::string link = directory_.path() + "/link", pipe = directory_.path() + "/pipe";
  ASSERT_EQ(symlink(path_.c_str(), link.c_str()), 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(*ReadWhole(link), "text");
  EXPECT_FALSE(ReadWholeFile(link, 100).ok());
  EXPECT_EQ(ReadWholeFile(pipe, 100).status().code(), Code::kDataLoss) << "and it is not waited for";
}

}  // namespace
}  // namespace railwright
