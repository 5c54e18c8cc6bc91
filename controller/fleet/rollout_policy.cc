#include "controller/fleet/rollout_policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>
#include <utility>

#include "controller/fleet/inventory.h"

namespace railwright {

namespace {

using fleet::Quoted;
using std::chrono::seconds;

constexpr std::uint32_t kMostOfAmount = 100'000;  // as many as a fleet can have
// What a short text can ask for is bounded.
constexpr int kMostWaves = 100, kMostWindows = 100, kMostApart = 16;

// A decimal number without sign, blanks or leading zeros.
std::optional<std::uint32_t> ReadNumber(std::string_view text, std::uint32_t most) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  if (number > most) return std::nullopt;
  return number;
}

std::optional<Amount> ReadAmount(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = ReadNumber(text, percent ? 100 : kMostOfAmount);
  if (!number) return std::nullopt;
  return Amount{*number, percent};
}

// "90s", "5m", "1h30m", "7d": every unit at most once, the larger before the smaller.
std::optional<seconds> ReadTime(std::string_view text) {
  constexpr std::array<std::pair<char, std::int64_t>, 4> kUnits{
      {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
  if (text.empty()) return std::nullopt;
  seconds total{0};
  const auto* unit = kUnits.begin();
  while (!text.empty()) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || digits > 9) return std::nullopt;
    unit = std::find_if(unit, kUnits.end(), [&](const auto& one) { return one.first == text[digits]; });
    if (unit == kUnits.end()) return std::nullopt;
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + digits, number);
    total += seconds(number * unit->second);
    text.remove_prefix(digits + 1);
    ++unit;
  }
  return total;
}

}  // namespace

std::string Amount::Text() const { return std::to_string(number) + (percent ? "%" : ""); }

Result<Amount> Amount::Parse(std::string_view text) {
  if (const auto amount = ReadAmount(text)) return *amount;
  return Status(Code::kInvalidArgument,
                Quoted(text) +
                    " is no amount; allowed: a number of nodes up to 100,000, as in \"3\", or a share up "
                    "to 100%, as in \"10%\"");
}

std::string Wave::Text() const {
  switch (kind) {
    case Kind::kMore: return amount.Text() + (amount.number == 1 ? " node" : " nodes");
    case Kind::kUntil: return "until " + amount.Text() + " of the nodes";
    case Kind::kRack: return "one rack";
    case Kind::kRacks: return "rack by rack";
    case Kind::kAll: break;
  }
  return "the rest";
}

Result<Wave> Wave::Parse(std::string_view text) {
  if (text == "rack") return Wave{Kind::kRack, {}};
  if (text == "racks") return Wave{Kind::kRacks, {}};
  if (text == "all") return Wave{Kind::kAll, {}};
  const auto amount = ReadAmount(text);
  if (amount && amount->number > 0) return Wave{amount->percent ? Kind::kUntil : Kind::kMore, *amount};
  // Only what looks like a word is taken for a slip in one.
  const bool word =
      std::all_of(text.begin(), text.end(), [](char c) { return (c | ' ') >= 'a' && (c | ' ') <= 'z'; });
  const std::vector<std::string_view> known{"rack", "racks", "all"};
  const std::string near = word ? fleet::DidYouMean(text, known, "") : std::string();
  return Status(
      Code::kInvalidArgument,
      Quoted(text) + " is no wave" +
          (near.starts_with("; did") ? near
                                     : "; allowed are: a number of nodes from 1 to 100,000, a share from "
                                       "1% to 100%, rack, racks, all"));
}

std::size_t RolloutPolicy::UnavailableMost(std::size_t fleet) const {
  return std::max<std::size_t>(1, max_unavailable.Of(fleet));
}

std::uint32_t RolloutPolicy::ApprovalsFor(std::size_t members, std::size_t fleet) const {
  if (approve_twice_above && members > approve_twice_above->Of(fleet)) return 2;
  return approve_above && members > approve_above->Of(fleet) ? 1 : 0;
}

bool RolloutPolicy::Open(std::chrono::system_clock::time_point now) const {
  return windows.empty() ||
         std::any_of(windows.begin(), windows.end(), [&](const Window& one) { return one.Contains(now); });
}

namespace {

// A message → the terms. Every problem is told with the field's number and the item's index (-1: the field is
// no list).
class PolicyReader {
 public:
  using Tell = std::function<void(int field, int index, std::string_view text, std::string sentence)>;

  PolicyReader(const v1::RolloutPolicy& message, Tell tell) : message_(message), tell_(std::move(tell)) {}

  RolloutPolicy Read();

 private:
  using M = v1::RolloutPolicy;

  void ReadWaves(std::vector<Wave>& waves);
  void ReadApprovals(RolloutPolicy& policy);
  void ReadSpan(int field, const std::string& text, seconds least, seconds most, const char* allowed,
                seconds& out);
  // False: it was not given, or is wrong.
  bool ReadShare(int field, const std::string& text, std::uint32_t least, Amount& out);
  void Wrong(int field, int index, std::string_view text, const std::string& why);
  template <class List>
  int Few(int field, const List& list, int most);

  const v1::RolloutPolicy& message_;
  const Tell tell_;
};

void PolicyReader::Wrong(int field, int index, std::string_view text, const std::string& why) {
  std::string name = M::descriptor()->FindFieldByNumber(field)->name();
  if (index >= 0) name += "[" + std::to_string(index) + "]";
  tell_(field, index, text, name + ": " + why);
}

// How many of them are read.
template <class List>
int PolicyReader::Few(int field, const List& list, int most) {
  if (list.size() > most) Wrong(field, most, list[most], "at most " + std::to_string(most) + " are accepted");
  return std::min(most, list.size());
}

void PolicyReader::ReadWaves(std::vector<Wave>& waves) {
  constexpr int kField = M::kWavesFieldNumber;
  const auto& texts = message_.waves();
  if (texts.empty()) return;
  waves.clear();
  bool readable = texts.size() <= kMostWaves;
  int rest = -1;   // the first that leaves nothing
  int share = -1;  // the last of a share
  const int count = Few(kField, texts, kMostWaves);
  for (int i = 0; i < count; ++i) {
    const auto wave = Wave::Parse(texts[i]);
    if (!wave.ok()) {
      readable = false;
      Wrong(kField, i, texts[i], wave.status().message());
      continue;
    }
    if (rest >= 0)
      Wrong(kField, i, texts[i],
            "nothing is left after " + Quoted(texts[rest]) + "; end with it, or put this before");
    else if (wave->kind == Wave::Kind::kAll || wave->kind == Wave::Kind::kRacks)
      rest = i;
    if (wave->kind == Wave::Kind::kUntil) {
      const auto before = share < 0 ? Amount{0, true} : *ReadAmount(texts[share]);
      if (wave->amount.number <= before.number)
        Wrong(kField, i, texts[i],
              Quoted(texts[i]) + " were chosen with " + Quoted(texts[share]) +
                  " before; shares count from the start and must grow");
      share = i;
    }
    waves.push_back(*wave);
  }
  if (readable && rest < 0)
    Wrong(kField, count - 1, texts[count - 1],
          "the last wave must be \"all\" or \"racks\", or some nodes would never be changed; add one after " +
              Quoted(texts[count - 1]));
}

void PolicyReader::ReadSpan(int field, const std::string& text, seconds least, seconds most,
                            const char* allowed, seconds& out) {
  if (text.empty()) return;
  const auto span = ReadTime(text);
  if (span && *span >= least && *span <= most) {
    out = *span;
    return;
  }
  Wrong(field, -1, text,
        Quoted(text) +
            (!span           ? " is no time"
             : *span < least ? " is too short"
                             : " is too long") +
            "; allowed: " + allowed + ", written as 90s, 5m, 1h30m");
}

bool PolicyReader::ReadShare(int field, const std::string& text, std::uint32_t least, Amount& out) {
  if (text.empty()) return false;
  const auto amount = Amount::Parse(text);
  if (!amount.ok())
    Wrong(field, -1, text, amount.status().message());
  else if (amount->number < least)
    Wrong(field, -1, text,
          Quoted(text) + " is too little; the least is " + (amount->percent ? "1%" : "1 node"));
  else
    out = *amount;
  return amount.ok() && amount->number >= least;
}

void PolicyReader::ReadApprovals(RolloutPolicy& policy) {
  constexpr int kTwice = M::kApproveTwiceAboveFieldNumber;
  Amount once, twice;
  if (ReadShare(M::kApproveAboveFieldNumber, message_.approve_above(), 0, once)) policy.approve_above = once;
  if (ReadShare(kTwice, message_.approve_twice_above(), 0, twice)) policy.approve_twice_above = twice;
  if (policy.approve_above && policy.approve_twice_above && once.percent == twice.percent &&
      twice.number < once.number)
    Wrong(kTwice, -1, message_.approve_twice_above(),
          Quoted(twice.Text()) + " is below approve_above (" + Quoted(once.Text()) +
              "); two persons cannot be needed before one is");
}

RolloutPolicy PolicyReader::Read() {
  using namespace std::chrono;
  RolloutPolicy policy;
  policy.name = "RolloutPolicy/" + message_.name();
  ReadWaves(policy.waves);
  ReadSpan(M::kSoakFieldNumber, message_.soak(), seconds(0), hours(7 * 24), "0s to 7d", policy.soak);
  ReadSpan(M::kSettleWithinFieldNumber, message_.settle_within(), seconds(10), hours(24), "10s to 24h",
           policy.settle_within);
  // The least of these three is one node (of the breaker three), so who writes 0 means something else.
  ReadShare(M::kMaxUnavailableFieldNumber, message_.max_unavailable(), 1, policy.max_unavailable);
  ReadShare(M::kMaxFailedFieldNumber, message_.max_failed(), 1, policy.max_failed);
  ReadShare(M::kBreakerFieldNumber, message_.breaker(), 1, policy.breaker);
  std::set<std::string_view> seen;
  const int apart = Few(M::kApartFieldNumber, message_.apart(), kMostApart);
  for (int i = 0; i < apart; ++i) {
    const std::string& label = message_.apart(i);
    if (!seen.insert(label).second) Wrong(M::kApartFieldNumber, i, label, Quoted(label) + " is given twice");
    policy.apart.push_back(label);
  }
  const int windows = Few(M::kWindowsFieldNumber, message_.windows(), kMostWindows);
  for (int i = 0; i < windows; ++i) {
    auto window = Window::Parse(message_.windows(i));
    if (window.ok())
      policy.windows.push_back(std::move(*window));
    else
      Wrong(M::kWindowsFieldNumber, i, message_.windows(i), window.status().message());
  }
  ReadApprovals(policy);
  return policy;
}

}  // namespace

Result<RolloutPolicy> ReadRolloutPolicy(const v1::RolloutPolicy& message) {
  std::string first;
  PolicyReader reader(message, [&](int, int, std::string_view, std::string sentence) {
    if (first.empty()) first = std::move(sentence);
  });
  RolloutPolicy policy = reader.Read();
  if (!first.empty()) return Status(Code::kInvalidArgument, std::move(first));
  return policy;
}

namespace fleet {

namespace {

// What can be read and does not fit this fleet.
void WarnOfMisfits(const RolloutPolicy& policy, const Inventory& inventory,
                   std::vector<std::string>& warnings) {
  const auto& nodes = inventory.nodes;
  if (nodes.empty()) return;
  const bool racks =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return !node.rack.empty(); });
  std::set<std::string_view> labels;
  for (const InventoryNode& node : nodes)
    for (const auto& [label, value] : node.labels) labels.insert(label);
  for (const std::string& label : policy.apart) {
    if (labels.contains(label) || (label == "rack" && racks)) continue;
    const std::string keeps =
        policy.name + " keeps nodes of the same " + Quoted(label) + " apart, but no node ";
    if (label == "rack")
      warnings.push_back(keeps + "has a rack");
    else
      warnings.push_back(keeps + "has that label" +
                         DidYouMean(label, {labels.begin(), labels.end()}, "labels in use"));
  }
  if (!racks && std::any_of(policy.waves.begin(), policy.waves.end(), [](const Wave& wave) {
        return wave.kind == Wave::Kind::kRack || wave.kind == Wave::Kind::kRacks;
      }))
    warnings.push_back(policy.name + " has waves of a rack, but no node has one: all nodes are one rack");
  // Of a number and a share the fleet's size decides, and it may change: no problem, then.
  const auto &once = policy.approve_above, &twice = policy.approve_twice_above;
  if (once && twice && once->percent != twice->percent && twice->Of(nodes.size()) < once->Of(nodes.size()))
    warnings.push_back(policy.name + ": of " + std::to_string(nodes.size()) + " nodes approve_twice_above (" +
                       twice->Text() + ") is below approve_above (" + once->Text() + ")");
}

}  // namespace

std::optional<RolloutPolicy> CompileRolloutPolicy(const std::vector<Document>& documents,
                                                  const Inventory& inventory, Complaints& complaints,
                                                  std::vector<std::string>& warnings) {
  std::optional<RolloutPolicy> out;
  const Document* first = nullptr;
  for (const Document& document : documents) {
    const auto* message = std::get_if<v1::RolloutPolicy>(&document.body);
    if (message == nullptr) continue;
    PolicyReader reader(*message, [&](int field, int index, std::string_view text, std::string sentence) {
      complaints.At(document,
                    document.places.Of(message->mark(), field, index < 0 ? 0 : Places::Index(index)),
                    std::move(sentence), static_cast<int>(text.size()));
    });
    RolloutPolicy policy = reader.Read();
    if (first == nullptr) {
      first = &document;
      WarnOfMisfits(policy, inventory, warnings);
      out = std::move(policy);
    } else if (document.id() != first->id()) {  // else RefuseDoubles has told it
      complaints.At(document, message->mark(),
                    "at most one RolloutPolicy can be in force; the other is at " +
                        PlaceText(*first, PlaceOf(std::get<v1::RolloutPolicy>(first->body).mark())) +
                        "; give this one its name, " + Quoted(first->name) +
                        ", to replace it, or leave one out");
    }
  }
  return out;
}

}  // namespace fleet

}  // namespace railwright
