// /dbus/unit/<unit>: units of systemd, over the system bus.
#include <sys/stat.h>
#include <systemd/sd-bus.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include "agent/machine/backend.h"
#include "agent/machine/paths.h"
#include "core/decode/fields.h"
#include "core/decode/unit_name.h"

namespace railwright::machine {
namespace {

using std::chrono::steady_clock;

constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr const char* kUnit = "org.freedesktop.systemd1.Unit";
/// systemd answers a question at once; only jobs take time, and they are not waited for in a call.
constexpr std::uint64_t kCallMicroseconds = 5'000'000;

struct Unref {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
using Bus = std::unique_ptr<sd_bus, Unref>;
using Message = std::unique_ptr<sd_bus_message, Unref>;
using Slot = std::unique_ptr<sd_bus_slot, Unref>;

/// An error as it came over the bus, freed with it.
struct BusError {
  sd_bus_error error{};  // as SD_BUS_ERROR_NULL
  BusError() = default;
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  ~BusError() { sd_bus_error_free(&error); }
};

/// Names out of org.freedesktop.systemd1(5) and the D-Bus specification.
Status StatusOf(int result, const sd_bus_error& error, const std::string& what) {
  const std::string name = error.name != nullptr ? error.name : "";
  const std::string told = error.message != nullptr ? error.message : "";
  const auto is = [&](std::string_view end) { return name.ends_with(end); };
  const int number = result < 0 ? -result : EIO;
  const std::string text = what + ": " + (told.empty() ? name : told);
  if (is(".NoSuchUnit") || is(".FileNotFound")) return Status(Code::kNotFound, text, ENOENT);
  if (is(".ServiceUnknown") || is(".NameHasNoOwner"))
    return Status(Code::kUnavailable, text + " (systemd does not answer on the system bus)", number);
  if (is(".AccessDenied") || is(".InteractiveAuthorizationRequired"))
    return Status(Code::kPermissionDenied, text + " (only root may do it)", EPERM);
  if (is(".UnitMasked")) return Status(Code::kFailedPrecondition, text, number);
  if (is(".NoReply") || is(".Timeout")) return Status(Code::kDeadlineExceeded, text, ETIMEDOUT);
  return FromErrno(number, what, told);
}

bool IsGone(int result) {
  return result == -ENOTCONN || result == -ECONNRESET || result == -EPIPE || result == -ESHUTDOWN;
}

class Units final : public Backend {
 public:
  Units(std::string root, std::string address, std::chrono::milliseconds job_deadline)
      : root_(std::move(root)), address_(std::move(address)), job_deadline_(job_deadline) {}

  Result<std::string> Get(std::string_view path) override {
    RW_ASSIGN_OR_RETURN(const std::string unit, UnitOf(path));
    RW_ASSIGN_OR_RETURN(const Fields fields, Read(path, unit));
    return fields.Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 1) return std::vector<std::string>{"unit"};
    if (parts.size() != 2 || parts[1] != "unit") return NoSuchPath(path);
    Message reply;
    RW_RETURN_IF_ERROR(Ask(std::string(path), reply, "ListUnits", ""));
    std::vector<std::string> names;
    const char* name = nullptr;
    int result = sd_bus_message_enter_container(reply.get(), 'a', "(ssssssouso)");
    while (result > 0 && (result = sd_bus_message_enter_container(reply.get(), 'r', "ssssssouso")) > 0) {
      result = sd_bus_message_read(reply.get(), "s", &name);
      if (result > 0) names.emplace_back(name);
      if (result > 0) result = sd_bus_message_skip(reply.get(), "sssssouso");
      if (result >= 0) result = sd_bus_message_exit_container(reply.get());
    }
    if (result < 0) return FromErrno(-result, std::string(path) + ": the answer of systemd");
    return Sorted(std::move(names));
  }

  Status Set(std::string_view path, std::string_view value) override {
    RW_ASSIGN_OR_RETURN(const std::string unit, UnitOf(path));
    const Result<Fields> wanted = Fields::Parse(value);
    if (!wanted.ok()) return wanted.status().Within(path);
    RW_RETURN_IF_ERROR(CheckWanted(path, *wanted));
    RW_ASSIGN_OR_RETURN(const Fields now, Read(path, unit));
    const auto differs = [&](std::string_view name) {
      const std::string *want = wanted->Find(name), *have = now.Find(name);
      return want != nullptr && (have == nullptr || *want != *have);
    };
    const std::string what = std::string(path) + ": setting " + std::string(value);
    if (differs("enabled")) {
      const std::string* enabled = now.Find("enabled");
      RW_RETURN_IF_ERROR(
          SetEnabled(what, unit, *wanted->Find("enabled"), enabled != nullptr && *enabled == "masked"));
    }
    if (!differs("active")) return Ok();
    const bool start = *wanted->Find("active") == "active";
    // What is not there is as inactive as can be; what failed is not running, and stopping clears nothing.
    if (!start && *now.Find("active") == "failed") return Ok();
    return RunJob(what, unit, start ? "StartUnit" : "StopUnit");
  }

 private:
  static Result<std::string> UnitOf(std::string_view path) {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || parts[1] != "unit") return NoSuchPath(path);
    if (!IsUnitName(parts[2]))
      return Status(Code::kInvalidArgument,
                    std::string(path) + ": no name of a unit (allowed: NAME.service, NAME.timer …)");
    return std::string(parts[2]);
  }

  static Status CheckWanted(std::string_view path, const Fields& wanted) {
    bool any = false;
    for (const auto& [name, text] : wanted.all()) {
      if (name == "load" || name == "sub") continue;  // readings, kept when what was read is written back
      const bool fine = name == "active" ? text == "active" || text == "inactive"
                                         : name == "enabled" &&
                                               (text == "enabled" || text == "disabled" || text == "masked");
      if (!fine)
        return Status(Code::kInvalidArgument, std::string(path) + ": " + name + "=" + text +
                                                  " (allowed: active=active|inactive, "
                                                  "enabled=enabled|disabled|masked)");
      any = true;
    }
    if (any) return Ok();
    return Status(Code::kInvalidArgument, std::string(path) + ": no field to set (known: active, enabled)");
  }

  /// A connection of one's own: the process-wide ones of libsystemd would be shared with whoever else uses
  /// it.
  Result<Bus> Connect(const std::string& what) const {
    struct stat facts {};
    // sd_booted(3): this folder is made by systemd as the first thing.
    const std::string booted = root_ + "/run/systemd/system";
    if (::stat(booted.c_str(), &facts) != 0) {
      if (errno != ENOENT && errno != ENOTDIR) return FromErrno(errno, what + ": " + booted);
      return Status(Code::kNotFound, what + ": systemd does not run here (" + booted + " is not there)",
                    ENOENT);
    }
    sd_bus* raw = nullptr;
    int result = 0;
    if (address_.empty()) {
      result = sd_bus_open_system(&raw);
    } else {
      result = sd_bus_new(&raw);
      if (result >= 0) result = sd_bus_set_address(raw, address_.c_str());
      if (result >= 0) result = sd_bus_set_bus_client(raw, 1);
      if (result >= 0) result = sd_bus_start(raw);
    }
    Bus bus(raw);
    if (result >= 0) result = sd_bus_set_method_call_timeout(bus.get(), kCallMicroseconds);
    if (result >= 0) return bus;
    return Status(Code::kUnavailable,
                  FromErrno(-result, what + ": the system bus").message() +
                      " (systemd runs, but its bus does not answer; look at dbus.service)",
                  -result);
  }

  template <class... Arguments>
  static int Call(sd_bus* bus, BusError& error, Message& reply, const char* method, const char* types,
                  Arguments... arguments) {
    sd_bus_message* raw = nullptr;
    const int result = sd_bus_call_method(bus, kSystemd, kManagerPath, kManager, method, &error.error, &raw,
                                          types, arguments...);
    reply.reset(raw);
    return result;
  }

  /// Asks over the kept connection; once more when it has gone, as after a restart of the bus.
  template <class... Arguments>
  Status Ask(const std::string& what, Message& reply, const char* method, const char* types,
             Arguments... arguments) {
    for (int attempt = 0;; ++attempt) {
      if (!bus_) {
        RW_ASSIGN_OR_RETURN(bus_, Connect(what));
      }
      BusError error;
      const int result = Call(bus_.get(), error, reply, method, types, arguments...);
      if (result >= 0) return Ok();
      if (IsGone(result)) bus_.reset();
      if (!IsGone(result) || attempt == 1) return StatusOf(result, error.error, what);
    }
  }

  Result<Fields> Read(std::string_view path, const std::string& unit) {
    const std::string what(path);
    Message reply;
    RW_RETURN_IF_ERROR(Ask(what, reply, "LoadUnit", "s", unit.c_str()));
    const char* object = nullptr;
    if (const int result = sd_bus_message_read(reply.get(), "o", &object); result <= 0)
      return FromErrno(result < 0 ? -result : EIO, what + ": the answer of systemd");
    Fields fields;
    for (const auto& [name, property] :
         {std::pair{"load", "LoadState"}, {"active", "ActiveState"}, {"sub", "SubState"}}) {
      BusError error;
      char* text = nullptr;
      const int result =
          sd_bus_get_property_string(bus_.get(), kSystemd, object, kUnit, property, &error.error, &text);
      const std::unique_ptr<char, void (*)(void*)> owned(text, std::free);
      if (IsGone(result)) bus_.reset();
      if (result < 0) return StatusOf(result, error.error, what);
      fields.Set(name, text);
    }
    // Read from the disk, unlike the unit's own property, which is as old as the last reload.
    Message enabled;
    const Status status = Ask(what, enabled, "GetUnitFileState", "s", unit.c_str());
    const char* state = nullptr;
    if (status.ok() && sd_bus_message_read(enabled.get(), "s", &state) > 0 && *state != '\0')
      fields.Set("enabled", state);
    else if (!status.ok() && status.code() != Code::kNotFound)
      return status;
    return fields;
  }

  Status SetEnabled(const std::string& what, const std::string& unit, const std::string& wanted,
                    bool masked) {
    Message reply;
    const char* name = unit.c_str();
    if (wanted == "masked") {
      RW_RETURN_IF_ERROR(Ask(what, reply, "MaskUnitFiles", "asbb", 1, name, 0, 0));
    } else {
      if (masked) RW_RETURN_IF_ERROR(Ask(what, reply, "UnmaskUnitFiles", "asb", 1, name, 0));
      if (wanted == "enabled") {
        RW_RETURN_IF_ERROR(Ask(what, reply, "EnableUnitFiles", "asbb", 1, name, 0, 0));
        int has_install = 0;
        if (sd_bus_message_read(reply.get(), "b", &has_install) > 0 && has_install == 0)
          return Status(Code::kFailedPrecondition,
                        what +
                            ": the unit has no [Install] section, so it cannot be enabled; something else "
                            "pulls it in");
      } else {
        RW_RETURN_IF_ERROR(Ask(what, reply, "DisableUnitFiles", "asb", 1, name, 0));
      }
    }
    return Ask(what, reply, "Reload", "");
  }

  /// Ended jobs and how each did, by their object paths.
  using Ended = std::map<std::string, std::string>;

  static int TakeJobRemoved(sd_bus_message* message, void* data, sd_bus_error*) {
    std::uint32_t id = 0;
    const char *job = nullptr, *unit = nullptr, *result = nullptr;
    if (sd_bus_message_read(message, "uoss", &id, &job, &unit, &result) > 0)
      static_cast<Ended*>(data)->insert_or_assign(job, result);
    return 0;
  }

  /// On a connection of its own: who subscribes is sent every signal, and nobody would read them later.
  Status RunJob(const std::string& what, const std::string& unit, const char* method) const {
    const auto deadline = steady_clock::now() + job_deadline_;
    RW_ASSIGN_OR_RETURN(const Bus bus, Connect(what));
    Ended ended;
    sd_bus_slot* raw = nullptr;
    int result = sd_bus_match_signal(bus.get(), &raw, kSystemd, kManagerPath, kManager, "JobRemoved",
                                     TakeJobRemoved, &ended);
    const Slot slot(raw);
    if (result < 0) return FromErrno(-result, what + ": waiting for jobs");
    Message reply;
    BusError error;
    result = Call(bus.get(), error, reply, "Subscribe", "");
    if (result >= 0) result = Call(bus.get(), error, reply, method, "ss", unit.c_str(), "replace");
    const char* path = nullptr;
    if (result >= 0) result = sd_bus_message_read(reply.get(), "o", &path);
    if (result < 0) return StatusOf(result, error.error, what);
    const std::string job = path;
    while (!ended.contains(job)) {
      result = sd_bus_process(bus.get(), nullptr);
      if (result > 0) continue;
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - steady_clock::now());
      if (result == 0 && left.count() > 0)
        result = sd_bus_wait(bus.get(), static_cast<std::uint64_t>(left.count()));
      if (result < 0 && result != -EINTR) return FromErrno(-result, what + ": waiting for its job");
      if (left.count() <= 0)
        return Status(Code::kDeadlineExceeded,
                      what + ": its job still runs after " +
                          std::to_string(std::chrono::ceil<std::chrono::seconds>(job_deadline_).count()) +
                          " s; look at `systemctl status " + unit + "`",
                      ETIMEDOUT);
    }
    if (ended[job] == "done") return Ok();
    return Status(Code::kFailedPrecondition,
                  what + ": its job ended as \"" + ended[job] + "\"; look at `journalctl -u " + unit + "`");
  }

  std::string root_, address_;
  std::chrono::milliseconds job_deadline_;
  Bus bus_;
};

}  // namespace

std::unique_ptr<Backend> MakeDbus(std::string root, std::string address,
                                  std::chrono::milliseconds job_deadline) {
  return std::make_unique<Units>(std::move(root), std::move(address), job_deadline);
}

}  // namespace railwright::machine
