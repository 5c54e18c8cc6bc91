// /pci: configuration space and the tree of functions, through sysfs. No libpci: it is GPL.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "agent/machine/backend.h"
#include "agent/machine/directory.h"
#include "agent/machine/kept_files.h"
#include "agent/machine/paths.h"
#include "core/decode/fields.h"
#include "core/decode/pci_config.h"
#include "core/decode/pci_tree.h"
#include "core/files/descriptor.h"

namespace railwright::machine {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices";
constexpr std::size_t kWholeSpace = 4096;
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
                                  [&name = name](const PciAcsBit& one) { return one.name == name; });
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

/// What is asked of configuration space: how it is found in the whole, and read again where it was found.
struct ExpressKind {
  using Value = PciExpress;
  static constexpr char kName = 'e';
  static constexpr std::size_t kSize = kPciExpressSize, kControl = 8;
  static Result<Value> Find(const PciConfig& config) { return config.Express(); }
  static Result<Value> At(std::string_view bytes, std::size_t at) { return DecodePciExpress(bytes, at); }
};
struct AcsKind {
  using Value = PciAcs;
  static constexpr char kName = 'a';
  static constexpr std::size_t kSize = kPciAcsSize, kControl = 6;
  static Result<Value> Find(const PciConfig& config) { return config.Acs(); }
  static Result<Value> At(std::string_view bytes, std::size_t at) { return DecodePciAcs(bytes, at); }
};

class Pci final : public Backend {
 public:
  explicit Pci(std::string root) : root_(std::move(root)) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 1) return Tree();
    if (parts.size() != 3 || !IsBdf(parts[1])) return NoSuchPath(path);
    if (parts[2] == "acs") {
      RW_ASSIGN_OR_RETURN(const PciAcs acs, Read<AcsKind>(path, parts[1]));
      return FieldsOf(acs).Text();
    }
    if (parts[2] != "devctl" && parts[2] != "type") return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const PciExpress express, Read<ExpressKind>(path, parts[1]));
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
    if (parts[2] == "acs") return Change<AcsKind>(path, parts[1], *fields);
    return Change<ExpressKind>(path, parts[1], *fields);
  }

 private:
  /// Where a function keeps something. A function that goes and comes has a file with another inode.
  struct Place {
    ino_t inode = 0;
    std::size_t at = 0;    ///< 0: it has none, as `none` says
    std::string identity;  ///< vendor and device, 4 bytes
    Status none;
  };

  std::string OnDisk(std::string_view bdf) const {
    return root_ + std::string(kDevices) + "/" + std::string(bdf);
  }

  /// `size` bytes from `at` on, or as many as this process may read.
  static Result<std::string> ReadBytes(std::string_view path, int fd, std::size_t at, std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t got = 0;
    while (got < size) {
      const ssize_t more = ::pread(fd, bytes.data() + got, size - got, static_cast<off_t>(at + got));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return FromErrno(errno, path);
      if (more == 0) break;
      got += static_cast<std::size_t>(more);
    }
    bytes.resize(got);
    return bytes;
  }

  /// Reads all and walks its lists.
  template <class Kind>
  static Result<typename Kind::Value> ReadWhole(std::string_view path, std::string_view bytes) {
    const auto config = PciConfig::Decode(bytes);
    if (!config.ok()) return config.status().Within(path);
    const auto found = Kind::Find(*config);
    if (!found.ok()) return found.status().Within(path);
    return *found;
  }

  /// The lists of a function do not change while it is there: what was found once is read at its place. Each
  /// four bytes are an access to the bus, 4,096 take the better part of a millisecond.
  template <class Kind>
  Result<typename Kind::Value> Read(std::string_view path, std::string_view bdf) {
    const Descriptor fd(::open((OnDisk(bdf) + "/config").c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts {};
    if (!fd || ::fstat(fd.get(), &facts) != 0) return Missing(errno, path);
    const auto key = std::make_pair(std::string(bdf), Kind::kName);
    if (const auto known = places_.find(key); known != places_.end() && known->second.inode == facts.st_ino) {
      const Place& place = known->second;
      const std::size_t size = place.at == 0 ? place.identity.size() : Kind::kSize;
      RW_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path, fd.get(), place.at, size));
      if (place.at == 0 && bytes == place.identity) return place.none.Within(path);
      if (place.at != 0)
        if (auto again = Kind::At(bytes, place.at); again.ok()) return again;
    }
    places_.erase(key);
    RW_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path, fd.get(), 0, kWholeSpace));
    const auto config = PciConfig::Decode(bytes);
    if (!config.ok()) return config.status().Within(path);
    const auto found = Kind::Find(*config);
    if (found.ok()) {
      places_[key] = {facts.st_ino, found->control_at - Kind::kControl, {}, Ok()};
    } else if (found.status().code() == Code::kNotFound) {
      places_[key] = {facts.st_ino, 0, bytes.substr(0, 4), found.status()};
    }
    return found.ok() ? found : found.status().Within(path);
  }

  template <class Kind>
  Status Change(std::string_view path, std::string_view bdf, const Fields& value) const {
    const Descriptor fd(::open((OnDisk(bdf) + "/config").c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) return Refused(errno, path);
    RW_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path, fd.get(), 0, kWholeSpace));
    RW_ASSIGN_OR_RETURN(const typename Kind::Value found, ReadWhole<Kind>(path, bytes));
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
  std::map<std::pair<std::string, char>, Place> places_;
};

}  // namespace

std::unique_ptr<Backend> MakePci(std::string root) { return std::make_unique<Pci>(std::move(root)); }

}  // namespace railwright::machine
