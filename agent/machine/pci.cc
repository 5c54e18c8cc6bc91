// /pci: configuration space and the tree of functions, through sysfs. No libpci: it is GPL.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "agent/machine/backend.h"
#include "agent/machine/descriptor.h"
#include "agent/machine/directory.h"
#include "agent/machine/kept_files.h"
#include "agent/machine/paths.h"
#include "core/decode/fields.h"
#include "core/decode/pci_config.h"
#include "core/decode/pci_tree.h"

namespace railwright::machine {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices";
constexpr std::string_view kLockdown = "/sys/kernel/security/lockdown";

/// The value behind "NAME=" in a uevent file.
std::string_view UeventValue(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(name) && line.substr(name.size()).starts_with("="))
      return line.substr(name.size() + 1);
  }
  return {};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return lower;
}

/// "0" or "1".
std::optional<bool> Bit(std::string_view text) {
  if (text == "0") return false;
  if (text == "1") return true;
  return std::nullopt;
}

Status NoSuchField(const std::string& name, const std::string& value, std::string_view present) {
  return Status(Code::kInvalidArgument, "no field \"" + name + "=" + value + "\" can be set; it reads " +
                                            (present.empty() ? "nothing" : std::string(present)));
}

/// The bits that the function has, each with its state.
Fields FieldsOf(const PciAcs& acs) {
  Fields fields;
  for (const PciAcsBit& bit : kPciAcsBits)
    if (((acs.capability | acs.control) & bit.mask) != 0)
      fields.Set(bit.name, (acs.control & bit.mask) != 0 ? "1" : "0");
  return fields;
}

Fields FieldsOf(const PciExpress& express) {
  Fields fields;
  if (express.read_request) fields.Set("mrrs", *express.read_request);
  if (express.payload) fields.Set("mps", *express.payload);
  fields.Set("relaxed_ordering", express.relaxed_ordering ? "1" : "0");
  fields.Set("no_snoop", express.no_snoop ? "1" : "0");
  return fields;
}

/// The control register with the fields of `value` in it; bits that are not named stay.
Result<std::uint16_t> Changed(const PciAcs& acs, const Fields& value) {
  std::uint16_t control = acs.control;
  const Fields present = FieldsOf(acs);
  for (const auto& [name, text] : value.all()) {
    const auto on = Bit(text);
    const auto bit = std::find_if(std::begin(kPciAcsBits), std::end(kPciAcsBits),
                                  [&](const PciAcsBit& one) { return one.name == name; });
    if (!on || bit == std::end(kPciAcsBits) || present.Find(name) == nullptr)
      return NoSuchField(name, text, present.Text());
    control = static_cast<std::uint16_t>(*on ? control | bit->mask : control & ~bit->mask);
  }
  return control;
}

Result<std::uint16_t> Changed(const PciExpress& express, const Fields& value) {
  std::uint16_t control = express.control;
  const Fields present = FieldsOf(express);
  for (const auto& [name, text] : value.all()) {
    if (name == "mrrs") {
      const auto bytes = ParseNumber(text);
      const auto code = bytes.ok() ? PciCodeOfBytes(*bytes) : std::nullopt;
      if (!code)
        return Status(Code::kInvalidArgument, "mrrs=" + text + " (allowed: 128, 256, 512, 1024, 2048, 4096)");
      control = static_cast<std::uint16_t>((control & ~0x7000U) | *code << 12);
    } else if (name == "mps") {
      // Both ends of a link must agree on it, so it is the kernel's alone.
      if (const auto* now = present.Find(name); now == nullptr || *now != text)
        return Status(Code::kInvalidArgument, "mps=" + text + ": the payload size is read only");
    } else {
      const unsigned mask = name == "relaxed_ordering" ? 0x10 : name == "no_snoop" ? 0x800 : 0;
      const auto on = Bit(text);
      if (mask == 0 || !on) return NoSuchField(name, text, present.Text());
      control = static_cast<std::uint16_t>(*on ? control | mask : control & ~mask);
    }
  }
  return static_cast<std::uint16_t>(control & kPciDevCtlWritable);
}

class Pci final : public Backend {
 public:
  explicit Pci(std::string root) : root_(std::move(root)) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 1) return Tree();
    if (parts.size() != 3 || !IsBdf(parts[1])) return NoSuchPath(path);
    if (parts[2] == "acs") {
      RW_ASSIGN_OR_RETURN(const PciAcs acs, Read<PciAcs>(path, parts[1], &PciConfig::Acs));
      return FieldsOf(acs).Text();
    }
    if (parts[2] != "devctl" && parts[2] != "type") return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const PciExpress express, Read<PciExpress>(path, parts[1], &PciConfig::Express));
    return parts[2] == "type" ? std::string(express.type) : FieldsOf(express).Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 1) return NamesIn(root_ + std::string(kDevices), path);
    if (parts.size() != 2 || !IsBdf(parts[1])) return NoSuchPath(path);
    struct stat facts {};
    if (::stat(OnDisk(parts[1]).c_str(), &facts) != 0) return FromErrno(errno, path);
    return std::vector<std::string>{"acs", "devctl", "type"};
  }

  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || !IsBdf(parts[1]) || (parts[2] != "acs" && parts[2] != "devctl"))
      return NoSuchPath(path);
    const Result<Fields> fields = Fields::Parse(value);
    if (!fields.ok()) return fields.status().Within(path);
    if (parts[2] == "acs") return Change<PciAcs>(path, parts[1], &PciConfig::Acs, *fields);
    return Change<PciExpress>(path, parts[1], &PciConfig::Express, *fields);
  }

 private:
  template <class T>
  using Finder = Result<T> (PciConfig::*)() const;

  std::string OnDisk(std::string_view bdf) const {
    return root_ + std::string(kDevices) + "/" + std::string(bdf);
  }

  /// As many bytes as this process may read.
  Result<std::string> ReadConfig(std::string_view path, int fd) const {
    std::array<char, 4096> bytes;
    std::size_t got = 0;
    while (got < bytes.size()) {
      const ssize_t more = ::pread(fd, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return FromErrno(errno, path);
      if (more == 0) break;
      got += static_cast<std::size_t>(more);
    }
    return std::string(bytes.data(), got);
  }

  template <class T>
  Result<T> Find(std::string_view path, std::string_view bytes, Finder<T> find) const {
    const auto config = PciConfig::Decode(bytes);
    if (!config.ok()) return config.status().Within(path);
    const Result<T> found = ((*config).*find)();
    if (!found.ok()) return found.status().Within(path);
    return *found;
  }

  template <class T>
  Result<T> Read(std::string_view path, std::string_view bdf, Finder<T> find) const {
    const Descriptor fd(::open((OnDisk(bdf) + "/config").c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return Missing(errno, path);
    RW_ASSIGN_OR_RETURN(const std::string bytes, ReadConfig(path, fd.get()));
    return Find<T>(path, bytes, find);
  }

  template <class T>
  Status Change(std::string_view path, std::string_view bdf, Finder<T> find, const Fields& value) const {
    const Descriptor fd(::open((OnDisk(bdf) + "/config").c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) return Refused(errno, path);
    RW_ASSIGN_OR_RETURN(const std::string bytes, ReadConfig(path, fd.get()));
    RW_ASSIGN_OR_RETURN(const T found, Find<T>(path, bytes, find));
    const Result<std::uint16_t> control = Changed(found, value);
    if (!control.ok()) return control.status().Within(path);
    if (*control == found.control) return Ok();
    const std::array<unsigned char, 2> two{static_cast<unsigned char>(*control & 0xff),
                                           static_cast<unsigned char>(*control >> 8)};
    ssize_t put = 0;
    do put = ::pwrite(fd.get(), two.data(), two.size(), static_cast<off_t>(found.control_at));
    while (put < 0 && errno == EINTR);
    if (put < 0) return Refused(errno, path);
    if (put != 2)
      return Status(Code::kInternal,
                    std::string(path) + ": the kernel took " + std::to_string(put) + " of 2 bytes");
    return Ok();
  }

  /// ENODEV where the function is not there; ENOENT is left to a capability that a function lacks.
  static Status Missing(int error, std::string_view path) {
    return FromErrno(error == ENOENT ? ENODEV : error, path);
  }

  /// The kernel says EPERM for a missing capability and for lockdown alike.
  Status Refused(int error, std::string_view path) const {
    if (error != EPERM && error != EACCES) return Missing(error, path);
    KeptFiles reader;
    const auto lockdown = reader.Read(kLockdown, root_ + std::string(kLockdown));
    if (lockdown.ok() && lockdown->find("[none]") == std::string::npos)
      return FromErrno(error, path,
                       std::string(kLockdown) + " is \"" + *lockdown +
                           "\": the kernel refuses to write configuration space while it is locked down "
                           "(Secure Boot)");
    return FromErrno(error, path, "writing configuration space needs root and CAP_SYS_ADMIN");
  }

  /// One line a function. A function that goes while it is looked at is left out.
  Result<std::string> Tree() const {
    const std::string devices = root_ + std::string(kDevices);
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(devices, "/pci"));
    std::vector<std::string> lines;
    KeptFiles reader;
    for (const std::string& name : names) {
      PciFunction function;
      RW_ASSIGN_OR_RETURN(function.path, PathOf(name));
      const std::string file = std::string(kDevices) + "/" + name + "/uevent";
      const auto uevent = reader.Read(file, root_ + file);
      if (!uevent.ok() && uevent.status().code() == Code::kNotFound) continue;
      if (!uevent.ok()) return uevent.status().Within("/pci");
      if (function.path.empty()) continue;
      // PCI_CLASS is printed without leading zeros.
      function.class_ = Lower(UeventValue(*uevent, "PCI_CLASS"));
      function.class_.insert(0, 6 - std::min<std::size_t>(6, function.class_.size()), '0');
      function.id = Lower(UeventValue(*uevent, "PCI_ID"));
      function.driver = UeventValue(*uevent, "DRIVER");
      lines.push_back(PciTree::LineOf(function));
    }
    return JoinLines(Sorted(std::move(lines)));
  }

  /// The link's target from its last host bridge on; empty when the function has gone.
  Result<std::vector<std::string>> PathOf(const std::string& name) const {
    std::array<char, 4096> target;
    const ssize_t size = ::readlink(OnDisk(name).c_str(), target.data(), target.size());
    if (size < 0 && errno == ENOENT) return std::vector<std::string>{};
    if (size < 0) return FromErrno(errno, "/pci: " + name);
    std::string_view rest(target.data(), static_cast<std::size_t>(size));
    // A bridge such as Intel's VMD makes a host bridge below a PCI function.
    const auto host = rest.rfind("/pci");
    if (host == std::string_view::npos)
      return Status(Code::kInternal,
                    "/pci: " + name + " lies at " + std::string(rest) + ", below no host bridge");
    std::vector<std::string> parts;
    for (const std::string_view part : PathParts(rest.substr(host))) parts.emplace_back(part);
    return parts;
  }

  std::string root_;
};

}  // namespace

std::unique_ptr<Backend> MakePci(std::string root) { return std::make_unique<Pci>(std::move(root)); }

}  // namespace railwright::machine
