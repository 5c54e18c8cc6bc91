// nftables: one message a transaction, with the process that did it.
#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "agent/machine/linux_hints_netlink.h"

namespace railwright {
namespace {

constexpr std::uint16_t kNewGeneration = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN;

class NftablesHints final : public HintSource {
 public:
  explicit NftablesHints(MulticastSocket events) : events_(std::move(events)) {}
  int fd() const override { return events_.fd(); }
  void Drain(HintSet& out) override {
    if (events_.Read([&](Bytes datagram) { ReadNftables(datagram, out); })) out.Overrun();
  }

 private:
  MulticastSocket events_;
};

}  // namespace

void ReadNftables(Bytes datagram, HintSet& out) {
  ForEachMessage(datagram, [&](std::uint16_t type, Bytes body) {
    if (type != kNewGeneration) return;
    const Bytes attributes = After(body, sizeof(nfgenmsg));
    // The number is the one of the first pid namespace; in another one it means nothing.
    const auto pid = ReadAs<std::uint32_t>(FindAttribute(attributes, NFTA_GEN_PROC_PID));
    if (!pid) return out.Add("/nft");
    const auto number = static_cast<int>(ntohl(*pid));
    std::string name = TextOf(FindAttribute(attributes, NFTA_GEN_PROC_NAME));
    for (char& c : name)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';  // a process names itself as it likes
    out.Add("/nft", name + "[" + std::to_string(number) + "]", number);
  });
}

Result<std::unique_ptr<HintSource>> MakeNftablesHints(const LinuxHintsOptions& options) {
  RW_ASSIGN_OR_RETURN(auto events, MulticastSocket::Open(NETLINK_NETFILTER, "nftables", options));
  // A ruleset of thousands of rules is thousands of messages before the one that counts; the kernel (5.x to
  // 6.18: nf_tables_gen_notify) sends that one in a datagram of its own.
  RW_RETURN_IF_ERROR(events.OnlyType(kNewGeneration));
  RW_RETURN_IF_ERROR(events.Join(NFNLGRP_NFTABLES));
  return std::unique_ptr<HintSource>(std::make_unique<NftablesHints>(std::move(events)));
}

}  // namespace railwright
