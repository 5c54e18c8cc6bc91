#include "agent/machine/linux_machine.h"

#include <utility>
#include <vector>

#include "agent/machine/backend.h"
#include "agent/machine/kept_answers.h"
#include "agent/machine/link_message.h"
#include "agent/machine/netlink_socket.h"
#include "agent/machine/paths.h"

namespace railwright {
namespace machine {
namespace {

class LinuxMachine final : public Machine {
 public:
  explicit LinuxMachine(const LinuxMachineOptions& options) {
    Serve("/proc", MakeKernelFiles(options.root));
    Serve("/sys", MakeKernelFiles(options.root));
    Serve("/file", MakePlainFiles(options.root));
    Serve("/rtnl/link", MakeRtnlLink(route_));
    Serve("/rtnl/addr", MakeRtnlAddr(route_));
    Serve("/rtnl/route", MakeRtnlRoute(route_));
    Serve("/rtnl/rule", MakeRtnlRule(route_));
    Serve("/ethtool", MakeEthtool(route_));
    Serve("/dcb", MakeDcb(route_.conversation(), [this] { return LinkNames(route_); }));
    Serve("/nft", MakeNft(options.ruleset_file));
    Serve("/kmod", MakeKmod(options.root));
    Serve("/pkg", MakePackages(options.root, options.package_file));
    Serve("/pci", MakePci(options.root));
    AskingThread* const asking = options.firmware_in_background ? &asking_ : nullptr;
    Serve("/nvconfig", MakeNvConfig(options.root, asking, options.firmware_kept));
    Serve("/reg", MakeRegisters(options.root, asking, options.firmware_kept / 5));
    Serve("/rdma", MakeRdma());
    Serve("/devlink", MakeDevlink());
    Serve("/dbus", MakeDbus(options.root));
    Serve("/nvml", MakeNvml(options.nvml_library));
  }

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
  void Serve(std::string_view prefix, std::unique_ptr<Backend> backend) {
    backends_.emplace_back(prefix, std::move(backend));
  }

  Result<Backend*> Serving(std::string_view path) const {
    if (const std::string_view problem = PathProblem(path); !problem.empty())
      return Status(Code::kInvalidArgument, "\"" + std::string(path) + "\": " + std::string(problem));
    for (const auto& [prefix, backend] : backends_)
      if (IsBelow(path, prefix)) return backend.get();
    return NoSuchPath(path);
  }

  NetlinkSocket route_{NETLINK_ROUTE};
  AskingThread asking_;
  std::vector<std::pair<std::string_view, std::unique_ptr<Backend>>> backends_;
};

}  // namespace
}  // namespace machine

std::unique_ptr<Machine> MakeLinuxMachine(LinuxMachineOptions options) {
  return std::make_unique<machine::LinuxMachine>(options);
}

}  // namespace railwright
