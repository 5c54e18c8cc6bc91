// A private bus with an org.freedesktop.systemd1 that remembers its units.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct sd_bus;

namespace railwright::machine {

struct FakeUnit {
  std::string load = "loaded", active = "inactive", sub = "dead", enabled = "disabled";
  std::string job_result = "done";  ///< what its next job ends with; "never": it does not end
  bool has_install = true;
};

/// Starts a dbus-daemon of its own and serves on it from a thread until it is destroyed.
class FakeSystemd {
 public:
  /// `folder` is empty and private.
  explicit FakeSystemd(const std::string& folder);
  ~FakeSystemd();
  FakeSystemd(const FakeSystemd&) = delete;
  FakeSystemd& operator=(const FakeSystemd&) = delete;

  /// "" when no dbus-daemon is installed, or it did not start.
  const std::string& address() const { return address_; }
  /// Takes the name off the bus, as when systemd hangs, or dies.
  void Stop();

  void Put(const std::string& unit, FakeUnit facts);
  FakeUnit Unit(const std::string& unit);
  /// Methods called so far, "StartUnit a.service" …
  std::vector<std::string> Calls();

  // For the methods, which run in the thread.
  std::mutex mutex;
  std::map<std::string, FakeUnit> units;
  std::vector<std::string> calls;
  unsigned jobs = 0;

 private:
  void Serve();
  std::string address_;
  int daemon_ = -1;
  std::atomic<bool> stop_{false}, ready_{false};
  std::thread thread_;
};

}  // namespace railwright::machine
