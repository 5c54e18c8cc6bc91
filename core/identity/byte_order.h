// Bytes put together and taken apart, big-endian. Only this folder's sources use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/identity/digest.h"

namespace railwright::identity {

class ByteWriter {
 public:
  void Number(std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) out_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void Raw(std::string_view bytes) { out_ += bytes; }
  /// One byte of length before it: at most 255 bytes.
  void Text(std::string_view text) {
    Number(text.size(), 1);
    Raw(text);
  }
  std::string Done() && { return std::move(out_); }

 private:
  std::string out_;
};

/// What is not there reads as zero and empty, and `good` is false from then on.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  std::string_view Raw(std::size_t size) {
    if (!good_ || size > rest_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::uint64_t Number(int bytes) {
    std::uint64_t value = 0;
    for (const char c : Raw(static_cast<std::size_t>(bytes)))
      value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view Text() { return Raw(Number(1)); }
  Digest Sha256() {
    Digest digest{};
    const std::string_view bytes = Raw(digest.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) digest[i] = static_cast<std::uint8_t>(bytes[i]);
    return digest;
  }
  bool good() const { return good_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace railwright::identity
