#include "tests/machine/fake_systemd.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>

extern char** environ;

namespace railwright::machine {
namespace {

constexpr const char* kRoot = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

FakeSystemd& Self(void* data) { return *static_cast<FakeSystemd*>(data); }

std::string Path(const std::string& unit) {
  char* path = nullptr;
  sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &path);
  std::string text = path != nullptr ? path : "";
  std::free(path);
  return text;
}

std::string Named(const char* path) {
  char* name = nullptr;
  sd_bus_path_decode(path, "/org/freedesktop/systemd1/unit", &name);
  std::string text = name != nullptr ? name : "";
  std::free(name);
  return text;
}

int LoadUnit(sd_bus_message* call, void*, sd_bus_error*) {
  const char* unit = nullptr;
  if (const int result = sd_bus_message_read(call, "s", &unit); result < 0) return result;
  return sd_bus_reply_method_return(call, "o", Path(unit).c_str());
}

int GetUnitFileState(sd_bus_message* call, void* data, sd_bus_error* error) {
  const char* unit = nullptr;
  if (const int result = sd_bus_message_read(call, "s", &unit); result < 0) return result;
  FakeSystemd& self = Self(data);
  std::lock_guard lock(self.mutex);
  const auto found = self.units.find(unit);
  if (found == self.units.end())
    return sd_bus_error_set(error, "org.freedesktop.DBus.Error.FileNotFound", "No such file or directory");
  return sd_bus_reply_method_return(call, "s", found->second.enabled.c_str());
}

int ListUnits(sd_bus_message* call, void* data, sd_bus_error*) {
  FakeSystemd& self = Self(data);
  std::lock_guard lock(self.mutex);
  sd_bus_message* reply = nullptr;
  int result = sd_bus_message_new_method_return(call, &reply);
  if (result >= 0) result = sd_bus_message_open_container(reply, 'a', "(ssssssouso)");
  for (const auto& [name, unit] : self.units)
    if (result >= 0)
      result =
          sd_bus_message_append(reply, "(ssssssouso)", name.c_str(), "", unit.load.c_str(),
                                unit.active.c_str(), unit.sub.c_str(), "", Path(name).c_str(), 0, "", "/");
  if (result >= 0) result = sd_bus_message_close_container(reply);
  if (result >= 0) result = sd_bus_send(nullptr, reply, nullptr);
  sd_bus_message_unref(reply);
  return result;
}

// EnableUnitFiles, DisableUnitFiles, MaskUnitFiles, UnmaskUnitFiles of one unit.
int ChangeFiles(sd_bus_message* call, void* data, sd_bus_error*) {
  char** units = nullptr;
  if (const int result = sd_bus_message_read_strv(call, &units); result < 0) return result;
  const std::string unit = units != nullptr && units[0] != nullptr ? units[0] : "";
  for (char** one = units; one != nullptr && *one != nullptr; ++one) std::free(*one);
  std::free(units);
  const std::string method = sd_bus_message_get_member(call);
  FakeSystemd& self = Self(data);
  std::lock_guard lock(self.mutex);
  self.calls.push_back(method + " " + unit);
  FakeUnit& facts = self.units[unit];
  const bool install = facts.has_install;
  if (method == "EnableUnitFiles") {
    if (install) facts.enabled = "enabled";
    return sd_bus_reply_method_return(call, "ba(sss)", install ? 1 : 0, 0);
  }
  facts.enabled = method == "MaskUnitFiles" ? "masked" : "disabled";
  return sd_bus_reply_method_return(call, "a(sss)", 0);
}

int Plain(sd_bus_message* call, void* data, sd_bus_error*) {
  FakeSystemd& self = Self(data);
  std::lock_guard lock(self.mutex);
  self.calls.emplace_back(sd_bus_message_get_member(call));
  return sd_bus_reply_method_return(call, "");
}

int Job(sd_bus_message* call, void* data, sd_bus_error* error) {
  const char *unit = nullptr, *mode = nullptr;
  if (const int result = sd_bus_message_read(call, "ss", &unit, &mode); result < 0) return result;
  const std::string method = sd_bus_message_get_member(call);
  FakeSystemd& self = Self(data);
  std::lock_guard lock(self.mutex);
  self.calls.push_back(method + " " + unit);
  const auto found = self.units.find(unit);
  if (found == self.units.end()) {
    const std::string told = std::string("Unit ") + unit + " not found.";
    return sd_bus_error_set(error, "org.freedesktop.systemd1.NoSuchUnit", told.c_str());
  }
  const std::string job = std::string(kRoot) + "/job/" + std::to_string(++self.jobs);
  int result = sd_bus_reply_method_return(call, "o", job.c_str());
  FakeUnit& facts = found->second;
  if (facts.job_result == "never") return result;
  if (facts.job_result == "done") {
    facts.active = method == "StartUnit" ? "active" : "inactive";
    facts.sub = method == "StartUnit" ? "running" : "dead";
  } else {
    facts.active = facts.sub = "failed";
  }
  sd_bus* bus = sd_bus_message_get_bus(call);
  // Somebody else's job ends before ours.
  if (result >= 0)
    result = sd_bus_emit_signal(bus, kRoot, kManager, "JobRemoved", "uoss", 0,
                                "/org/freedesktop/systemd1/job/9999", "other.service", "failed");
  if (result >= 0)
    result = sd_bus_emit_signal(bus, kRoot, kManager, "JobRemoved", "uoss", self.jobs, job.c_str(), unit,
                                facts.job_result.c_str());
  return result;
}

int Property(sd_bus*, const char* path, const char*, const char* property, sd_bus_message* reply, void* data,
             sd_bus_error*) {
  FakeSystemd& self = Self(data);
  std::lock_guard lock(self.mutex);
  const auto found = self.units.find(Named(path));
  const FakeUnit facts = found != self.units.end() ? found->second : FakeUnit{.load = "not-found"};
  const std::string name = property;
  const std::string& text =
      name == "LoadState" ? facts.load : (name == "ActiveState" ? facts.active : facts.sub);
  return sd_bus_message_append(reply, "s", text.c_str());
}

// The tables of libsystemd are C: casts of theirs between types of functions.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
const sd_bus_vtable kManagerTable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("LoadUnit", "s", "o", LoadUnit, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("GetUnitFileState", "s", "s", GetUnitFileState, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("ListUnits", "", "a(ssssssouso)", ListUnits, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("EnableUnitFiles", "asbb", "ba(sss)", ChangeFiles, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("DisableUnitFiles", "asb", "a(sss)", ChangeFiles, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("MaskUnitFiles", "asbb", "a(sss)", ChangeFiles, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("UnmaskUnitFiles", "asb", "a(sss)", ChangeFiles, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Reload", "", "", Plain, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Subscribe", "", "", Plain, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("StartUnit", "ss", "o", Job, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("StopUnit", "ss", "o", Job, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL("JobRemoved", "uoss", 0),
    SD_BUS_VTABLE_END};
const sd_bus_vtable kUnitTable[] = {SD_BUS_VTABLE_START(0), SD_BUS_PROPERTY("LoadState", "s", Property, 0, 0),
                                    SD_BUS_PROPERTY("ActiveState", "s", Property, 0, 0),
                                    SD_BUS_PROPERTY("SubState", "s", Property, 0, 0), SD_BUS_VTABLE_END};
#pragma GCC diagnostic pop

int FindUnit(sd_bus*, const char*, const char*, void* data, void** found, sd_bus_error*) {
  *found = data;
  return 1;
}

}  // namespace

FakeSystemd::FakeSystemd(const std::string& folder) {
  const std::string socket = folder + "/bus", configuration = folder + "/bus.conf";
  std::ofstream(configuration)
      << "<busconfig><type>custom</type><listen>unix:path=" << socket
      << "</listen><auth>EXTERNAL</auth><policy context=\"default\">"
         "<allow send_destination=\"*\" eavesdrop=\"true\"/><allow receive_sender=\"*\"/>"
         "<allow own=\"*\"/><allow user=\"*\"/></policy></busconfig>";
  std::string program = "dbus-daemon", argument = "--config-file=" + configuration, fork = "--nofork";
  char* arguments[] = {program.data(), argument.data(), fork.data(), nullptr};
  // It complains of limits that an ordinary user may not raise.
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (::posix_spawnp(&daemon_, "dbus-daemon", &quiet, nullptr, arguments, environ) != 0) daemon_ = -1;
  ::posix_spawn_file_actions_destroy(&quiet);
  if (daemon_ < 0) return;
  for (int wait = 0; wait < 500 && ::access(socket.c_str(), F_OK) != 0; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  address_ = "unix:path=" + socket;
  thread_ = std::thread([this] { Serve(); });
  for (int wait = 0; wait < 500 && !ready_; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (!ready_) address_.clear();
}

FakeSystemd::~FakeSystemd() {
  Stop();
  if (daemon_ < 0) return;
  ::kill(daemon_, SIGTERM);
  ::waitpid(daemon_, nullptr, 0);
}

void FakeSystemd::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void FakeSystemd::Serve() {
  sd_bus* bus = nullptr;
  int result = sd_bus_new(&bus);
  if (result >= 0) result = sd_bus_set_address(bus, address_.c_str());
  if (result >= 0) result = sd_bus_set_bus_client(bus, 1);
  if (result >= 0) result = sd_bus_start(bus);
  if (result >= 0) result = sd_bus_add_object_vtable(bus, nullptr, kRoot, kManager, kManagerTable, this);
  if (result >= 0)
    result = sd_bus_add_fallback_vtable(bus, nullptr, "/org/freedesktop/systemd1/unit",
                                        "org.freedesktop.systemd1.Unit", kUnitTable, FindUnit, this);
  if (result >= 0) result = sd_bus_request_name(bus, "org.freedesktop.systemd1", 0);
  ready_ = result >= 0;
  while (result >= 0 && !stop_) {
    result = sd_bus_process(bus, nullptr);
    if (result == 0) result = sd_bus_wait(bus, 20'000);
    if (result == -EINTR) result = 0;
  }
  sd_bus_flush_close_unref(bus);
}

void FakeSystemd::Put(const std::string& unit, FakeUnit facts) {
  std::lock_guard lock(mutex);
  units.insert_or_assign(unit, std::move(facts));
}
FakeUnit FakeSystemd::Unit(const std::string& unit) {
  std::lock_guard lock(mutex);
  return units[unit];
}
std::vector<std::string> FakeSystemd::Calls() {
  std::lock_guard lock(mutex);
  return calls;
}

}  // namespace railwright::machine
