#include "tests/sim/disk.h"

#include <algorithm>
#include <cerrno>

namespace railwright::sim {

Disks& Disks::All() {
  static Disks disks;
  return disks;
}

Disk* Disks::Of(std::string_view path) const {
  constexpr std::string_view kRoot = "/sim/";
  if (!path.starts_with(kRoot)) return nullptr;
  const auto found = disks_.find(path.substr(0, path.find('/', kRoot.size())));
  return found == disks_.end() ? nullptr : found->second;
}

Disk::Disk(std::string folder) : folder_(std::move(folder)), root_(std::make_shared<Inode>()) {
  root_->directory = true;
  root_->number = next_inode_++;
  // As joining leaves it, long before.
  const auto trust = std::make_shared<Inode>();
  trust->directory = true;
  trust->number = next_inode_++;
  names_[folder_ + "/trust"] = durable_names_[folder_ + "/trust"] = trust;
  Disks::All().Add(*this);
}

std::shared_ptr<Inode> Disk::Find(const std::string& path) const {
  if (path == folder_) return root_;
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

// False: the operation must not happen; `error` is what it answers.
bool Disk::Begin(DiskOp op, const std::string& path, int& error, bool& die_after) {
  error = -EIO;
  if (dead_) return false;
  if (!ask) return true;
  const DiskFault fault = ask(op, path);
  if (fault.die_before) {
    dead_ = true;
    return false;
  }
  if (fault.error != 0) {
    ++errors_;
    error = -fault.error;
    return false;
  }
  die_after = fault.die_after;
  return true;
}

void Disk::Name(const std::string& path, std::shared_ptr<Inode> inode) {
  unsynced_names_.push_back({path, inode});
  if (inode)
    names_[path] = std::move(inode);
  else
    names_.erase(path);
}

int Disk::Open(const std::string& path, bool create, bool exclusive, bool truncate,
               std::shared_ptr<Inode>& out) {
  out = Find(path);
  if (out && create && exclusive) return -EEXIST;
  if (!out) {
    if (!create) return -ENOENT;
    if (dead_) return -EIO;
    out = std::make_shared<Inode>();
    out->number = next_inode_++;
    out->mtime_ns = now_ns;
    Name(path, out);
  } else if (truncate && !out->directory) {
    if (dead_) return -EIO;
    return Truncate(*out, path, 0);
  }
  return 0;
}

long Disk::Write(Inode& inode, const std::string& path, std::size_t offset, std::string_view bytes) {
  int error = 0;
  bool die_after = false;
  if (!Begin(DiskOp::kWrite, path, error, die_after)) return error;
  if (full && offset + bytes.size() > inode.data.size()) {
    // What fits into the last page of the file still goes in, as on a real disk.
    const std::size_t room = (inode.data.size() + kPage - 1) / kPage * kPage;
    if (offset >= room) return NoRoom();
    bytes = bytes.substr(0, room - offset);
  }
  if (inode.data.size() < offset + bytes.size()) inode.data.resize(offset + bytes.size());
  inode.data.replace(offset, bytes.size(), bytes);
  for (std::size_t page = offset / kPage; page * kPage < offset + bytes.size(); ++page)
    inode.dirty.insert(page);
  inode.mtime_ns = now_ns;
  if (die_after) dead_ = true;
  return static_cast<long>(bytes.size());
}

int Disk::Truncate(Inode& inode, const std::string& path, std::size_t size) {
  int error = 0;
  bool die_after = false;
  if (!Begin(DiskOp::kWrite, path, error, die_after)) return error;
  if (size > inode.data.size() && full) return NoRoom();
  inode.data.resize(size);
  inode.dirty.erase(inode.dirty.lower_bound((size + kPage - 1) / kPage), inode.dirty.end());
  if (size % kPage != 0) inode.dirty.insert(size / kPage);
  inode.mtime_ns = now_ns;
  if (die_after) dead_ = true;
  return 0;
}

int Disk::Sync(Inode& inode, const std::string& path) {
  if (inode.directory) return SyncFolder();
  int error = 0;
  bool die_after = false;
  if (!Begin(DiskOp::kSync, path, error, die_after)) {
    // Linux calls the pages clean though they never reached the disk: a later sync does not save them.
    if (!dead_) inode.dirty.clear();
    return error;
  }
  inode.durable.resize(inode.data.size());
  for (const std::size_t page : inode.dirty) {
    const std::size_t at = page * kPage;
    if (at >= inode.data.size()) continue;
    const std::size_t size = std::min(kPage, inode.data.size() - at);
    inode.durable.replace(at, size, inode.data, at, size);
  }
  inode.dirty.clear();
  if (die_after) dead_ = true;
  return 0;
}

int Disk::SyncFolder() {
  int error = 0;
  bool die_after = false;
  if (!Begin(DiskOp::kDirSync, folder_, error, die_after)) return error;
  durable_names_ = names_;
  unsynced_names_.clear();
  if (die_after) dead_ = true;
  return 0;
}

int Disk::Rename(const std::string& from, const std::string& to) {
  int error = 0;
  bool die_after = false;
  const auto found = names_.find(from);
  if (found == names_.end()) return -ENOENT;
  if (!Begin(DiskOp::kRename, to, error, die_after)) return error;
  const std::shared_ptr<Inode> inode = found->second;
  // One step of the file system's journal: both names or neither.
  names_.erase(found);
  names_[to] = inode;
  unsynced_names_.push_back({to, inode});
  unsynced_names_.push_back({from, nullptr});
  if (die_after) dead_ = true;
  return 0;
}

int Disk::Unlink(const std::string& path) {
  int error = 0;
  bool die_after = false;
  if (!names_.contains(path)) return -ENOENT;
  if (!Begin(DiskOp::kUnlink, path, error, die_after)) return error;
  Name(path, nullptr);
  if (die_after) dead_ = true;
  return 0;
}

void Disk::Revive() {
  dead_ = false;
  for (auto& [path, inode] : names_) {
    inode->flocked = inode->reserved = inode->pending = inode->exclusive = false;
    inode->shared = inode->shm_users = 0;
    inode->shm.clear();
    inode->shm_shared.fill(0);
    inode->shm_exclusive.fill(false);
  }
}

void Disk::LosePower(Random& random) {
  // The file system's journal keeps the order of names: some first part of it had reached the disk.
  const std::size_t kept = random.Below(unsynced_names_.size() + 1);
  for (std::size_t i = 0; i < kept; ++i) {
    const NameOp& op = unsynced_names_[i];
    if (op.inode)
      durable_names_[op.path] = op.inode;
    else
      durable_names_.erase(op.path);
  }
  unsynced_names_.clear();
  names_ = durable_names_;
  std::set<Inode*> seen;
  for (auto& [path, inode] : names_) {
    if (!seen.insert(inode.get()).second) continue;
    const std::uint64_t mode = random.Below(4);  // nothing, everything, or sector by sector
    if (mode != 0) {
      for (const std::size_t page : inode->dirty) {
        for (std::size_t at = page * kPage; at < (page + 1) * kPage && at < inode->data.size();
             at += kSector) {
          if (mode != 1 && random.Chance(0.5)) continue;
          const std::size_t size = std::min(kSector, inode->data.size() - at);
          if (inode->durable.size() < at + size) inode->durable.resize(at + size);
          inode->durable.replace(at, size, inode->data, at, size);
        }
      }
      if (inode->data.size() < inode->durable.size() && random.Chance(0.5))
        inode->durable.resize(inode->data.size());
    }
    inode->data = inode->durable;
    inode->dirty.clear();
  }
}

std::string Disk::DurableContent(const std::string& path) const {
  const auto found = durable_names_.find(path);
  return found == durable_names_.end() ? std::string() : found->second->durable;
}

}  // namespace railwright::sim
