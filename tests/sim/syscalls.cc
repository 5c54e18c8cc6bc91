// The system calls of the production code, linked with --wrap: paths below /sim go to a simulated disk,
// everything else to the kernel. So WriteWholeFile, FileJournal, ChangeLog and the store's file code are
// tested as they are shipped.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <map>
#include <memory>

#include "tests/sim/disk.h"

namespace railwright::sim {
namespace {

constexpr int kFirst = 1 << 20;  // far above what the kernel gives

struct OpenFile {
  Disk* disk;
  std::shared_ptr<Inode> inode;
  std::string path;
  std::size_t offset = 0;
  bool append = false, locked = false;
};

std::map<int, OpenFile>& Files() {
  static std::map<int, OpenFile> files;
  return files;
}

OpenFile* File(int fd) {
  if (fd < kFirst) return nullptr;
  const auto found = Files().find(fd);
  return found == Files().end() ? nullptr : &found->second;
}

template <class T>
T Answer(T result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

int OpenAt(Disk& disk, const char* path, int flags) {
  std::shared_ptr<Inode> inode;
  const int result =
      disk.Open(path, (flags & O_CREAT) != 0, (flags & O_EXCL) != 0, (flags & O_TRUNC) != 0, inode);
  if (result < 0) return result;
  if ((flags & O_DIRECTORY) != 0 && !inode->directory) return -ENOTDIR;
  int fd = kFirst;
  while (Files().contains(fd)) ++fd;
  Files()[fd] = {&disk, std::move(inode), path, 0, (flags & O_APPEND) != 0};
  return fd;
}

void Tell(const Inode& inode, struct stat& info) {
  std::memset(&info, 0, sizeof info);
  info.st_ino = inode.number;
  info.st_mode = inode.directory ? S_IFDIR | 0700 : S_IFREG | 0600;
  info.st_size = static_cast<off_t>(inode.data.size());
  info.st_mtim.tv_sec = inode.mtime_ns / 1'000'000'000;
  info.st_mtim.tv_nsec = inode.mtime_ns % 1'000'000'000;
}

ssize_t ReadAt(const Inode& inode, void* into, std::size_t size, std::size_t offset) {
  if (offset >= inode.data.size()) return 0;
  size = std::min(size, inode.data.size() - offset);
  std::memcpy(into, inode.data.data() + offset, size);
  return static_cast<ssize_t>(size);
}

}  // namespace
}  // namespace railwright::sim

using railwright::sim::Answer;
using railwright::sim::Disk;
using railwright::sim::Disks;
using railwright::sim::File;
using railwright::sim::Files;

extern "C" {

int __real_open(const char* path, int flags, ...);
int __real_close(int fd);
ssize_t __real_read(int fd, void* into, size_t size);
ssize_t __real_pread(int fd, void* into, size_t size, off_t offset);
ssize_t __real_write(int fd, const void* from, size_t size);
ssize_t __real_pwrite(int fd, const void* from, size_t size, off_t offset);
int __real_fchmod(int fd, mode_t mode);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_rename(const char* from, const char* to);
int __real_unlink(const char* path);
int __real_ftruncate(int fd, off_t size);
int __real_truncate(const char* path, off_t size);
int __real_stat(const char* path, struct stat* info);
int __real_fstat(int fd, struct stat* info);
int __real_access(const char* path, int mode);
int __real_flock(int fd, int operation);
int __real_statvfs(const char* path, struct statvfs* info);
int __real_mkdir(const char* path, mode_t mode);

int __wrap_open(const char* path, int flags, ...) {
  if (Disk* disk = Disks::All().Of(path)) return Answer(railwright::sim::OpenAt(*disk, path, flags));
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return __real_open(path, flags, mode);
}

int __wrap_close(int fd) {
  auto* file = File(fd);
  if (file == nullptr) return __real_close(fd);
  if (file->locked) file->inode->flocked = false;
  Files().erase(fd);
  return 0;
}

ssize_t __wrap_read(int fd, void* into, size_t size) {
  auto* file = File(fd);
  if (file == nullptr) return __real_read(fd, into, size);
  const ssize_t got = railwright::sim::ReadAt(*file->inode, into, size, file->offset);
  file->offset += static_cast<std::size_t>(got);
  return got;
}

ssize_t __wrap_pread(int fd, void* into, size_t size, off_t offset) {
  auto* file = File(fd);
  if (file == nullptr) return __real_pread(fd, into, size, offset);
  return railwright::sim::ReadAt(*file->inode, into, size, static_cast<std::size_t>(offset));
}

ssize_t __wrap_write(int fd, const void* from, size_t size) {
  auto* file = File(fd);
  if (file == nullptr) return __real_write(fd, from, size);
  const std::size_t at = file->append ? file->inode->data.size() : file->offset;
  const long wrote = file->disk->Write(*file->inode, file->path, at, {static_cast<const char*>(from), size});
  if (wrote > 0) file->offset = at + static_cast<std::size_t>(wrote);
  return Answer(static_cast<ssize_t>(wrote));
}

ssize_t __wrap_pwrite(int fd, const void* from, size_t size, off_t offset) {
  auto* file = File(fd);
  if (file == nullptr) return __real_pwrite(fd, from, size, offset);
  return Answer(static_cast<ssize_t>(file->disk->Write(
      *file->inode, file->path, static_cast<std::size_t>(offset), {static_cast<const char*>(from), size})));
}

// One user, who may everything.
int __wrap_fchmod(int fd, mode_t mode) { return File(fd) == nullptr ? __real_fchmod(fd, mode) : 0; }

int __wrap_fsync(int fd) {
  auto* file = File(fd);
  return file == nullptr ? __real_fsync(fd) : Answer(file->disk->Sync(*file->inode, file->path));
}

int __wrap_fdatasync(int fd) {
  auto* file = File(fd);
  return file == nullptr ? __real_fdatasync(fd) : Answer(file->disk->Sync(*file->inode, file->path));
}

int __wrap_rename(const char* from, const char* to) {
  Disk* disk = Disks::All().Of(from);
  return disk == nullptr ? __real_rename(from, to) : Answer(disk->Rename(from, to));
}

int __wrap_unlink(const char* path) {
  Disk* disk = Disks::All().Of(path);
  return disk == nullptr ? __real_unlink(path) : Answer(disk->Unlink(path));
}

int __wrap_ftruncate(int fd, off_t size) {
  auto* file = File(fd);
  if (file == nullptr) return __real_ftruncate(fd, size);
  return Answer(file->disk->Truncate(*file->inode, file->path, static_cast<std::size_t>(size)));
}

int __wrap_truncate(const char* path, off_t size) {
  Disk* disk = Disks::All().Of(path);
  if (disk == nullptr) return __real_truncate(path, size);
  const auto inode = disk->Find(path);
  return inode ? Answer(disk->Truncate(*inode, path, static_cast<std::size_t>(size))) : Answer(-ENOENT);
}

int __wrap_stat(const char* path, struct stat* info) {
  Disk* disk = Disks::All().Of(path);
  if (disk == nullptr) return __real_stat(path, info);
  const auto inode = disk->Find(path);
  if (!inode) return Answer(-ENOENT);
  railwright::sim::Tell(*inode, *info);
  return 0;
}

int __wrap_fstat(int fd, struct stat* info) {
  auto* file = File(fd);
  if (file == nullptr) return __real_fstat(fd, info);
  railwright::sim::Tell(*file->inode, *info);
  return 0;
}

int __wrap_access(const char* path, int mode) {
  Disk* disk = Disks::All().Of(path);
  if (disk == nullptr) return __real_access(path, mode);
  return disk->Find(path) ? 0 : Answer(-ENOENT);
}

int __wrap_flock(int fd, int operation) {
  auto* file = File(fd);
  if (file == nullptr) return __real_flock(fd, operation);
  if ((operation & LOCK_UN) != 0) {
    file->inode->flocked = file->locked = false;
    return 0;
  }
  if (file->inode->flocked && !file->locked) return Answer(-EWOULDBLOCK);
  file->inode->flocked = file->locked = true;
  return 0;
}

int __wrap_statvfs(const char* path, struct statvfs* info) {
  Disk* disk = Disks::All().Of(path);
  if (disk == nullptr) return __real_statvfs(path, info);
  std::memset(info, 0, sizeof *info);
  info->f_frsize = 4096;
  info->f_bfree = disk->full ? 0 : 1 << 20;
  return 0;
}

// Of the one process that a host has; it stands in the names of temporary files.
int __wrap_getpid() { return 4711; }

int __wrap_mkdir(const char* path, mode_t mode) {
  return Disks::All().Of(path) == nullptr ? __real_mkdir(path, mode) : Answer(-EEXIST);
}

}  // extern "C"
