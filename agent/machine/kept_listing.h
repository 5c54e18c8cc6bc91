// KeptListing: the last listing of the ruleset, in a file, so that the next program need not run `nft` again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace railwright::machine {

/// A file on /run with one listing and what it was a listing of: this boot, this network namespace (its
/// cookie, which the kernel never gives twice in a boot) and the ruleset's generation. The same three promise
/// the same ruleset, as they do to a program that keeps the listing in memory. One file, the newest listing;
/// whatever is odd about it (another owner, writable by others, another namespace, cut short) is no listing.
class KeptListing {
 public:
  /// `file` "" keeps nothing.
  explicit KeptListing(std::string file) : file_(std::move(file)) {}

  /// The listing of `generation` in the network namespace of the calling thread, if it is the one kept.
  std::optional<std::string> Read(std::uint32_t generation) const;
  /// Keeps `listing` in place of the last one. Only root's listings are kept; a failure to keep is none of
  /// the caller's business: the next program asks `nft`.
  void Write(std::uint32_t generation, std::string_view listing) const;

 private:
  std::string file_;
};

}  // namespace railwright::machine
