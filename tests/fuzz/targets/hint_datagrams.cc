// Events of the kernel: datagrams in, hints out. The first byte tells the source, each datagram stands behind
// its length in two bytes (little-endian).
#include "agent/machine/linux_hints.h"
#include "agent/machine/linux_hints_netlink.h"
#include "agent/machine/paths.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const int source = (input.Byte() - '0') & 3;
  LinkTable links;
  HintSet set(std::chrono::milliseconds(0), std::chrono::milliseconds(0));
  HintSet::Time now{};
  std::size_t datagrams = 0;
  while (!input.empty()) {
    ++datagrams;
    const std::size_t low = input.Byte();
    const std::size_t length = low | static_cast<std::size_t>(input.Byte()) << 8;
    std::vector<std::uint8_t> bytes;
    while (bytes.size() < length && !input.empty()) bytes.push_back(input.Byte());
    bytes.shrink_to_fit();
    switch (source) {
      case 0: ReadRtnetlink(bytes, links, set); break;
      case 1: ReadNftables(bytes, set); break;
      case 2: ReadEthtool(bytes, set); break;
      default: ReadUevent(bytes, set); break;
    }
  }
  ALWAYS(links.size() <= size / sizeof(nlmsghdr), std::to_string(links.size()));
  now += std::chrono::seconds(1);
  const auto hints = set.Take(now);
  ALWAYS(hints.size() <= HintSet::kMost, std::to_string(hints.size()));
  for (const Hint& hint : hints) {
    ALWAYS(hint.prefix.empty() || machine::PathProblem(hint.prefix).empty(), hint.prefix);
    for (const char c : hint.by) ALWAYS(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, hint.by);
    ALWAYS(hint.by.size() <= size + 16, hint.by);
  }
  ALWAYS(set.NextDue() == HintSet::Time::max(), "something waits although nothing paces");
  return 0;
}
