// CrashLatch: a desired state that ends the agent again and again is not taken up any more.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "railwright/result.h"

namespace railwright {

/// A marker file that stands while a newly accepted state is being taken up: from before it is parsed until
/// its first pass has ended. A life that finds it knows that one before it died with that state. Counted by
/// the state's hash, which says what is wished, not by its generation. One thread uses it.
class CrashLatch {
 public:
  static constexpr int kMostDeaths = 3;  ///< in a row

  /// `version`: of this agent; another one tries again.
  CrashLatch(std::string path, std::string version) : path_(std::move(path)), version_(std::move(version)) {}
  /// Reads what an earlier life left. A marker that cannot be understood is as none.
  void Open();

  /// The sentence that refuses the state `hash`; "" when it may be taken up. Removing the file allows it.
  std::string Holds(const std::string& hash) const;
  /// Whether an earlier life, or this one, has begun to take up `hash` and not ended.
  bool Marked(const std::string& hash) const;
  /// It is about to be taken up; durable when Ok.
  Status Begin(const std::string& hash, std::uint64_t generation);
  /// It was taken up, or refused, or the agent ends in good order.
  void End();
  bool begun() const { return begun_; }
  const std::string& hash() const { return hash_; }

 private:
  const std::string path_, version_;
  std::string hash_;    // as Brief shows it: the marker stays small, whatever calls itself a hash
  int deaths_ = 0;      // if this life dies, too, while begun_
  bool begun_ = false;  // in this life
};

}  // namespace railwright
