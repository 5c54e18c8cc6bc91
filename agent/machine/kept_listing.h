// KeptListing: what was dear to find out, in a file, so that the next program need not find it out again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace railwright::machine {

/// A file on /run with one listing and what it was a listing of: this boot, and what the caller says. One
/// file, the newest listing; whatever is odd about it (another owner, writable by others, of something else,
/// cut short) is no listing.
class KeptListing {
 public:
  /// `file` "" keeps nothing.
  explicit KeptListing(std::string file) : file_(std::move(file)) {}

  /// The listing of `what` (one line), if it is the one kept. "": of nothing, and none is.
  std::optional<std::string> Read(std::string_view what) const;
  /// Keeps `listing` in place of the last one. Only root's listings are kept; a failure to keep is none of
  /// the caller's business: the next program finds out for itself.
  void Write(std::string_view what, std::string_view listing) const;

 private:
  std::string file_;
};

}  // namespace railwright::machine
