#include "agent/machine/directory.h"

#include <dirent.h>

#include <cerrno>
#include <memory>

#include "agent/machine/paths.h"

namespace railwright::machine {

Result<std::vector<std::string>> NamesIn(const std::string& directory, std::string_view path) {
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return FromErrno(errno, path);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) {
      if (errno != 0) return FromErrno(errno, path);
      return Sorted(std::move(names));
    }
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

}  // namespace railwright::machine
