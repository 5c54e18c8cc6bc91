// record: values as bytes, for blobs and for the digest that every stored row carries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/state.h"

namespace railwright {

/// Appends numbers (LEB128) and length-prefixed texts; the same values always give the same bytes.
class RecordWriter {
 public:
  RecordWriter& Number(std::uint64_t value);
  RecordWriter& Signed(std::int64_t value) { return Number(static_cast<std::uint64_t>(value)); }
  RecordWriter& Text(std::string_view value);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads them back. A read past the end or a bad number gives zero and makes `ok` false for good.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t Number();
  std::int64_t Signed() { return static_cast<std::int64_t>(Number()); }
  std::string Text();
  /// Nothing went wrong and nothing is left.
  bool Done() const { return ok_ && rest_.empty(); }
  bool ok() const { return ok_; }
  /// A count that cannot exceed the bytes left (each item takes one at least).
  std::size_t Count();

 private:
  std::string_view rest_;
  bool ok_ = true;
};

/// SHA-256 (32 bytes) of `table`, a NUL and `record`.
std::string RowDigest(std::string_view table, std::string_view record);
/// SHA-256 (32 bytes) of `text` alone.
std::string TextDigest(std::string_view text);

// Blobs begin with a format number, so that fields can be added later. False: damaged, or of a newer format.
std::string EncodeFindings(const std::vector<Finding>& findings);
bool DecodeFindings(std::string_view bytes, std::vector<Finding>& findings);
std::string EncodeChange(const ChangeRecord& change);
bool DecodeChange(std::string_view bytes, ChangeRecord& change);
// With the generation's `try_ms`, which an older controller does not know; it refuses such a row.
std::string EncodeRestores(const std::vector<std::pair<std::string, KeyTarget>>& restores,
                           std::uint64_t try_ms = 0);
bool DecodeRestores(std::string_view bytes, std::vector<std::pair<std::string, KeyTarget>>& restores,
                    std::uint64_t* try_ms = nullptr);

}  // namespace railwright
