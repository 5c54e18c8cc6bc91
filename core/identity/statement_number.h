// StatementNumber: which generation a statement is of, and which issue of it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace railwright::identity {

/// How Statement::generation is counted for desired states: the fleet's generation in the upper 48 bits, the
/// issue in the lower 16. Issue 0 is the generation's first statement for a node; each renewal of its
/// validity is the next issue, with the same content. So a renewal is above what it renews, a new generation
/// above all issues of the ones before, and the fleet's generation is signed without being in the payload.
struct StatementNumber {
  static constexpr int kIssueBits = 16;
  static constexpr std::uint64_t kMostIssue = (std::uint64_t{1} << kIssueBits) - 1;
  static constexpr std::uint64_t kMostGeneration = (std::uint64_t{1} << (64 - kIssueBits)) - 1;

  std::uint64_t generation = 0;  ///< 1…kMostGeneration
  std::uint64_t issue = 0;       ///< 0…kMostIssue

  std::uint64_t Packed() const { return generation << kIssueBits | issue; }
  static StatementNumber Of(std::uint64_t packed) { return {packed >> kIssueBits, packed & kMostIssue}; }
  /// "generation 7", "generation 7 (renewed once)", "generation 7 (renewed 2 times)".
  std::string Text() const {
    return "generation " + std::to_string(generation) +
           (issue == 0   ? std::string()
            : issue == 1 ? std::string(" (renewed once)")
                         : " (renewed " + std::to_string(issue) + " times)");
  }
  friend auto operator<=>(const StatementNumber&, const StatementNumber&) = default;
};

/// Statement::schema of what this build signs and takes: GroupPayload and NodeOverlay of wire revision 1.
inline constexpr std::uint32_t kStateSchema = 1;

}  // namespace railwright::identity
