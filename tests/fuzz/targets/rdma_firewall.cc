// Our firewall table: as a wish, as words, as a transaction, and read back from whatever is there.
#include "core/decode/rdma_firewall.h"
#include "agent/machine/nft_document.h"
#include "core/decode/nft_ruleset.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view line = input.Line();
  const std::string_view json = input.Rest();
  if (const auto wish = RdmaFirewallWish::Parse(line); wish.ok()) {
    const auto again = RdmaFirewallWish::Parse(wish->Text());
    ALWAYS(again.ok() && again->Text() == wish->Text(), wish->Text(), line);
    ALWAYS(again->AllPorts() == wish->AllPorts(), wish->Text(), line);
  }
  if (const auto firewall = RdmaFirewall::Parse(line); firewall.ok()) {
    const auto again = RdmaFirewall::Parse(firewall->Text());
    ALWAYS(again.ok() && again->Text() == firewall->Text(), firewall->Text(), line);
    // The table that the transaction makes says the same when it is read.
    const std::string transaction = firewall->Transaction();
    ALWAYS(machine::Transaction(transaction, {"inet", "railwright"}).ok(), transaction);
    const auto reading = ReadRdmaFirewall(transaction, "");
    ALWAYS(reading.ok() && reading->value == firewall->Text(), firewall->Text(),
           reading.ok() ? reading->value : reading.status().message());
  }
  const auto reading = ReadRdmaFirewall(json, line);
  if (!reading.ok()) {
    ALWAYS(reading.status().code() == Code::kInvalidArgument, reading.status().message());
    return 0;
  }
  if (!reading->value.starts_with("other, ")) {
    ALWAYS(RdmaFirewall::Parse(reading->value).ok(), reading->value, json);
    return 0;
  }
  ALWAYS(!reading->differences.empty(), reading->value, json);
  // It can be put back, and then reads the same.
  const auto back = OtherTableTransaction(reading->value);
  ALWAYS(back.ok(), reading->value, json);
  const auto again = ReadRdmaFirewall(*back, line);
  ALWAYS(again.ok() && again->value == reading->value, reading->value,
         again.ok() ? again->value : again.status().message());
  return 0;
}
