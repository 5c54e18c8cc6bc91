// Disk: a file system in memory that forgets what was not synced, as a power cut makes a real one do.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/random.h"

namespace railwright::sim {

enum class DiskOp : std::uint8_t { kWrite, kSync, kDirSync, kRename, kUnlink };

/// What goes wrong with one operation.
struct DiskFault {
  int error = 0;  ///< errno that it answers; a failed sync drops the dirty pages
  bool die_before = false, die_after = false;
};

/// A file or folder. Content is kept twice: as the programs see it, and as the platter has it.
struct Inode {
  std::uint64_t number = 0;
  bool directory = false;
  std::string data, durable;
  std::set<std::size_t> dirty;  ///< pages written since the last sync
  std::int64_t mtime_ns = 0;
  bool flocked = false;

  // SQLite's locks and its shared index; they go with the processes.
  int shared = 0;
  bool reserved = false, pending = false, exclusive = false;
  std::vector<std::string> shm;
  int shm_users = 0;
  std::array<int, 8> shm_shared{};
  std::array<bool, 8> shm_exclusive{};
};

/// One host's disk. All operations answer 0 (or a size) or −errno.
class Disk {
 public:
  static constexpr std::size_t kPage = 4096, kSector = 512;

  /// `folder`: the one folder that there is, "/sim/gpu-001".
  explicit Disk(std::string folder);
  const std::string& folder() const { return folder_; }

  /// Asked before each operation that changes something; empty: nothing fails.
  std::function<DiskFault(DiskOp, const std::string& path)> ask;
  /// Operations that were answered with an error so far.
  std::uint64_t errors() const { return errors_; }
  /// Whether growing files finds no room.
  bool full = false;
  /// For times of files.
  std::int64_t now_ns = 0;

  /// The process that uses the disk is dead: nothing that it still tries has an effect.
  bool dead() const { return dead_; }
  void Kill() { dead_ = true; }
  /// A new process: locks and open files of the old one are gone.
  void Revive();
  /// Keeps what was synced, and of the rest what chance keeps.
  void LosePower(Random& random);

  std::shared_ptr<Inode> Find(const std::string& path) const;
  /// Makes it when it is not there and `create`.
  int Open(const std::string& path, bool create, bool exclusive, bool truncate, std::shared_ptr<Inode>& out);
  long Write(Inode& inode, const std::string& path, std::size_t offset, std::string_view bytes);
  int Truncate(Inode& inode, const std::string& path, std::size_t size);
  int Sync(Inode& inode, const std::string& path);
  int SyncFolder();
  int Rename(const std::string& from, const std::string& to);
  int Unlink(const std::string& path);

  /// What would be there after a power cut now that keeps nothing unsynced.
  std::string DurableContent(const std::string& path) const;

 private:
  struct NameOp {
    std::string path;
    std::shared_ptr<Inode> inode;  // null: it goes
  };
  int NoRoom() {
    ++errors_;
    return -28;  // ENOSPC
  }
  void Name(const std::string& path, std::shared_ptr<Inode> inode);
  bool Begin(DiskOp op, const std::string& path, int& error, bool& die_after);

  const std::string folder_;
  std::map<std::string, std::shared_ptr<Inode>> names_, durable_names_;
  std::vector<NameOp> unsynced_names_;
  std::shared_ptr<Inode> root_;
  std::uint64_t next_inode_ = 1;
  bool dead_ = false;
  std::uint64_t errors_ = 0;
};

/// Every disk by the folder that its paths begin with, for the system calls and SQLite.
class Disks {
 public:
  static Disks& All();
  void Add(Disk& disk) { disks_[disk.folder()] = &disk; }
  void Remove(const Disk& disk) { disks_.erase(disk.folder()); }
  /// Null when the path is not of the simulation.
  Disk* Of(std::string_view path) const;

 private:
  std::map<std::string, Disk*, std::less<>> disks_;
};

/// The simulation's own SQLite file system becomes the default one of this process.
void UseSimulatedSqlite();

}  // namespace railwright::sim
