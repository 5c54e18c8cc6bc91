// /nvml: NVIDIA GPUs, by the driver's own library.
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>

#include "agent/machine/backend.h"
#include "agent/machine/nvml_library.h"
#include "agent/machine/paths.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

using std::chrono::steady_clock;

/// How long what was read answers further questions. A pass asks for every GPU several times, and each look
/// initialises the library anew.
constexpr std::chrono::milliseconds kFresh{1000};

std::string Word(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) <= 0x20) c = '_';
  return text;
}

/// "00000000:3B:00.0" → "0000:3b:00.0", as everywhere else.
std::string Bdf(const nvml::PciInfo& pci) {
  std::string bus_id(pci.bus_id, std::find(std::begin(pci.bus_id), std::end(pci.bus_id), '\0'));
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // Domains beyond 16 bits (Hyper-V, VMD) keep all their digits.
  return bus_id.starts_with("0000") && bus_id.find(':') == 8 ? bus_id.substr(4) : bus_id;
}

class Nvml final : public Backend {
 public:
  explicit Nvml(std::string file) : library_(std::move(file)) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 3 && parts[2] == "processes") return Processes(path, parts[1]);
    if (parts.size() < 2 || (parts.size() == 3 && !IsWritten(parts[2])) || parts.size() > 3)
      return NoSuchPath(path);
    RW_RETURN_IF_ERROR(Refresh(path));
    const auto found = read_.find(path);
    if (found == read_.end()) return NoSuchGpu(path);
    return found->second;
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() > 2) return NoSuchPath(path);
    RW_RETURN_IF_ERROR(Refresh(path));
    if (parts.size() == 1) return Sorted(gpus_);
    if (std::find(gpus_.begin(), gpus_.end(), parts[1]) == gpus_.end()) return NoSuchGpu(path);
    return std::vector<std::string>{"clocks", "ecc", "persistence", "processes"};
  }

  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || !IsWritten(parts[2])) return NoSuchPath(path);
    if (parts[2] != "clocks" && value != "on" && value != "off")
      return Status(Code::kInvalidArgument,
                    std::string(path) + ": \"" + std::string(value) + "\" (allowed: on, off)");
    read_at_.reset();
    const Session session(library_);
    if (!session.begun.ok()) return session.begun.Within(path);
    RW_ASSIGN_OR_RETURN(nvml::Device* const device, Find(path, parts[1]));
    if (parts[2] == "clocks") return SetClocks(path, device, value);
    const int on = value == "on" ? 1 : 0;
    auto* const set = parts[2] == "ecc" ? call().set_ecc : call().set_persistence;
    const std::string what = std::string(path) + ": setting " + std::string(value);
    return library_.StatusOf(set != nullptr ? set(device, on) : nvml::kFunctionNotFound, what);
  }

 private:
  struct Session {
    explicit Session(NvmlLibrary& library_in) : library(library_in), begun(library.Begin()) {}
    ~Session() {
      if (begun.ok()) library.End();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    NvmlLibrary& library;
    Status begun;
  };

  static bool IsWritten(std::string_view name) {
    return name == "persistence" || name == "ecc" || name == "clocks";
  }
  static Status NoSuchGpu(std::string_view path) {
    return FromErrno(ENODEV, path, "the NVIDIA driver has no such GPU");
  }
  const NvmlFunctions& call() const { return library_.call(); }

  Status Refresh(std::string_view path) {
    if (read_at_ && steady_clock::now() - *read_at_ < kFresh) return Ok();
    read_at_.reset();
    read_.clear();
    gpus_.clear();
    const Session session(library_);
    if (!session.begun.ok()) return session.begun.Within(path);
    RW_RETURN_IF_ERROR(ReadDriver(path));
    RW_RETURN_IF_ERROR(ForEachDevice(path, [&](const std::string& bdf, nvml::Device* device) {
      gpus_.push_back(bdf);
      ReadGpu(bdf, device);
    }));
    read_at_ = steady_clock::now();
    return Ok();
  }

  /// A GPU that is counted and cannot be looked at is an error: a list without it would be a wrong one.
  template <class Use>
  Status ForEachDevice(std::string_view path, Use use) {
    unsigned count = 0;
    RW_RETURN_IF_ERROR(library_.StatusOf(call().count(&count), path));
    for (unsigned i = 0; i < count; ++i) {
      const std::string which =
          std::string(path) + ": GPU " + std::to_string(i) + " of " + std::to_string(count);
      nvml::Device* device = nullptr;
      nvml::PciInfo pci{};
      RW_RETURN_IF_ERROR(library_.StatusOf(call().by_index(i, &device), which));
      RW_RETURN_IF_ERROR(library_.StatusOf(call().pci(device, &pci), which));
      use(Bdf(pci), device);
    }
    return Ok();
  }

  Result<nvml::Device*> Find(std::string_view path, std::string_view bdf) {
    nvml::Device* found = nullptr;
    RW_RETURN_IF_ERROR(ForEachDevice(path, [&](const std::string& one, nvml::Device* device) {
      if (one == bdf) found = device;
    }));
    if (found == nullptr) return NoSuchGpu(path);
    return found;
  }

  Status ReadDriver(std::string_view path) {
    std::array<char, nvml::kVersionSize> version{};
    RW_RETURN_IF_ERROR(library_.StatusOf(call().driver_version(version.data(), nvml::kVersionSize), path));
    Fields fields;
    fields.Set("version", Word(version.data()));
    if (call().library_version != nullptr &&
        call().library_version(version.data(), nvml::kVersionSize) == nvml::kSuccess)
      fields.Set("nvml", Word(version.data()));
    int cuda = 0;
    if (call().cuda_version != nullptr && call().cuda_version(&cuda) == nvml::kSuccess)
      fields.Set("cuda", std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10));
    read_.insert_or_assign("/nvml/driver", fields.Text());
    return Ok();
  }

  /// What one GPU does not have is left out of its fields; any other error is that of the whole.
  class Reader {
   public:
    explicit Reader(const NvmlLibrary& library) : library_(&library) {}
    template <class Function, class... Arguments>
    bool Ask(std::string_view what, Function function, Arguments... arguments) {
      const nvml::Return code = function != nullptr ? function(arguments...) : nvml::kFunctionNotFound;
      if (code == nvml::kSuccess) return true;
      const Status status = library_->StatusOf(code, what);
      const bool lacks = status.code() == Code::kUnimplemented || code == nvml::kNoPermission;
      if (!lacks && error.ok()) error = status;
      if (missing.ok()) missing = status;
      return false;
    }
    Status error;    ///< the first that is more than "does not have it"
    Status missing;  ///< the first of all

   private:
    const NvmlLibrary* library_;
  };

  void ReadGpu(const std::string& bdf, nvml::Device* device) {
    const std::string path = "/nvml/" + bdf;
    Fields all;
    Reader whole(library_);
    std::array<char, nvml::kNameSize> text{};
    const auto take = [&](std::string_view name, auto* function, unsigned size) {
      if (whole.Ask(path, function, device, text.data(), size)) all.Set(name, Word(text.data()));
    };
    take("name", call().name, nvml::kNameSize);
    take("uuid", call().uuid, nvml::kUuidSize);
    take("serial", call().serial, nvml::kSerialSize);

    const auto keep = [&](std::string_view name, const Reader& reader, const Fields& fields,
                          std::string_view plain) {
      const std::string below = path + "/" + std::string(name);
      const Status& status = reader.error.ok() ? reader.missing : reader.error;
      if (!reader.error.ok() && whole.error.ok()) whole.error = reader.error;
      if (!status.ok())
        read_.insert_or_assign(below, status);
      else
        read_.insert_or_assign(below, plain.empty() ? fields.Text() : std::string(plain));
    };
    Reader reader(library_);
    int on = 0, pending = 0;
    if (reader.Ask(path + "/persistence", call().persistence, device, &on))
      all.Set("persistence", on != 0 ? "on" : "off");
    keep("persistence", reader, {}, on != 0 ? "on" : "off");

    reader = Reader(library_);
    Fields ecc;
    if (reader.Ask(path + "/ecc", call().ecc, device, &on, &pending)) {
      ecc.Set("current", on != 0 ? "on" : "off");
      ecc.Set("pending", pending != 0 ? "on" : "off");
      all.Set("ecc_current", on != 0 ? "on" : "off");
      all.Set("ecc_pending", pending != 0 ? "on" : "off");
    }
    keep("ecc", reader, ecc, "");

    unsigned mig = 0, mig_pending = 0, clock = 0;
    if (whole.Ask(path, call().mig, device, &mig, &mig_pending)) {
      all.Set("mig", mig != 0 ? "on" : "off");
      all.Set("mig_pending", mig_pending != 0 ? "on" : "off");
    }
    if (whole.Ask(path, call().max_clock, device, nvml::kClockGraphics, &clock))
      all.Set("clocks_sm_max", std::uint64_t{clock});
    if (whole.Ask(path, call().max_clock, device, nvml::kClockMemory, &clock))
      all.Set("clocks_mem_max", std::uint64_t{clock});

    reader = Reader(library_);
    Fields clocks;
    const auto take_clock = [&](std::string_view name, auto* function, int kind) {
      if (reader.Ask(path + "/clocks", function, device, kind, &clock))
        clocks.Set(name, std::uint64_t{clock});
    };
    take_clock("sm", call().application_clock, nvml::kClockGraphics);
    take_clock("mem", call().application_clock, nvml::kClockMemory);
    if (const std::string* sm = clocks.Find("sm")) all.Set("app_clock_sm", *sm);
    if (const std::string* memory = clocks.Find("mem")) all.Set("app_clock_mem", *memory);
    take_clock("default_sm", call().default_clock, nvml::kClockGraphics);
    take_clock("default_mem", call().default_clock, nvml::kClockMemory);
    keep("clocks", reader, clocks, "");

    if (whole.error.ok())
      read_.insert_or_assign(path, all.Text());
    else
      read_.insert_or_assign(path, whole.error);
  }

  Result<std::string> Processes(std::string_view path, std::string_view bdf) {
    const Session session(library_);
    if (!session.begun.ok()) return session.begun.Within(path);
    RW_ASSIGN_OR_RETURN(nvml::Device* const device, Find(path, bdf));
    if (call().compute_processes == nullptr) return library_.StatusOf(nvml::kFunctionNotFound, path);
    // Processes may come while we ask for how many there are.
    std::vector<nvml::ProcessInfo> processes(64);
    for (int attempt = 0; attempt < 8; ++attempt) {
      auto count = static_cast<unsigned>(processes.size());
      const nvml::Return code = call().compute_processes(device, &count, processes.data());
      if (code == nvml::kInsufficientSize) {
        processes.resize(std::max<std::size_t>(count, processes.size()) * 2);
        continue;
      }
      RW_RETURN_IF_ERROR(library_.StatusOf(code, path));
      std::string lines;
      for (unsigned i = 0; i < count && i < processes.size(); ++i)
        lines += "pid=" + std::to_string(processes[i].pid) + "\n";
      return JoinLines(SortedLines(lines));
    }
    return Status(Code::kUnavailable, std::string(path) + ": processes come and go; try again", EAGAIN);
  }

  Status SetClocks(std::string_view path, nvml::Device* device, std::string_view value) {
    const std::string what = std::string(path) + ": setting " + std::string(value);
    if (value == "default")
      return library_.StatusOf(call().reset_application_clocks != nullptr
                                   ? call().reset_application_clocks(device)
                                   : nvml::kFunctionNotFound,
                               what);
    const Result<Fields> fields = Fields::Parse(value);
    if (!fields.ok()) return fields.status().Within(path);
    for (const auto& [name, text] : fields->all())
      if (name != "sm" && name != "mem" && !name.starts_with("default_"))
        return Status(Code::kInvalidArgument,
                      std::string(path) + ": no field \"" + name + "\" (known: sm, mem)");
    const auto sm = fields->Number("sm"), memory = fields->Number("mem");
    if (!sm.ok() || !memory.ok() || *sm > 100000 || *memory > 100000)
      return Status(Code::kInvalidArgument, what + " (allowed: sm=MHZ mem=MHZ, or default)");
    if (call().set_application_clocks == nullptr) return library_.StatusOf(nvml::kFunctionNotFound, what);
    const nvml::Return code =
        call().set_application_clocks(device, static_cast<unsigned>(*memory), static_cast<unsigned>(*sm));
    const Status done = library_.StatusOf(code, what);
    if (done.code() != Code::kInvalidArgument) return done;
    return Status(Code::kInvalidArgument, done.message() + Supported(device, static_cast<unsigned>(*memory)),
                  done.error_number());
  }

  /// "; memory clocks: 3201, 2619; SM clocks at 3201: 345…1980".
  std::string Supported(nvml::Device* device, unsigned memory) const {
    std::array<unsigned, 256> clocks{};
    unsigned count = clocks.size();
    if (call().memory_clocks == nullptr || call().graphics_clocks == nullptr ||
        call().memory_clocks(device, &count, clocks.data()) != nvml::kSuccess || count == 0 ||
        count > clocks.size())
      return "";
    std::string text = "; memory clocks:";
    for (unsigned i = 0; i < count; ++i) text += (i == 0 ? " " : ", ") + std::to_string(clocks[i]);
    const bool known = std::find(clocks.begin(), clocks.begin() + count, memory) != clocks.begin() + count;
    const unsigned at = known ? memory : clocks[0];
    count = clocks.size();
    if (call().graphics_clocks(device, at, &count, clocks.data()) != nvml::kSuccess || count == 0 ||
        count > clocks.size())
      return text;
    const auto [low, high] = std::minmax_element(clocks.begin(), clocks.begin() + count);
    return text + "; SM clocks at " + std::to_string(at) + ": " + std::to_string(*low) + "…" +
           std::to_string(*high) + " in steps";
  }

  NvmlLibrary library_;
  std::optional<steady_clock::time_point> read_at_;
  std::map<std::string, Result<std::string>, std::less<>> read_;
  std::vector<std::string> gpus_;
};

}  // namespace

std::unique_ptr<Backend> MakeNvml(std::string library) { return std::make_unique<Nvml>(std::move(library)); }

}  // namespace railwright::machine
