#include "core/decode/ets_wish.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kAllowed =
    "groups such as 3:50,6:strict,rest:50, or prio_tc=… tsa=… bw=… with eight values each";

Status Refuse(std::string_view text, const std::string& why) {
  return Status(Code::kInvalidArgument, Quoted(text) + " " + why + "; allowed: " + std::string(kAllowed));
}

/// The second spelling, group by group.
class Groups {
 public:
  explicit Groups(std::string_view text) : text_(text) {}

  Status Add(std::string_view word) {
    const auto colon = word.find(':');
    if (colon == std::string_view::npos) return Refuse(text_, "holds " + Quoted(word));
    const auto served = word.substr(colon + 1);
    std::uint8_t algorithm = kTsaEts, percent = 0;
    if (served == "strict") {
      algorithm = kTsaStrict;
    } else {
      const auto number = ParseWhole(served, 0, 100);
      if (!number.ok()) return Refuse(text_, "has " + Quoted(served) + " where 0…100 or strict belongs");
      percent = static_cast<std::uint8_t>(*number);
    }
    const auto names = word.substr(0, colon);
    if (names == "rest") {
      if (rest_) return Refuse(text_, "names rest twice");
      rest_ = {algorithm, percent};
      return Ok();
    }
    RW_ASSIGN_OR_RETURN(const auto members, Members(names));
    return Serve(members, algorithm, percent);
  }

  Result<EtsWish> Done() {
    if (rest_) {
      std::vector<std::size_t> members;
      for (std::size_t priority = 0; priority < kDcbClasses; ++priority)
        if (!named_[priority]) members.push_back(priority);
      if (members.empty()) return Refuse(text_, "leaves no priority for rest");
      RW_RETURN_IF_ERROR(Serve(members, rest_->first, rest_->second));
    }
    for (std::size_t priority = 0; priority < kDcbClasses; ++priority)
      if (!named_[priority]) return Refuse(text_, "does not name priority " + std::to_string(priority));
    return wish_;
  }

 private:
  Result<std::vector<std::size_t>> Members(std::string_view names) const {
    std::vector<std::size_t> members;
    const auto words = Words(names, "+");
    if (words.empty()) return Refuse(text_, "has a group without priorities");
    for (const auto word : words) {
      const auto priority = ParseWhole(word, 0, kDcbClasses - 1);
      if (!priority.ok()) return Refuse(text_, "has " + Quoted(word) + " where a priority 0…7 belongs");
      members.push_back(*priority);
    }
    return members;
  }

  Status Serve(const std::vector<std::size_t>& members, std::uint8_t algorithm, std::uint8_t percent) {
    const std::size_t in = *std::min_element(members.begin(), members.end());
    for (const std::size_t priority : members) {
      if (named_[priority]) return Refuse(text_, "names priority " + std::to_string(priority) + " twice");
      named_[priority] = true;
      wish_.traffic_class[priority] = static_cast<std::uint8_t>(in);
    }
    wish_.algorithm[in] = algorithm;
    wish_.bandwidth[in] = percent;
    return Ok();
  }

  std::string_view text_;
  EtsWish wish_;
  PerClass<bool> named_{};
  std::optional<std::pair<std::uint8_t, std::uint8_t>> rest_;
};

Status CheckRules(std::string_view text, const EtsWish& wish) {
  bool shared = false;
  unsigned sum = 0;
  for (std::size_t i = 0; i < kDcbClasses; ++i) {
    const auto algorithm = wish.algorithm[i];
    if (algorithm != kTsaStrict && algorithm != kTsaEts && algorithm != kTsaVendor)
      return Refuse(text, "has " + TsaText(algorithm) + ", which RoCE cards do not have");
    if (algorithm != kTsaEts) continue;
    shared = true;
    sum += wish.bandwidth[i];
  }
  if (shared && sum != 100)
    return Refuse(text, "gives its ets classes " + std::to_string(sum) + " %, not 100");
  return Ok();
}

Result<EtsWish> ParseFields(std::string_view text) {
  // Commas stand inside the values, blanks between the fields.
  const auto fields = Fields::Parse(text);
  if (!fields.ok()) return Refuse(text, "is no list of name=value");
  for (const auto& [name, value] : fields->all())
    if (name != "prio_tc" && name != "tsa" && name != "bw") return Refuse(text, "names no " + Quoted(name));
  for (const std::string_view name : {"prio_tc", "tsa", "bw"})
    if (fields->Find(name) == nullptr) return Refuse(text, "lacks " + std::string(name));
  DcbEts ets;
  if (const Status status = ets.Change(text); !status.ok())
    return Refuse(text, "is wrong: " + status.message());
  for (const auto in : ets.traffic_class)
    if (in >= kDcbClasses) return Refuse(text, "names class " + std::to_string(in) + " (classes are 0…7)");
  return EtsWish::Of(ets);
}

}  // namespace

Result<EtsWish> EtsWish::Parse(std::string_view text) {
  RW_ASSIGN_OR_RETURN(const EtsWish wish, ParseObserved(text));
  RW_RETURN_IF_ERROR(CheckRules(text, wish));
  return wish;
}

Result<EtsWish> EtsWish::ParseObserved(std::string_view text) {
  text = Trimmed(text);
  if (text.find('=') != std::string_view::npos) return ParseFields(text);
  const auto words = Words(text, ", \t");
  if (words.empty()) return Refuse(text, "is empty");
  Groups groups(text);
  for (const auto word : words) RW_RETURN_IF_ERROR(groups.Add(word));
  return groups.Done();
}

EtsWish EtsWish::Of(const DcbEts& ets) {
  EtsWish wish{ets.traffic_class, ets.algorithm, ets.tx_bandwidth};
  for (std::size_t i = 0; i < kDcbClasses; ++i)
    if (wish.algorithm[i] != kTsaEts) wish.bandwidth[i] = 0;
  return wish;
}

std::string EtsWish::Text() const {
  std::string classes, algorithms, bandwidths;
  for (std::size_t i = 0; i < kDcbClasses; ++i) {
    const std::string_view comma = i == 0 ? "" : ",";
    classes.append(comma).append(std::to_string(traffic_class[i]));
    algorithms.append(comma).append(TsaText(algorithm[i]));
    bandwidths.append(comma).append(std::to_string(bandwidth[i]));
  }
  return "prio_tc=" + classes + " tsa=" + algorithms + " bw=" + bandwidths;
}

}  // namespace railwright
