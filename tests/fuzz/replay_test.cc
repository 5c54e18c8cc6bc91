// Every committed input of every fuzz target, with the compiler and the flags of the other tests.
#include "tests/fuzz/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "tests/fuzz/fuzz.h"

namespace railwright::fuzz {

void Broken(const char* sentence, const char* place, const std::string& seen) {
  throw std::runtime_error(std::string(place) + ": always " + sentence + "\n  seen: " + seen);
}

namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(RAILWRIGHT_SOURCE_DIR) / "tests/fuzz/corpus";

std::vector<fs::path> FilesOf(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void RunOne(const Target& target, const std::string& bytes, const std::string& name) {
  // An exact copy on the heap, so that a read beyond the end is caught by the sanitizer.
  const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  try {
    target.run(exact.get(), bytes.size());
  } catch (const std::exception& error) {
    ADD_FAILURE() << target.name << " over " << name << ": " << error.what();
  }
}

class FuzzReplayTest : public testing::TestWithParam<Target> {};

TEST_P(FuzzReplayTest, TheCommittedCorpusHoldsItsSentences) {
  const std::vector<fs::path> files = FilesOf(kCorpus / GetParam().name);
  ASSERT_GE(files.size(), 2u) << "tests/fuzz/corpus/" << GetParam().name << " lacks seeds";
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    EXPECT_LE(bytes.size(), 64u * 1024) << file << " is large for a seed";
    RunOne(GetParam(), bytes, file.filename().string());
    // Half an input is an input: what is cut must do no harm either.
    for (const std::size_t size : {std::size_t{0}, bytes.size() / 3, bytes.size() / 2, bytes.size() - 1})
      if (size < bytes.size())
        RunOne(GetParam(), bytes.substr(0, size),
               file.filename().string() + " up to " + std::to_string(size));
  }
}

std::string NameOf(const testing::TestParamInfo<Target>& target) { return target.param.name; }

INSTANTIATE_TEST_SUITE_P(EveryTarget, FuzzReplayTest, testing::ValuesIn(Targets()), NameOf);

TEST(FuzzCorpusTest, EachFolderBelongsToATarget) {
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(std::any_of(Targets().begin(), Targets().end(),
                            [&](const Target& target) { return target.name == name; }))
        << "tests/fuzz/corpus/" << name << " is nobody's";
  }
}

}  // namespace
}  // namespace railwright::fuzz
