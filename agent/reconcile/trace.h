// Trace: what one look at the machine read, and whether it differs from the look before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/machine.h"

namespace railwright {

/// The reads of one setting on one target, in order. It is kept from look to look: a look that reads the same
/// paths and gets the same answers allocates nothing and lets everything that follows from it stand.
class Trace {
 public:
  /// A new look begins; what it reads is compared with the last one.
  void Start();
  void Note(std::string_view path, const Result<std::string>& answer);
  void Note(std::string_view path, const Result<std::vector<std::string>>& answer);
  void Finish();

  /// Reads the same again, in the same order, until an answer differs. True when none did: whoever looks and
  /// holds no state would read exactly this and conclude exactly what it did.
  bool Repeats(const Machine& machine) const;

  /// Grows by one with every look that differed from the one before. 0: never looked.
  std::uint64_t version() const { return version_; }
  /// Whether anything that was read lies below `prefix` or above it, by path components; "" is above all.
  bool Touches(std::string_view prefix) const;
  /// "path = value", one a distinct path, each at most 200 bytes and on one line.
  std::vector<std::string> Evidence() const;
  void AppendPaths(std::vector<std::string>& paths) const;

 private:
  struct Read {
    std::string path;
    bool list = false;
    Code code = Code::kOk;
    std::string text;                // the value, or the error's message
    std::vector<std::string> names;  // of List

    bool Is(const Result<std::string>& answer) const;
    bool Is(const Result<std::vector<std::string>>& answer) const;
  };
  Read& Next(std::string_view path, bool& same);

  std::vector<Read> reads_;
  std::size_t used_ = 0;
  bool differs_ = false;
  std::uint64_t version_ = 0;
};

/// Whether one of the two paths is the other or lies below it.
bool Related(std::string_view a, std::string_view b);

/// A machine to look through: notes every read, refuses every write.
class TracingMachine final : public Machine {
 public:
  /// Both outlive it. The look is finished when it goes.
  TracingMachine(const Machine& inner, Trace& trace) : inner_(inner), trace_(trace) { trace_.Start(); }
  ~TracingMachine() override { trace_.Finish(); }
  TracingMachine(const TracingMachine&) = delete;
  TracingMachine& operator=(const TracingMachine&) = delete;

  Result<std::string> Get(std::string_view path) const override;
  Result<std::vector<std::string>> List(std::string_view path) const override;
  Status Set(std::string_view path, std::string_view value) override;

 private:
  const Machine& inner_;
  Trace& trace_;
};

/// A machine to write through: notes the paths that were written.
class WriteTracer final : public Machine {
 public:
  explicit WriteTracer(Machine& inner) : inner_(inner) {}
  Result<std::string> Get(std::string_view path) const override { return inner_.Get(path); }
  Result<std::vector<std::string>> List(std::string_view path) const override { return inner_.List(path); }
  Status Set(std::string_view path, std::string_view value) override {
    written.emplace_back(path);
    return inner_.Set(path, value);
  }

  std::vector<std::string> written;

 private:
  Machine& inner_;
};

}  // namespace railwright
