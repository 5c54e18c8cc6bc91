// /kmod/<name>: kernel modules, by /sys/module and libkmod.
#include <fcntl.h>
#include <libkmod.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include "agent/machine/backend.h"
#include "agent/machine/directory.h"
#include "agent/machine/kept_files.h"
#include "agent/machine/paths.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

struct Unref {
  void operator()(kmod_ctx* context) const { kmod_unref(context); }
  void operator()(kmod_module* module) const { kmod_module_unref(module); }
};
using Context = std::unique_ptr<kmod_ctx, Unref>;
using Module = std::unique_ptr<kmod_module, Unref>;

/// The kernel's spelling: dashes are underscores. NotFound for what cannot be a module's name.
Result<std::string> NameOf(std::string_view path) {
  const auto parts = PathParts(path);
  if (parts.size() != 2) return NoSuchPath(path);
  std::string name(parts[1]);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool IsDirectory(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

/// libkmod would run an "install" line of modprobe.d through a shell. It never gets there: the line is noted
/// and the load refused.
int RefuseInstall(kmod_module* module, const char* command, void* data) {
  *static_cast<std::string*>(data) = std::string("modprobe.d has an install line for ") +
                                     kmod_module_get_name(module) + " (" + command + ")";
  return -EPERM;
}

/// What a module's file said, and which file that was.
struct KeptInfo {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  time_t seconds = 0;
  long nanoseconds = 0;
  std::string text;
  bool IsOf(const KeptInfo& file) const {
    return device == file.device && inode == file.inode && size == file.size && seconds == file.seconds &&
           nanoseconds == file.nanoseconds && inode != 0;
  }
};

class Kmod final : public Backend {
 public:
  explicit Kmod(std::string root) : root_(std::move(root)) {}

  Result<std::string> Get(std::string_view path) override {
    if (const auto parts = PathParts(path); parts.size() == 3 && parts[2] == "info")
      return Info(path, path.substr(0, path.size() - std::string_view("/info").size()));
    RW_ASSIGN_OR_RETURN(const std::string name, NameOf(path));
    const std::string loaded = "/sys/module/" + name;
    const Result<std::string> state = files_.Read(loaded + "/initstate", root_ + loaded + "/initstate");
    if (state.ok()) return state;
    if (state.status().code() != Code::kNotFound) return state.status().Within(path);
    // A module of the kernel image has a directory only when it has parameters, and never an initstate.
    if (IsDirectory(root_ + loaded)) return std::string("builtin");
    RW_RETURN_IF_ERROR(Open());
    RW_ASSIGN_OR_RETURN(const Module module, Find(name, path));
    if (kmod_module_get_initstate(module.get()) == KMOD_MODULE_BUILTIN) return std::string("builtin");
    if (kmod_module_get_path(module.get()) != nullptr) return std::string("absent");
    return Status(Code::kNotFound, std::string(path) + ": kernel " + release_ + " has no such module",
                  ENOENT);
  }

  /// The modules that are loaded or built in with parameters.
  Result<std::vector<std::string>> List(std::string_view path) override {
    if (PathParts(path).size() != 1) {
      RW_RETURN_IF_ERROR(Get(path).status());
      return std::vector<std::string>{};
    }
    return NamesIn(root_ + "/sys/module", path);
  }

  Status Set(std::string_view path, std::string_view value) override {
    RW_ASSIGN_OR_RETURN(const std::string name, NameOf(path));
    if (value != "live" && !value.empty())
      return Status(Code::kInvalidArgument, std::string(path) + ": \"" + std::string(value) +
                                                "\" (allowed: live, or empty to unload)");
    RW_ASSIGN_OR_RETURN(const std::string state, Get(path));
    if (value.empty() && state == "absent") return Ok();
    if (!value.empty() && (state == "live" || state == "builtin")) return Ok();
    if (state == "builtin")
      return Status(Code::kFailedPrecondition,
                    std::string(path) + ": built into the kernel, cannot be unloaded");
    RW_RETURN_IF_ERROR(Open());
    RW_ASSIGN_OR_RETURN(const Module module, Find(name, path));
    return value.empty() ? Unload(path, name, module.get()) : Load(path, module.get());
  }

 private:
  /// The module index of the running kernel, opened again when depmod has rewritten it.
  Status Open() {
    if (context_ && kmod_validate_resources(context_.get()) == KMOD_RESOURCES_OK) return Ok();
    utsname system{};
    ::uname(&system);
    release_ = system.release;
    const std::string directory = root_ + "/lib/modules/" + release_;
    const char* no_configuration = nullptr;
    context_.reset(kmod_new(directory.c_str(), root_.empty() ? nullptr : &no_configuration));
    if (!context_) return FromErrno(errno != 0 ? errno : ENOMEM, "libkmod");
    kmod_set_log_fn(
        context_.get(), [](void*, int, const char*, int, const char*, const char*, va_list) {}, nullptr);
    (void)kmod_load_resources(context_.get());  // without an index it looks each name up in the files
    return Ok();
  }

  Result<Module> Find(const std::string& name, std::string_view path) {
    kmod_list* list = nullptr;
    const int error = kmod_module_new_from_lookup(context_.get(), name.c_str(), &list);
    Module module;
    if (error == 0 && list != nullptr) {
      Module first(kmod_module_get_module(list));
      // An alias is no module's name: what is written and what is read back must be the same thing.
      if (name == kmod_module_get_name(first.get())) module = std::move(first);
    }
    kmod_module_unref_list(list);
    if (!module)
      return Status(Code::kNotFound, std::string(path) + ": kernel " + release_ + " has no such module",
                    ENOENT);
    return module;
  }

  /// What stands in the module's file, which need not be what is loaded.
  Result<std::string> Info(std::string_view path, std::string_view module_path) {
    RW_ASSIGN_OR_RETURN(const std::string name, NameOf(module_path));
    RW_RETURN_IF_ERROR(Open());
    RW_ASSIGN_OR_RETURN(const Module module, Find(name, path));
    const char* file = kmod_module_get_path(module.get());
    if (file == nullptr)
      return Status(Code::kNotFound, std::string(path) + ": built into the kernel, there is no file", ENOENT);
    // A compressed module is unpacked whole for it, so what was found is kept until the file is another one.
    struct stat facts {};
    if (::stat(file, &facts) != 0) return FromErrno(errno, std::string(path) + ": " + file);
    KeptInfo& kept = infos_[name];
    const KeptInfo now{facts.st_dev,         facts.st_ino,          facts.st_size,
                       facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, {}};
    if (kept.IsOf(now)) return kept.text;
    kmod_list* list = nullptr;
    const int count = kmod_module_get_info(module.get(), &list);
    if (count < 0) return FromErrno(-count, std::string(path) + ": " + file);
    Fields fields;
    kmod_list* item = nullptr;
    kmod_list_foreach(item, list) {
      const std::string_view key = kmod_module_info_get_key(item), value = kmod_module_info_get_value(item);
      const bool word = !value.empty() && value.find_first_of(" \t\r\n") == std::string_view::npos;
      if ((key == "version" || key == "srcversion") && word) fields.Set(key, value);
    }
    kmod_module_info_free_list(list);
    fields.Set("file", std::string_view(file).find(' ') == std::string_view::npos ? file : "?");
    kept = now;
    kept.text = fields.Text();
    return kept.text;
  }

  static Status Load(std::string_view path, kmod_module* module) {
    std::string refused;
    const int result = kmod_module_probe_insert_module(module, KMOD_PROBE_APPLY_BLACKLIST, nullptr,
                                                       RefuseInstall, &refused, nullptr);
    if (result == 0) return Ok();
    if (!refused.empty())
      return Status(Code::kFailedPrecondition, std::string(path) + ": " + refused + "; load it by hand",
                    EPERM);
    if (result == KMOD_PROBE_APPLY_BLACKLIST)
      return Status(Code::kFailedPrecondition,
                    std::string(path) + ": blacklisted in modprobe.d; remove the blacklist line to load it");
    return FromErrno(result < 0 ? -result : EIO, std::string(path) + ": loading");
  }

  Status Unload(std::string_view path, const std::string& name, kmod_module* module) {
    const int result = kmod_module_remove_module(module, O_NONBLOCK);
    if (result == 0 || result == -ENOENT) return Ok();
    std::string users;
    if (const auto holders = NamesIn(root_ + "/sys/module/" + name + "/holders", path); holders.ok())
      for (const std::string& one : *holders) users += (users.empty() ? "used by " : ", ") + one;
    return FromErrno(result == -EAGAIN ? EBUSY : -result, std::string(path) + ": unloading", users);
  }

  std::string root_;
  std::string release_;
  KeptFiles files_;
  std::map<std::string, KeptInfo> infos_;
  Context context_;
};

}  // namespace

std::unique_ptr<Backend> MakeKmod(std::string root) { return std::make_unique<Kmod>(std::move(root)); }

}  // namespace railwright::machine
