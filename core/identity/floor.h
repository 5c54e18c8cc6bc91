// Floor: what was accepted last, and therefore what may follow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/identity/envelope.h"
#include "railwright/result.h"

namespace railwright::identity {

/// A value that its owner stores before it acts on what was accepted. One floor for each audience kind of a
/// node: generations of a node's own states and of its group's are two sequences.
///
/// Every key has a line with the last generation accepted in it. What comes must be above the highest of all
/// lines whose keys still count: with lines looked at alone, the newest state of one key could be replayed
/// over a newer state of another. A line whose key is revoked does not count, so an attacker who had signed
/// the greatest generation there is (fast-forward) blocks a node only until the root takes his key back.
class Floor {
 public:
  struct Mark {
    std::uint64_t generation = 0;
    Digest digest{};  ///< of the statement
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  enum class Next : std::uint8_t {
    kNew,   ///< it follows what is there
    kSame,  ///< it is what is there, come again
  };
  static constexpr std::size_t kMostLines = 64;

  /// FailedPrecondition names the rule: an older generation, another state of the same generation, or the
  /// next generation with a predecessor that is not what was accepted. A node that missed generations between
  /// does not know the predecessor, and takes what is above; a floor of nothing takes anything.
  Result<Next> Judge(const OpenedEnvelope& opened, const TrustedSigners& trusted) const;
  /// The mark of an accepted envelope, in its line, which never gets lower. The caller has judged it.
  void Raise(const OpenedEnvelope& opened);
  /// The root's reset: forgets a line. The key may count again afterwards.
  void Forget(const Pin& line) { marks_.erase(line); }
  /// Forgets the lines of keys that no longer count; how many there were.
  std::size_t ForgetUntrusted(const TrustedSigners& trusted);

  const std::map<Pin, Mark>& marks() const { return marks_; }

  /// One line a key: `sha256:<64 hex> <generation> <64 hex>`, ascending; "" for a floor of nothing.
  std::string Text() const;
  /// What Text gives. DataLoss: anything else; a damaged floor must never read as a lower one.
  static Result<Floor> Parse(std::string_view text);

  friend bool operator==(const Floor&, const Floor&) = default;

 private:
  std::map<Pin, Mark> marks_;
};

}  // namespace railwright::identity
