// One line of the journal's file: text with a checksum, and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/journal.h"

namespace railwright {

/// One record. `op` says which members count.
struct JournalRecord {
  enum class Op : std::uint8_t {
    kOriginal,
    kBegin,
    kEnd,
    kForget,
    kPrepared,
    kAwaited,
    kForgetAwaited,
    kTry,
    kEndTry,
    kFailedTry,
    kForgetFailedTry,
  } op = Op::kEnd;
  Original original;                  ///< kOriginal
  OpenStep step;                      ///< kBegin
  AwaitedBoot awaited;                ///< kAwaited
  OpenTry open;                       ///< kTry
  FailedTry failed;                   ///< kFailedTry
  std::string key, target;            ///< kEnd, kForget, kForgetAwaited, kForgetFailedTry
  std::vector<std::string> prepared;  ///< kPrepared
};

/// A JSON object on one line, newline included. Any bytes survive: every byte of a value is one character
/// U+0000…U+00FF, so a value that is not UTF-8 (a file's content) is not bent on its way.
std::string FormatRecord(const JournalRecord& record);

/// The record of one line (without its newline); DataLoss says what is wrong with it.
Result<JournalRecord> ParseRecord(std::string_view line);

}  // namespace railwright
