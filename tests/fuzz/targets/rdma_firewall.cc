// Our firewall table: as a wish, as words, as a transaction, and read back from whatever is there.
#include "core/decode/rdma_firewall.h"
#include "agent/machine/nft_document.h"
#include "core/decode/nft_ruleset.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

// What /nft/table/inet/railwright would read after a kept table was put back.
std::string PutBack(const std::string& value, std::string_view expected) {
  const auto transaction = OtherTableTransaction(value);
  ALWAYS(transaction.ok(), value);
  const auto ruleset = machine::ApplyInMemory(R"({"nftables":[]})", *transaction, {"inet", "railwright"});
  ALWAYS(ruleset.ok(), *transaction, value);
  const auto tables = machine::SplitByTable(*ruleset);
  ALWAYS(tables.ok() && tables->size() == 1, *ruleset, value);
  const auto reading = ReadRdmaFirewall(tables->begin()->second, expected);
  ALWAYS(reading.ok(), *ruleset, value);
  return reading->value;
}

}  // namespace

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
  // It can be put back, and then reads the same; the first time only counters may lose their numbers.
  const std::string once = PutBack(reading->value, line);
  if (!once.starts_with("other, ")) return 0;
  const std::string twice = PutBack(once, line);
  ALWAYS(twice == once, once, twice);
  return 0;
}
