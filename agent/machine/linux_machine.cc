#include "agent/machine/linux_machine.h"

#include <array>
#include <utility>

#include "agent/machine/backend.h"
#include "agent/machine/netlink_socket.h"
#include "agent/machine/paths.h"

namespace railwright {
namespace machine {
namespace {

class LinuxMachine final : public Machine {
 public:
  explicit LinuxMachine(const LinuxMachineOptions& options)
      : backends_{{{"/proc", MakeKernelFiles(options.root)},
                   {"/sys", MakeKernelFiles(options.root)},
                   {"/file", MakePlainFiles(options.root)},
                   {"/rtnl/link", MakeRtnlLink(route_)},
                   {"/rtnl/addr", MakeRtnlAddr(route_)},
                   {"/rtnl/route", MakeRtnlRoute(route_)},
                   {"/rtnl/rule", MakeRtnlRule(route_)},
                   {"/ethtool", MakeEthtool(route_)},
                   {"/devlink", MakeDevlink()},
                   {"/dbus", MakeDbus(options.root)},
                   {"/nvml", MakeNvml(options.nvml_library)},
                   {"/nft", MakeNft(options.ruleset_file)},
                   {"/kmod", MakeKmod(options.root)},
                   {"/pkg", MakePackages(options.root)}}} {}

  Result<std::string> Get(std::string_view path) const override {
    RW_ASSIGN_OR_RETURN(Backend* const backend, Serving(path));
    return backend->Get(path);
  }

  Result<std::vector<std::string>> List(std::string_view path) const override {
    if (path == "/rtnl") return std::vector<std::string>{"addr", "link", "route", "rule"};
    RW_ASSIGN_OR_RETURN(Backend* const backend, Serving(path));
    return backend->List(path);
  }

  Status Set(std::string_view path, std::string_view value) override {
    RW_ASSIGN_OR_RETURN(Backend* const backend, Serving(path));
    return backend->Set(path, value);
  }

 private:
  Result<Backend*> Serving(std::string_view path) const {
    if (const std::string_view problem = PathProblem(path); !problem.empty())
      return Status(Code::kInvalidArgument, "\"" + std::string(path) + "\": " + std::string(problem));
    for (const auto& [prefix, backend] : backends_)
      if (IsBelow(path, prefix)) return backend.get();
    return NoSuchPath(path);
  }

  NetlinkSocket route_{NETLINK_ROUTE};
  std::array<std::pair<std::string_view, std::unique_ptr<Backend>>, 14> backends_;
};

}  // namespace
}  // namespace machine

std::unique_ptr<Machine> MakeLinuxMachine(LinuxMachineOptions options) {
  return std::make_unique<machine::LinuxMachine>(options);
}

}  // namespace railwright
