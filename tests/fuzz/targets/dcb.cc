// Data center bridging: a reply of dcbnl, and the texts below /dcb. The first line is the kind:
// "reply" (then the payload of the message), "change LEAF" (then what it reads, then what is written),
// "table" (lines of an APP table).
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include <algorithm>

#include "agent/machine/dcb_message.h"
#include "core/decode/dscp_map.h"
#include "core/decode/ets_wish.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::machine;

namespace {

// What was read is text of one line, reads back as itself, and may be written back.
template <class Structure>
void CheckStructure(const std::optional<Structure>& structure, std::string_view leaf) {
  if (!structure) return;
  const std::string text = structure->Text();
  ALWAYS(text.find('\n') == std::string::npos, text);
  const auto again = Structure::Parse(text);
  ALWAYS(again.ok() && again->Text() == text, text);
  const auto same = ChangedDcbText(leaf, text, text);
  ALWAYS(same.ok() && *same == text, text, leaf);
}

template <class Structure>
void CheckBytes(const std::optional<Structure>& structure) {
  if (!structure) return;
  const auto bytes = structure->Bytes();
  ALWAYS(bytes.size() == Structure::kSize, std::to_string(bytes.size()));
  const auto again = Structure::FromBytes(bytes);
  ALWAYS(again.ok() && again->Text() == structure->Text(), structure->Text());
}

void CheckTable(const std::vector<DcbApp>& table) {
  const std::string text = AppTableText(table);
  const bool sane = std::all_of(table.begin(), table.end(), [](const DcbApp& app) {
    return DcbApp::Parse(app.Text()).ok();  // a kernel may hold what nobody can wish: priority 200
  });
  const auto again = ParseAppTable(text);
  ALWAYS(again.ok() == sane, text);
  if (!sane) return;
  ALWAYS(AppTableText(*again) == text, text);
  const ListedDscps listed(table);
  ALWAYS(listed.count() <= kDscps && listed.count() <= listed.entries.size(), text);
  const std::string shown = listed.Text();
  ALWAYS(shown.empty() == listed.entries.empty(), shown, text);
  if (const auto only = ParseOnlyDscps(shown); only.ok()) {
    ALWAYS(*only == listed.entries, shown, text);
  } else if (!shown.empty()) {
    const auto map = DscpMap::Parse(shown);
    ALWAYS(map.ok() && map->Text() == shown, shown);
    ALWAYS(ListedDscps(WithDscpMap(table, *map)).entries == listed.entries, shown, text);
  }
}

void CheckReply(std::string_view payload) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(payload.data());
  NetlinkReply reply{RTM_GETDCB, 0, {bytes, payload.size()}};
  if (const auto answer = DecodeDcb(reply); answer.ok()) {
    CheckStructure(answer->dcbx, "dcbx");
    CheckStructure(answer->pfc, "pfc");
    CheckStructure(answer->ets, "ets");
    CheckStructure(answer->maxrate, "maxrate");
    CheckStructure(answer->buffer, "buffer");
    CheckBytes(answer->pfc);
    CheckBytes(answer->ets);
    CheckBytes(answer->maxrate);
    CheckBytes(answer->buffer);
    if (answer->apps) CheckTable(*answer->apps);
    if (answer->ets) {
      const EtsWish wish = EtsWish::Of(*answer->ets);
      const auto again = EtsWish::ParseObserved(wish.Text());
      const bool sane = std::all_of(wish.traffic_class.begin(), wish.traffic_class.end(),
                                    [](std::uint8_t in) { return in < kDcbClasses; });
      ALWAYS(again.ok() == sane && (!sane || *again == wish), wish.Text());
    }
  }
  reply.type = RTM_SETDCB;
  for (const std::uint16_t attribute : {std::uint16_t{DCB_ATTR_IEEE}, std::uint16_t{DCB_ATTR_DCBX}}) {
    const Status outcome = DcbOutcome(reply, attribute, "what");
    ALWAYS(outcome.ok() || outcome.message().starts_with("what: "), outcome.message());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view kind = input.Line();
  if (kind == "reply") CheckReply(input.Rest());
  if (kind == "table") {
    const auto table = ParseAppTable(input.Rest());
    if (table.ok()) CheckTable(*table);
  }
  if (kind.starts_with("change ")) {
    const std::string_view leaf = kind.substr(7);
    const std::string_view before = input.Line();
    const std::string_view value = input.Line();
    const auto changed = ChangedDcbText(leaf, before, value);
    if (!changed.ok()) return 0;
    const auto again = ChangedDcbText(leaf, *changed, value);
    ALWAYS(again.ok() && *again == *changed, *changed, value);
  }
  return 0;
}
