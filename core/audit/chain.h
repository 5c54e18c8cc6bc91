// Row, Head, ChainCheck: the audit as a chain of hashes, so that what was changed in it afterwards is found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/identity/digest.h"
#include "railwright/result.h"

namespace railwright::audit {

using identity::Digest;

/// What is hashed of an audit row: all of it.
struct Row {
  std::uint64_t id = 0;  ///< from 1, without gaps
  std::int64_t at_us = 0;
  std::string who, from, serial, action, subject, detail, outcome;
  friend bool operator==(const Row&, const Row&) = default;
};

/// The bytes of a row that are hashed: two rows that differ have different bytes. `id` and `at_us` in 8
/// bytes, then each text with its length in 8 bytes before it, all big-endian. It never changes: hashes that
/// stand in stores and in operators' notes are made of it.
std::string Canonical(const Row& row);

/// The hash before the first row: SHA-256 of "railwright audit chain v1".
Result<Digest> Genesis();
/// The hash of a row: SHA-256 over the 32 bytes of the hash `before` it and its canonical bytes.
Result<Digest> Next(const Digest& before, const Row& row);

/// The newest row and its hash, which stands for everything before it. {0, Genesis()} of an empty audit.
struct Head {
  std::uint64_t id = 0;
  Digest hash{};

  /// `ID:HASH`, the hash as 64 lower-case hexadecimal digits. InvalidArgument for any other spelling.
  static Result<Head> Parse(std::string_view text);
  std::string Text() const;
  friend bool operator==(const Head&, const Head&) = default;
};

/// Where a chain is broken first.
struct Fault {
  std::uint64_t id = 0;  ///< the first row that is wrong or missing
  std::string what;      ///< "its content does not fit its hash …"
  /// "row 17: …".
  std::string Text() const;
};

/// Goes along a chain, oldest row first, and keeps the first fault. Remembers one hash, so a log of any
/// length can be checked.
class ChainCheck {
 public:
  /// `expected` is a head that somebody noted earlier: the chain must go through it. Internal: libcrypto.
  static Result<ChainCheck> Begin(std::optional<Head> expected = std::nullopt);

  /// The next row, and the 32 bytes that are stored as its hash. False once a fault is known.
  Result<bool> Take(const Row& row, std::string_view stored_hash);
  /// No more rows. `kept` is the head that the store keeps apart from the rows, without a value when it is
  /// missing or damaged itself. False when a fault is known.
  bool Finish(const std::optional<Head>& kept);

  const std::optional<Fault>& fault() const { return fault_; }
  /// The last row that fitted.
  const Head& head() const { return head_; }

 private:
  ChainCheck(const Head& genesis, std::optional<Head> expected) : head_(genesis), expected_(expected) {}
  bool Fail(std::uint64_t id, std::string what);
  bool FitsExpected();

  Head head_;
  std::optional<Head> expected_;
  std::optional<Fault> fault_;
};

}  // namespace railwright::audit
