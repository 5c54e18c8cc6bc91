#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "agent/machine/linux_machine.h"
#include "agent/machine/paths.h"
#include "agent/machine/redact.h"
#include "agent/machine/snapshot_tree.h"
#include "core/decode/fields.h"

namespace railwright {
namespace machine {
namespace {

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string Readme(bool redacted) {
  utsname system{};
  ::uname(&system);
  std::array<char, 32> date{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M", &utc);
  std::string text =
      "# A recorded machine\n\nRecorded, not written, by Railwright " RAILWRIGHT_VERSION " on ";
  text += std::string(date.data()) + " UTC.\nKernel " + system.release + " on " + system.machine + ".\n";
  text += redacted ? "Redacted: serial numbers, MACs, addresses, host names and secrets are replaced, the "
                     "same value by the "
                     "same replacement; prefix lengths and who shares a subnet are as they were.\n"
                   : "Raw: nothing was replaced. It names this site; do not hand it on.\n";
  return text;
}

/// Sets are sorted, and replacements sort in their own way.
std::string CleanText(std::string_view path, std::string_view text, Redactor& redactor) {
  std::string clean = redactor.Text(path, text);
  for (std::string_view prefix : {"/rtnl/addr", "/rtnl/route", "/rtnl/rule"})
    if (IsBelow(path, prefix)) return JoinLines(SortedLines(clean));
  return clean;
}

/// The same answers, with what identifies the site replaced in paths, texts, names and messages.
Recording Redacted(const Recording& raw, Redactor& redactor) {
  for (const auto& [path, value] : raw.values)
    if (value.ok()) redactor.Learn(path, *value);
  auto error = [&](const Status& status) {
    return Status(status.code(), redactor.Text("", status.message()), status.error_number());
  };
  Recording clean;
  for (const auto& [path, value] : raw.values)
    clean.values.insert_or_assign(redactor.Name(path),
                                  value.ok() ? Result<std::string>(CleanText(path, *value, redactor))
                                             : Result<std::string>(error(value.status())));
  for (const auto& [path, names] : raw.lists) {
    if (!names.ok()) {
      clean.lists.insert_or_assign(redactor.Name(path),
                                   Result<std::vector<std::string>>(error(names.status())));
      continue;
    }
    std::vector<std::string> list;
    for (const std::string& name : *names) list.push_back(redactor.Name(name));
    clean.lists.insert_or_assign(redactor.Name(path), Result<std::vector<std::string>>(std::move(list)));
  }
  return clean;
}

class RecordingMachine final : public Machine {
 public:
  RecordingMachine(Machine& inner, std::string directory, bool redact)
      : inner_(inner), directory_(std::move(directory)), redact_(redact) {}

  ~RecordingMachine() override {
    if (redact_) {
      std::uint64_t seed = 0;
      // Without randomness, anyone could compute the replacements; then nothing is written, and INCOMPLETE
      // stays.
      if (::getrandom(&seed, sizeof seed, 0) != sizeof seed) return;
      Redactor redactor(seed, HostName());
      recording_ = Redacted(recording_, redactor);
    }
    // A destructor has nobody to tell: after a failure INCOMPLETE stays, and opening the snapshot tells.
    (void)WriteRecording(directory_, recording_, Readme(redact_)).ok();
  }

  Result<std::string> Get(std::string_view path) const override {
    Result<std::string> value = inner_.Get(path);
    recording_.values.insert_or_assign(std::string(path), value);
    return value;
  }

  Result<std::vector<std::string>> List(std::string_view path) const override {
    Result<std::vector<std::string>> names = inner_.List(path);
    recording_.lists.insert_or_assign(std::string(path), names);
    return names;
  }

  Status Set(std::string_view path, std::string_view) override {
    return Status(Code::kFailedPrecondition,
                  std::string(path) + ": this machine is being recorded, nothing is written");
  }

 private:
  Machine& inner_;
  std::string directory_;
  bool redact_;
  mutable Recording recording_;
};

}  // namespace
}  // namespace machine

Result<std::unique_ptr<Machine>> MakeRecordingMachine(Machine& inner, const std::string& directory,
                                                      bool redact) {
  RW_RETURN_IF_ERROR(machine::BeginRecording(directory));
  return std::unique_ptr<Machine>(std::make_unique<machine::RecordingMachine>(inner, directory, redact));
}

}  // namespace railwright
