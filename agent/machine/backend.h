// Backend: what stands behind one prefix of Machine's paths. Private to this folder, as is all of
// railwright::machine.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::machine {

/// The three verbs of Machine for the paths below one prefix. `path` is always the whole path, already found
/// sane (PathProblem). Used by one thread at a time; Get may keep descriptors, sockets and parsed text.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<std::string> Get(std::string_view path) = 0;
  virtual Result<std::vector<std::string>> List(std::string_view path) = 0;
  virtual Status Set(std::string_view path, std::string_view value) = 0;
};

class AskingThread;
class NetlinkConversation;
class NetlinkSocket;

/// `/sys` and `/proc` below `root`.
std::unique_ptr<Backend> MakeKernelFiles(std::string root);
/// `/file` below `root`.
std::unique_ptr<Backend> MakePlainFiles(std::string root);
/// `/rtnl/link`, `/rtnl/addr`, `/rtnl/route`, `/rtnl/rule`. `socket` is NETLINK_ROUTE and outlives them.
std::unique_ptr<Backend> MakeRtnlLink(NetlinkSocket& socket);
std::unique_ptr<Backend> MakeRtnlAddr(NetlinkSocket& socket);
std::unique_ptr<Backend> MakeRtnlRoute(NetlinkSocket& socket);
std::unique_ptr<Backend> MakeRtnlRule(NetlinkSocket& socket);
/// `/ethtool`. `rtnl` names the interfaces for List.
std::unique_ptr<Backend> MakeEthtool(NetlinkSocket& rtnl);
/// `/dcb`. `route` is over NETLINK_ROUTE and outlives it; `links` names the interfaces for List.
using LinkLister = std::function<Result<std::vector<std::string>>()>;
std::unique_ptr<Backend> MakeDcb(NetlinkConversation& route, LinkLister links);
/// `/devlink`.
std::unique_ptr<Backend> MakeDevlink();
/// `/dbus`: systemd below `root`, on the bus at `address` ("": the host's system bus). A job that a Set
/// starts is waited for until `job_deadline`: openibd takes a minute on a node with eight cards, and the
/// agent's own watchdog barks after two.
std::unique_ptr<Backend> MakeDbus(std::string root, std::string address = {},
                                  std::chrono::milliseconds job_deadline = std::chrono::seconds(90));
/// `/nvml`, by NVIDIA's library, a name as dlopen takes it.
std::unique_ptr<Backend> MakeNvml(std::string library);
/// `/nft`; the last listing is kept in `ruleset_file` ("": not kept).
std::unique_ptr<Backend> MakeNft(std::string ruleset_file);
/// `/kmod`, modules and their state below `root`.
std::unique_ptr<Backend> MakeKmod(std::string root);
/// `/pkg`, the package database below `root`; what it holds is kept in `index_file` ("": not kept).
std::unique_ptr<Backend> MakePackages(std::string root, std::string index_file);
/// `/pci`, sysfs below `root`.
std::unique_ptr<Backend> MakePci(std::string root);
/// `/nvconfig`, sysfs below `root`. With a `thread` (outlives it) a first Get is Unavailable while the card
/// is asked there. What it said counts for `kept`. `programs` are tried in order; none: mstconfig and
/// mlxconfig where they are usually installed.
std::unique_ptr<Backend> MakeNvConfig(std::string root, AskingThread* thread, std::chrono::seconds kept,
                                      std::vector<std::string> programs = {});
/// `/reg`, as MakeNvConfig, by mstreg or mlxreg.
std::unique_ptr<Backend> MakeRegisters(std::string root, AskingThread* thread, std::chrono::seconds kept,
                                       std::vector<std::string> programs = {});

/// `/rdma`: devices, queue pairs, the mode of network namespaces.
std::unique_ptr<Backend> MakeRdma();

}  // namespace railwright::machine
