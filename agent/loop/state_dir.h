// StateDir: the folder that an agent keeps what it must not forget in, held by one agent at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "railwright/result.h"

namespace railwright {

inline constexpr const char* kDefaultStateDir = "/var/lib/railwright-agent";

/// Paths below a state directory. Opening locks it for as long as the object lives.
class StateDir {
 public:
  /// Makes the directory (mode 0711) when it is not there, its parent must be. FailedPrecondition names the
  /// agent that holds it; PermissionDenied and ResourceExhausted say what to do.
  static Result<StateDir> Open(const std::string& directory);
  /// Without a lock, for commands beside a running agent. NotFound when there is no such directory.
  static Result<StateDir> Look(const std::string& directory);
  ~StateDir();
  StateDir(StateDir&& other) noexcept;
  StateDir& operator=(StateDir&&) = delete;

  const std::string& directory() const { return directory_; }
  std::string desired() const { return directory_ + "/desired.bin"; }    ///< v1::DesiredState, as accepted
  std::string journal() const { return directory_ + "/journal"; }        ///< agent/journal
  std::string changes() const { return directory_ + "/changes.jsonl"; }  ///< history not yet stored elsewhere
  std::string pauses() const { return directory_ + "/pauses.json"; }     ///< those of the controller
  std::string local_pauses() const { return directory_ + "/paused.json"; }  ///< `railwright-agent pause`
  std::string status() const { return directory_ + "/status.json"; }        ///< for `railwright-agent status`
  std::string management() const { return directory_ + "/management"; }     ///< interfaces that lead away
  std::string confirmed() const { return directory_ + "/confirmed.json"; }  ///< ConfirmedValues
  std::string taking_up() const { return directory_ + "/taking-up"; }       ///< CrashLatch
  std::string lock() const { return directory_ + "/lock"; }

  /// Free bytes below which the running agent writes nothing to the machine: what the next minutes need, or
  /// it would come and go with every kilobyte.
  static constexpr std::size_t kRoom = 256 << 10;
  /// Whether the directory takes writes, as its file system says: writes nothing, so that a command may ask
  /// beside a running agent, which cannot write down that it cannot write.
  Status Room() const;

  /// The process that holds the directory now; none when nobody does.
  std::optional<int> Holder() const;

 private:
  StateDir(std::string directory, int fd) : directory_(std::move(directory)), fd_(fd) {}
  std::string directory_;
  int fd_ = -1;  // of the lock file, flock()ed
};

}  // namespace railwright
