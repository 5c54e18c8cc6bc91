// SQLite's file system over a simulated disk. Locks and the shared index are those of one process, as SQLite
// describes them in "The SQLite OS Interface"; syncing is what makes bytes durable, and nothing else does.
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "tests/sim/disk.h"

namespace railwright::sim {
namespace {

int g_last_error = 0;
Random g_random(1);

struct File {
  sqlite3_file base;
  Disk* disk;
  std::shared_ptr<Inode> inode;
  std::string path;
  int level;       // SQLITE_LOCK_…
  bool sync_name;  // a log's name is synced with its first content, as SQLite's own file system does
  bool delete_on_close;
  bool has_shm;
  unsigned shm_shared, shm_exclusive;  // bits of what this connection holds
};

File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

int Fail(int error, int code) {
  g_last_error = -error;
  return error == -ENOSPC ? SQLITE_FULL : code;
}

int Unlock(sqlite3_file* base, int level) {
  File& file = Of(base);
  Inode& inode = *file.inode;
  if (file.level <= level) return SQLITE_OK;
  if (file.level > SQLITE_LOCK_SHARED) {
    if (file.level == SQLITE_LOCK_EXCLUSIVE) inode.exclusive = false;
    inode.pending = inode.reserved = false;
  }
  if (level == SQLITE_LOCK_NONE) --inode.shared;
  file.level = level;
  return SQLITE_OK;
}

int ShmUnmap(sqlite3_file* base, int) {
  File& file = Of(base);
  if (!file.has_shm) return SQLITE_OK;
  Inode& inode = *file.inode;
  for (unsigned i = 0; i < 8; ++i) {
    if ((file.shm_shared >> i & 1U) != 0) --inode.shm_shared[i];
    if ((file.shm_exclusive >> i & 1U) != 0) inode.shm_exclusive[i] = false;
  }
  file.shm_shared = file.shm_exclusive = 0;
  file.has_shm = false;
  if (--inode.shm_users == 0) inode.shm.clear();
  return SQLITE_OK;
}

int Close(sqlite3_file* base) {
  File& file = Of(base);
  ShmUnmap(base, 0);
  Unlock(base, SQLITE_LOCK_NONE);
  if (file.delete_on_close && file.disk != nullptr) file.disk->Unlink(file.path);
  file.inode.~shared_ptr();
  file.path.~basic_string();
  return SQLITE_OK;
}

int Read(sqlite3_file* base, void* into, int amount, sqlite3_int64 offset) {
  const std::string& data = Of(base).inode->data;
  const auto at = static_cast<std::size_t>(offset), wanted = static_cast<std::size_t>(amount);
  const std::size_t there = at < data.size() ? std::min(wanted, data.size() - at) : 0;
  std::memcpy(into, data.data() + (there > 0 ? at : 0), there);
  if (there == wanted) return SQLITE_OK;
  std::memset(static_cast<char*>(into) + there, 0, wanted - there);
  return SQLITE_IOERR_SHORT_READ;
}

int Write(sqlite3_file* base, const void* from, int amount, sqlite3_int64 offset) {
  File& file = Of(base);
  std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(amount));
  auto at = static_cast<std::size_t>(offset);
  while (!bytes.empty()) {
    const long wrote = file.disk->Write(*file.inode, file.path, at, bytes);
    if (wrote <= 0) return Fail(wrote == 0 ? -ENOSPC : static_cast<int>(wrote), SQLITE_IOERR_WRITE);
    at += static_cast<std::size_t>(wrote);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return SQLITE_OK;
}

int Truncate(sqlite3_file* base, sqlite3_int64 size) {
  File& file = Of(base);
  const int result = file.disk->Truncate(*file.inode, file.path, static_cast<std::size_t>(size));
  return result < 0 ? Fail(result, SQLITE_IOERR_TRUNCATE) : SQLITE_OK;
}

int Sync(sqlite3_file* base, int) {
  File& file = Of(base);
  if (const int result = file.disk->Sync(*file.inode, file.path); result < 0)
    return Fail(result, SQLITE_IOERR_FSYNC);
  if (!file.sync_name) return SQLITE_OK;
  if (const int result = file.disk->SyncFolder(); result < 0) return Fail(result, SQLITE_IOERR_DIR_FSYNC);
  file.sync_name = false;
  return SQLITE_OK;
}

int Size(sqlite3_file* base, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(Of(base).inode->data.size());
  return SQLITE_OK;
}

int Lock(sqlite3_file* base, int level) {
  File& file = Of(base);
  Inode& inode = *file.inode;
  if (file.level >= level) return SQLITE_OK;
  if (level == SQLITE_LOCK_SHARED) {
    if (inode.pending || inode.exclusive) return SQLITE_BUSY;
    ++inode.shared;
  } else if (level == SQLITE_LOCK_RESERVED) {
    if (inode.reserved || inode.pending || inode.exclusive) return SQLITE_BUSY;
    inode.reserved = true;
  } else {
    if (inode.exclusive) return SQLITE_BUSY;
    if (file.level < SQLITE_LOCK_RESERVED && (inode.reserved || inode.pending)) return SQLITE_BUSY;
    inode.pending = true;
    if (file.level < SQLITE_LOCK_PENDING) file.level = SQLITE_LOCK_PENDING;
    if (inode.shared > 1) return SQLITE_BUSY;
    inode.exclusive = true;
  }
  file.level = level;
  return SQLITE_OK;
}

int CheckReserved(sqlite3_file* base, int* held) {
  const Inode& inode = *Of(base).inode;
  *held = inode.reserved || inode.pending || inode.exclusive ? 1 : 0;
  return SQLITE_OK;
}

int Control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SectorSize(sqlite3_file*) { return 4096; }
int Characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int ShmMap(sqlite3_file* base, int region, int size, int extend, void volatile** out) {
  File& file = Of(base);
  Inode& inode = *file.inode;
  if (!file.has_shm) {
    file.has_shm = true;
    ++inode.shm_users;
  }
  *out = nullptr;
  const auto index = static_cast<std::size_t>(region);
  if (index >= inode.shm.size()) {
    if (extend == 0) return SQLITE_OK;
    inode.shm.reserve(64);  // SQLite keeps the addresses
    while (inode.shm.size() <= index) inode.shm.emplace_back(static_cast<std::size_t>(size), '\0');
  }
  *out = inode.shm[index].data();
  return SQLITE_OK;
}

int ShmLock(sqlite3_file* base, int offset, int count, int flags) {
  File& file = Of(base);
  Inode& inode = *file.inode;
  const auto first = static_cast<unsigned>(offset), end = first + static_cast<unsigned>(count);
  for (unsigned i = first; i < end; ++i) {
    const unsigned bit = 1U << i;
    const bool shared = (file.shm_shared & bit) != 0, exclusive = (file.shm_exclusive & bit) != 0;
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      if (shared) --inode.shm_shared[i];
      if (exclusive) inode.shm_exclusive[i] = false;
      file.shm_shared &= ~bit;
      file.shm_exclusive &= ~bit;
    } else if ((flags & SQLITE_SHM_SHARED) != 0) {
      if (shared) continue;
      if (inode.shm_exclusive[i]) return SQLITE_BUSY;
      ++inode.shm_shared[i];
      file.shm_shared |= bit;
    } else if (inode.shm_exclusive[i] || inode.shm_shared[i] > (shared ? 1 : 0)) {
      return SQLITE_BUSY;
    }
  }
  if ((flags & (SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED)) != 0) return SQLITE_OK;
  for (unsigned i = first; i < end; ++i) {
    inode.shm_exclusive[i] = true;
    file.shm_exclusive |= 1U << i;
  }
  return SQLITE_OK;
}

void ShmBarrier(sqlite3_file*) {}

const sqlite3_io_methods kMethods = {
    2,        Close,         Read,    Write,      Truncate,        Sync,   Size,    Lock,
    Unlock,   CheckReserved, Control, SectorSize, Characteristics, ShmMap, ShmLock, ShmBarrier,
    ShmUnmap, nullptr,       nullptr};

// Temporary files have no name: they live on a disk of their own, which nothing fails.
Disk& Scratch() {
  static Disk disk("/sim/scratch");
  return disk;
}

int Open(sqlite3_vfs*, const char* name, sqlite3_file* base, int flags, int* out_flags) {
  base->pMethods = nullptr;
  File& file = Of(base);
  static std::uint64_t temporary = 0;
  const std::string path = name != nullptr ? name : "/sim/scratch/" + std::to_string(++temporary);
  Disk* disk = name != nullptr ? Disks::All().Of(path) : &Scratch();
  if (disk == nullptr) return SQLITE_CANTOPEN;
  std::shared_ptr<Inode> inode;
  const int result =
      disk->Open(path, (flags & SQLITE_OPEN_CREATE) != 0, (flags & SQLITE_OPEN_EXCLUSIVE) != 0, false, inode);
  if (result < 0) return Fail(result, SQLITE_CANTOPEN);
  new (&file.inode) std::shared_ptr<Inode>(std::move(inode));
  new (&file.path) std::string(path);
  file.disk = disk;
  file.level = SQLITE_LOCK_NONE;
  file.sync_name =
      (flags & SQLITE_OPEN_CREATE) != 0 && (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  file.delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  file.has_shm = false;
  file.shm_shared = file.shm_exclusive = 0;
  if (out_flags != nullptr) *out_flags = flags;
  base->pMethods = &kMethods;
  return SQLITE_OK;
}

int Delete(sqlite3_vfs*, const char* name, int sync) {
  Disk* disk = Disks::All().Of(name);
  if (disk == nullptr) return SQLITE_IOERR_DELETE;
  const int result = disk->Unlink(name);
  if (result == -ENOENT) return SQLITE_IOERR_DELETE_NOENT;
  if (result < 0) return Fail(result, SQLITE_IOERR_DELETE);
  if (sync != 0)
    if (const int synced = disk->SyncFolder(); synced < 0) return Fail(synced, SQLITE_IOERR_DIR_FSYNC);
  return SQLITE_OK;
}

int Access(sqlite3_vfs*, const char* name, int flags, int* result) {
  const Disk* disk = Disks::All().Of(name);
  const auto inode = disk == nullptr ? nullptr : disk->Find(name);
  // An empty log is as none: SQLite asks that way.
  *result = inode && (flags != SQLITE_ACCESS_EXISTS || !inode->data.empty()) ? 1 : 0;
  return SQLITE_OK;
}

int FullPath(sqlite3_vfs*, const char* name, int size, char* out) {
  if (std::strlen(name) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(out, name);
  return SQLITE_OK;
}

int Randomness(sqlite3_vfs*, int size, char* out) {
  for (int i = 0; i < size; ++i) out[i] = static_cast<char>(g_random.Next());
  return size;
}
int Sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
int CurrentTime(sqlite3_vfs*, double* now) {
  *now = 2461374.5;  // 2026-11-30
  return SQLITE_OK;
}
int LastError(sqlite3_vfs*, int, char*) { return g_last_error; }

}  // namespace

void UseSimulatedSqlite() {
  static sqlite3_vfs vfs = {1,       sizeof(File), 512,        nullptr,  "simulated", nullptr,
                            Open,    Delete,       Access,     FullPath, nullptr,     nullptr,
                            nullptr, nullptr,      Randomness, Sleep,    CurrentTime, LastError,
                            nullptr, nullptr,      nullptr,    nullptr};
  g_random = Random(1);
  sqlite3_vfs_register(&vfs, 1);
  sqlite3_randomness(0, nullptr);  // a run does not depend on those before it
}

}  // namespace railwright::sim
