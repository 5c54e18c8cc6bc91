#include "agent/loop/reporter.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/wire/wire.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

using Place = std::pair<std::string_view, std::string_view>;

Place PlaceOf(const Finding& finding) { return {finding.key, finding.target}; }

bool SameButFindings(const NodeReport& a, const NodeReport& b) {
  return a.generation == b.generation && a.state_hash == b.state_hash && a.verdict == b.verdict &&
         a.settled == b.settled;
}

}  // namespace

std::string Shortened(const std::string& text) {
  if (text.size() <= Reporter::kLongestText) return text;
  // Cut between characters, or the last one would turn into U+FFFD.
  std::size_t keep = Reporter::kLongestText - 64;
  while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xc0) == 0x80) --keep;
  return text.substr(0, keep) + "… [" + std::to_string(text.size()) + " bytes, " +
         StateHash(text, {}).substr(0, 12) + "]";
}

NodeReport Shortened(const NodeReport& report) {
  constexpr std::size_t kMostEvidence = 64;
  NodeReport shorter = report;
  for (Finding& finding : shorter.findings) {
    for (std::string* text : {&finding.desired, &finding.observed, &finding.message, &finding.fix})
      if (text->size() > Reporter::kLongestText) *text = Shortened(*text);
    if (finding.evidence.size() > kMostEvidence) {
      finding.evidence.push_back("… and " + std::to_string(finding.evidence.size() - kMostEvidence) +
                                 " more");
      finding.evidence.erase(finding.evidence.begin() + kMostEvidence, finding.evidence.end() - 1);
    }
    for (std::string& line : finding.evidence)
      if (line.size() > Reporter::kLongestText) line = Shortened(line);
  }
  return shorter;
}

void Reporter::Connected(const v1::HeldReport* held, bool same_agent) {
  const auto before = std::exchange(under_way_, std::nullopt);
  held_.reset();
  sequence_ = 0;
  last_change_sent_ = 0;
  say_something_ = held == nullptr || !same_agent;
  if (held == nullptr) return;
  if (before && before->hash == held->hash()) {
    Adopt(before->report, *held);  // stored, and its acknowledgement was lost
  } else if (acknowledged_ && acknowledged_hash_ == held->hash()) {
    Adopt(*std::move(acknowledged_), *held);
  } else {
    acknowledged_.reset();
    acknowledged_hash_.clear();
    held_ = *held;
  }
}

// The controller holds this very set of findings, with what it says beside.
void Reporter::Adopt(NodeReport report, const v1::HeldReport& held) {
  report.generation.value = held.generation();
  report.state_hash = held.state_hash();
  report.verdict = FromWire(held.verdict());
  report.settled = held.settled();
  acknowledged_ = std::move(report);
  acknowledged_hash_ = held.hash();
}

void Reporter::NeedFull() {
  held_.reset();
  acknowledged_.reset();
  acknowledged_hash_.clear();
  under_way_.reset();
  say_something_ = true;
}

std::optional<v1::Report> Reporter::Next(const NodeReport& full_length,
                                         const std::deque<ChangeRecord>& pending, Clock::Steady now) {
  if (under_way_ && now - under_way_->since < kAckWithin) return std::nullopt;
  if (under_way_) last_change_sent_ = 0;  // no answer came: all of it again
  NodeReport report = Shortened(full_length);
  const std::string hash = ReportHash(report);
  if (const auto held = std::exchange(held_, std::nullopt); held && held->hash() == hash)
    Adopt(report, *held);
  const bool news = !pending.empty() && pending.back().sequence > last_change_sent_;
  const bool same = acknowledged_ && hash == acknowledged_hash_ && SameButFindings(report, *acknowledged_);
  if (same && !news && !say_something_) {
    under_way_.reset();
    return std::nullopt;
  }

  v1::Report message;
  message.set_sequence(++sequence_);
  message.set_generation(report.generation.value);
  message.set_state_hash(report.state_hash);
  message.set_full(!acknowledged_);
  message.set_base_hash(acknowledged_hash_);
  message.set_hash(hash);
  message.set_verdict(ToWire(report.verdict));
  message.set_settled(report.settled);
  std::map<Place, const Finding*> before;
  if (acknowledged_)
    for (const Finding& finding : acknowledged_->findings) before[PlaceOf(finding)] = &finding;
  for (const Finding& finding : report.findings) {
    const auto known = before.find(PlaceOf(finding));
    if (known == before.end() || !(*known->second == finding)) *message.add_findings() = ToWire(finding);
    if (known != before.end()) before.erase(known);
  }
  for (const auto& [place, finding] : before) {
    v1::KeyTarget* removed = message.add_removed();
    removed->set_key(finding->key);
    removed->set_target(finding->target);
  }
  for (const ChangeRecord& change : pending) {
    if (change.sequence <= last_change_sent_) continue;
    if (static_cast<std::size_t>(message.changes_size()) == kMostChanges) break;
    ChangeRecord shorter = change;
    for (std::string* text : {&shorter.from, &shorter.to, &shorter.message}) *text = Shortened(*text);
    *message.add_changes() = ToWire(shorter);
  }
  if (message.changes_size() > 0) last_change_sent_ = message.changes(message.changes_size() - 1).sequence();
  say_something_ = false;
  under_way_ = UnderWay{sequence_, message.full(), std::move(report), hash, now};
  return message;
}

bool Reporter::Acknowledge(const v1::ReportAck& ack) {
  if (ack.need_full()) {
    if (under_way_ && under_way_->full) {
      // Asked before the one that is under way came: that one is the answer. Asked for by that one itself: at
      // once again would go round for ever, so kAckWithin paces it.
      acknowledged_.reset();
      acknowledged_hash_.clear();
      return false;
    }
    NeedFull();
    last_change_sent_ = ack.stored_change();
    return true;
  }
  if (!under_way_ || ack.sequence() != under_way_->sequence) return false;
  acknowledged_ = std::move(under_way_->report);
  acknowledged_hash_ = std::move(under_way_->hash);
  under_way_.reset();
  return true;
}

std::optional<Clock::Steady> Reporter::NextDue() const {
  if (!under_way_) return std::nullopt;
  return under_way_->since + kAckWithin;
}

}  // namespace railwright
