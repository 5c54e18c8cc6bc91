// What fuzz targets are written with: bytes in, and sentences that must hold whatever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace railwright::fuzz {

/// A sentence did not hold. Ends the program where a fuzzer looks for such; throws where a test replays.
[[noreturn]] void Broken(const char* sentence, const char* place, const std::string& seen);

/// What led to a broken sentence, printable; cut after 400 bytes.
std::string Seen(std::string_view text);
std::string Seen(std::string_view first, std::string_view second);

/// The input taken apart from its front; a piece that is not there is empty or zero.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  std::uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  /// Up to the next line break, which is taken too.
  std::string_view Line() {
    const auto end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return line;
  }
  /// Up to the next "\n====\n", which is taken too: seeds made of several files.
  std::string_view Part() {
    constexpr std::string_view kBetween = "\n====\n";
    const auto end = rest_.find(kBetween);
    const std::string_view part = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + kBetween.size());
    return part;
  }
  std::string_view Rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// A folder for the whole run below TMPDIR, for parsers that read files; removed with what is in it at the
/// end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  /// Puts a file there, folders on the way included.
  void Write(const std::string& name, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace railwright::fuzz

#define RW_FUZZ_TEXT_INNER(x) #x
#define RW_FUZZ_TEXT(x) RW_FUZZ_TEXT_INNER(x)
/// `condition` holds for every input; what follows are one or two texts to show when it does not.
#define ALWAYS(condition, ...)                                                    \
  do {                                                                            \
    if (!(condition))                                                             \
      ::railwright::fuzz::Broken(#condition, __FILE__ ":" RW_FUZZ_TEXT(__LINE__), \
                                 ::railwright::fuzz::Seen(__VA_ARGS__));          \
  } while (false)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
