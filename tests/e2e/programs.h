// Programs: the real executables, as children of the test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace railwright {

/// "…/bin/railctl" of this build.
std::string Binary(const std::string& name);

struct Ran {
  int code = -1;  ///< or 128 + signal
  std::string out, err;
};
/// Runs a program to its end; `input` is its standard input. A program that takes longer than a minute is
/// killed.
Ran RunProgram(const std::vector<std::string>& argv, const std::string& input = {});

/// A program that runs beside the test. Killed when the object goes.
class Child {
 public:
  Child() = default;
  /// Standard output and error go to `log` (appended).
  Child(const std::vector<std::string>& argv, const std::string& log);
  ~Child() { Kill(); }
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;

  pid_t pid() const { return pid_; }
  bool running() const;
  /// SIGTERM and wait; the exit code, and how long it took.
  int Terminate(std::chrono::milliseconds* took = nullptr);
  /// kill -9 and wait.
  void Kill();
  int Wait();

 private:
  pid_t pid_ = -1;
};

/// Looks every 5 ms; false after `patience`.
bool Eventually(const std::function<bool()>& is_so,
                std::chrono::milliseconds patience = std::chrono::seconds(15));

}  // namespace railwright
