// The end of a try: confirmed by all that must confirm it, or put back.
#include <algorithm>
#include <utility>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/loop.h"
#include "agent/reconcile/text.h"
#include "agent/reconcile/try_evidence.h"

namespace railwright {
namespace {

using std::chrono::milliseconds;

/// A link trains in a few seconds, one of 400 Gbit/s over copper in up to ten or so.
constexpr std::chrono::seconds kPatience{30};
/// A driver may take the link down some time after it has taken the write; what is up by then stays up.
constexpr std::chrono::seconds kSettling{3};
constexpr std::chrono::seconds kLookAgain{1};
/// What could not be put back is tried again each second, after a minute each ten.
constexpr int kOften = 60;
constexpr std::chrono::seconds kSeldom{10};

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

std::string SecondsOf(milliseconds time) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(time).count()) + " s";
}

// The record's ports, as they are bound now: no desired state need be in force.
NodeFacts BindRecorded(const Machine& machine, const OpenTry& record) {
  DesiredState state;
  state.ports = record.ports;
  return BindPorts(machine, state);
}

const BoundPort* PortOf(const NodeFacts& facts, const std::string& name) {
  const auto port = std::find_if(facts.ports.begin(), facts.ports.end(),
                                 [&](const BoundPort& bound) { return bound.port.name == name; });
  return port == facts.ports.end() ? nullptr : &*port;
}

}  // namespace

Entry* Reconciler::Impl::EntryOf(const std::string& key, const std::string& target) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
    return one.wish.spec.key == key && one.wish.spec.target == target;
  });
  return entry == entries_.end() ? nullptr : &*entry;
}

void Reconciler::Impl::LookAtTryAgain(Clock::Steady at) {
  try_look_at_ = std::min(try_look_at_.value_or(at), at);
}

// Of an earlier life. Its deadline goes on; a boot in between has ended it.
void Reconciler::Impl::TakeUpTry() {
  const std::optional<OpenTry> open = journal_.Try();
  if (!open) return;
  try_.emplace();
  try_->record = *open;
  try_->written[""] = clock_.Now();
  for (const OpenTry::Evidence& evidence : open->evidence) try_->written[evidence.port] = clock_.Now();
  if (open->boot_id != options_.boot_id || options_.boot_id.empty()) {
    FailTry(nullptr, "TryFailed",
            {options_.boot_id.empty() ? "it cannot be told whether the node has booted since"
                                      : "the node has booted before it was confirmed"});
  } else {
    // What an earlier life had given up and begun to put back.
    std::set<std::string> ports;
    std::string reason, missing;
    for (const FailedTry& failed : journal_.FailedTries()) {
      if (failed.generation < open->generation) continue;
      for (const OpenTry::Step& step : open->steps) {
        if (step.key != failed.key || step.target != failed.target) continue;
        ports.insert(step.ports.begin(), step.ports.end());
        if (step.ports.empty()) ports.insert("");
        reason = failed.reason;
        missing = failed.message;
      }
    }
    if (!ports.empty()) FailTry(&ports, reason, {missing});
  }
  LookAtTry();
}

bool Reconciler::Impl::PeersMissing(const OpenTry::Evidence& evidence, const BoundPort& port) {
  if (evidence.peers.empty() || options_.witnesses.peers == nullptr) return false;
  if (try_->heard.contains(evidence.port)) return false;
  if (try_->asked.contains(evidence.port) && !options_.witnesses.peers->Answered(port.netdev).empty()) {
    try_->heard.insert(evidence.port);
    return false;
  }
  options_.witnesses.peers->Ask(port.netdev, evidence.peers);
  try_->asked.insert(evidence.port);
  return true;
}

void Reconciler::Impl::LookAtTry() {
  try_look_at_.reset();
  if (!try_) return;
  const Clock::Steady now = clock_.Now();
  if (!try_->failed.empty()) PutBackFailed();
  if (!try_) return;
  if (!try_->failed.empty()) LookAtTryAgain(now + (try_->tries < kOften ? kLookAgain : kSeldom));
  if (try_->confirmed) return Confirm();
  if (try_->record.steps.empty()) return;

  const NodeFacts facts = BindRecorded(machine_, try_->record);
  std::vector<std::string> missing;
  std::set<std::string> lacking, dead, called_off;
  bool links_are_back = true;
  bool settled = now - try_->written[""] >= kSettling;
  for (const OpenTry::Evidence& evidence : try_->record.evidence) {
    const BoundPort* port = PortOf(facts, evidence.port);
    const auto age = now - try_->written[evidence.port];
    const bool rests = age >= kSettling;
    // What cannot be had with the new value is missed, and told.
    if (rests && port != nullptr && !port->netdev.empty()) [[maybe_unused]]
      const Status status = PutBackRoutes(machine_, evidence, *port);
    Missing lacks = MissingOf(machine_, evidence, port, try_->record.steps);
    settled = settled && rests;
    links_are_back = links_are_back && !lacks.link;
    if (lacks.link && age >= kPatience) dead.insert(evidence.port);
    if (!lacks.link && rests && port != nullptr && PeersMissing(evidence, *port))
      lacks.words.push_back("no neighbour of " + evidence.port + " answers of those that had (" +
                            Joined(evidence.peers) + ")");
    if (!lacks.words.empty()) lacking.insert(evidence.port);
    std::move(lacks.words.begin(), lacks.words.end(), std::back_inserter(missing));
  }
  const bool controller = try_->record.controller && !try_->answered;
  if (controller) {
    missing.emplace_back("the controller has not answered over a new connection");
    if (links_are_back && settled && !std::exchange(try_->redialled, true) && options_.witnesses.redial)
      options_.witnesses.redial();
  }
  if (missing.empty() && settled) {
    try_->confirmed = true;
    return Confirm();
  }
  const milliseconds left = try_->record.deadline - clock_.BootNow();
  if (left <= milliseconds(0)) {
    if (missing.empty()) missing.emplace_back("it was still being written");
    return FailTry(controller || lacking.empty() ? nullptr : &lacking, "TryFailed", missing);
  }
  LookAtTryAgain(now + std::min<std::chrono::nanoseconds>(kLookAgain, left));
  if (!dead.empty()) return FailTry(&dead, "LinkStayedDown", {});

  // A newer generation wants what was before, and may not write it there by itself.
  for (const OpenTry::Step& step : try_->record.steps) {
    const Entry* entry = EntryOf(step.key, step.target);
    if (entry != nullptr && entry->step && entry->step->refused == "ManagementPath" &&
        entry->wish.desired == step.before)
      called_off.insert(step.ports.begin(), step.ports.end());
  }
  if (!called_off.empty())
    FailTry(&called_off, "TryFailed", {"a newer generation wants the value from before"});
}

void Reconciler::Impl::Confirm() {
  if (try_->record.controller && try_->answered && options_.witnesses.confirmed) {
    std::map<KeyTarget, std::string> values;
    for (const OpenTry::Step& step : try_->record.steps) values[{step.key, step.target}] = step.to;
    options_.witnesses.confirmed(values);
  }
  if (!journal_.EndTry().ok()) return LookAtTryAgain(clock_.Now() + kLookAgain);
  try_.reset();
  try_look_at_.reset();
  look_now_ = true;  // the report may be settled now, and who waits for a link or a try goes on
}

// Whether another life comes in time is not known. What was not refuted may be tried anew by it.
void Reconciler::Impl::StopTry() {
  if (!try_ || try_->confirmed) return;
  const std::vector<OpenTry::Step> steps = try_->record.steps;
  FailTry(nullptr, "TryFailed", {"the agent was stopped before it was confirmed"});
  for (const OpenTry::Step& step : steps)
    [[maybe_unused]] const Status status = journal_.ForgetFailedTry(step.key, step.target);
}

void Reconciler::Impl::FailTry(const std::set<std::string>* ports, const std::string& reason,
                               const std::vector<std::string>& missing) {
  std::vector<OpenTry::Step>& steps = try_->record.steps;
  const NodeFacts facts = BindRecorded(machine_, try_->record);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const OpenTry::Step& step = steps[i];
    const bool hit = ports == nullptr || (step.ports.empty() && ports->contains("")) ||
                     std::any_of(step.ports.begin(), step.ports.end(),
                                 [&](const std::string& port) { return ports->contains(port); });
    if (!hit) continue;
    std::string what = Joined(missing);
    const BoundPort* port = step.ports.empty() ? nullptr : PortOf(facts, step.ports.front());
    if (reason == "LinkStayedDown" && missing.empty())
      what = "the link of " + (port == nullptr ? step.target : port->netdev) + " did not come back within " +
             SecondsOf(kPatience) + " of writing " + OneLine(step.to);
    else if (reason != "LinkStayedDown" && !what.starts_with("writing "))
      what = "writing " + (step.to.empty() ? std::string("nothing") : OneLine(step.to)) +
             " was not confirmed within " + SecondsOf(try_->record.deadline - try_->record.begun) + ": " +
             what;
    FailedTry failed{step.key, step.target, try_->record.generation, reason, OneLine(what, 1024)};
    if (Entry* entry = EntryOf(step.key, step.target); entry != nullptr && entry->wish.desired == step.to)
      failed.generation = state_->generation;
    // Before it is put back: a life that ends meanwhile must not begin anew with it.
    [[maybe_unused]] const Status status = journal_.RecordFailedTry(failed);
    std::vector<OpenTry::Evidence> around;
    for (const OpenTry::Evidence& evidence : try_->record.evidence)
      if (std::find(step.ports.begin(), step.ports.end(), evidence.port) != step.ports.end())
        around.push_back(evidence);
    try_->failed.push_back({step, std::move(failed), std::move(around), {}, false});
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::erase_if(try_->record.evidence, [&](const OpenTry::Evidence& evidence) {
    return std::none_of(steps.begin(), steps.end(), [&](const OpenTry::Step& step) {
      return std::find(step.ports.begin(), step.ports.end(), evidence.port) != step.ports.end();
    });
  });
  try_->tries = 0;
  PutBackFailed();
}

void Reconciler::Impl::PutBackFailed() {
  ++try_->tries;
  std::vector<LiveTry::Failed> left;
  std::vector<Entry*> again;
  for (LiveTry::Failed& failed : std::exchange(try_->failed, {})) {
    Entry* entry = EntryOf(failed.step.key, failed.step.target);
    const bool wished = entry != nullptr && entry->wish.desired == failed.step.to;
    std::string sentence;
    Entry shown;
    if (entry == nullptr) {
      shown.wish.spec.key = failed.step.key;
      shown.wish.spec.target = failed.step.target;
      if (const auto match = catalog_.Find(failed.step.key); match.ok()) shown.wish.setting = match->setting;
    }
    Entry& told = entry == nullptr ? shown : *entry;
    const Observation before = OriginalAsObservation({{}, {}, failed.step.kind, failed.step.before});
    if (!failed.told && told.wish.setting != nullptr) {
      ++counters_.failed;
      Record(told, wished && entry->deviation ? entry->deviation->kind : ChangeKind::kIntended, before,
             failed.step.to, false, failed.why.message);
    }
    const bool back = PutBackStep(failed.step, sentence) && PutBackSurroundings(failed.around, sentence);
    if ((back || !failed.told) && told.wish.setting != nullptr)
      Record(told, ChangeKind::kUndone, Observation::Value(failed.step.to), failed.step.before, back,
             back ? std::string() : sentence);
    failed.told = true;
    failed.error = sentence;
    FailedTry why = failed.why;
    why.message += (sentence.empty() ? "" : "; " + sentence) + "; not tried again by itself";
    if (wished) {
      HoldAfterTry(*entry, why);
      entry->held = entry->gone = false;  // a restore that was done is not
      // What was done for the generation is done with: nothing else of the port is undone for it.
      for (auto& [group, run] : runs_)
        std::erase_if(run, [&](const DoneStep& done) { return done.entry == IndexOf(*entry); });
      if (!entry->deviation) entry->deviation = Deviation{ChangeKind::kIntended, clock_.Now(), {}};
    }
    again.push_back(entry);
    if (back) {
      [[maybe_unused]] const Status status = wished || entry == nullptr
                                                 ? journal_.RecordFailedTry(why)
                                                 : journal_.ForgetFailedTry(why.key, why.target);
    } else {
      left.push_back(std::move(failed));
    }
  }
  look_now_ = true;
  try_->failed = std::move(left);
  for (Entry* entry : again) {
    if (entry == nullptr) continue;
    Look(machine_, entry->wish, entry->sight);
    Assess(*entry, {});
  }
  if (!try_->failed.empty()) return LookAtTryAgain(clock_.Now() + kLookAgain);
  if (try_->record.steps.empty()) {
    try_->confirmed = true;
    return Confirm();
  }
  // When it is not taken, the life after this one puts back once more what is so already.
  [[maybe_unused]] const Status status = journal_.RecordTry(try_->record);
  LookAtTryAgain(clock_.Now() + kLookAgain);
}

void Reconciler::Impl::TellOverdue(Finding& finding) const {
  if (!try_ || finding.verdict != Verdict::kCompliant) return;
  for (const LiveTry::Failed& failed : try_->failed) {
    if (failed.step.key != finding.key || failed.step.target != finding.target) continue;
    finding.verdict = Verdict::kPending;
    finding.reason = "TryFailed";
    finding.message += "; to be put back: " + failed.why.message + "; " + failed.error;
    finding.fix =
        "remove what stands in the way of the value from before; it is tried each second, then each ten";
  }
}

std::string Reconciler::Trying() const {
  std::string text;
  if (!impl_->try_) return text;
  const auto add = [&text](const OpenTry::Step& step) {
    text += (text.empty() ? "" : ", ") + Subject(step.key, step.target) + " = " + OneLine(step.to, 64);
  };
  for (const OpenTry::Step& step : impl_->try_->record.steps) add(step);
  for (const Impl::LiveTry::Failed& failed : impl_->try_->failed) add(failed.step);
  return text;
}

milliseconds Reconciler::TryLeft() const {
  if (!impl_->try_) return milliseconds(0);
  return std::max(milliseconds(0), impl_->try_->record.deadline - impl_->clock_.BootNow());
}

// What goes with a value and does not come back with it. What cannot be had any more must not hold the node
// in a try for ever: after ten tries it is told and left.
bool Reconciler::Impl::PutBackSurroundings(const std::vector<OpenTry::Evidence>& around, std::string& left) {
  constexpr int kTries = 10;
  const NodeFacts facts = BindRecorded(machine_, try_->record);
  for (const OpenTry::Evidence& evidence : around) {
    const BoundPort* port = PortOf(facts, evidence.port);
    if (port == nullptr || port->netdev.empty()) continue;
    const Status status = PutBackAround(machine_, evidence, *port);
    if (status.ok()) continue;
    left += "; addresses and routes of " + port->netdev + " could not be put back: " + status.message();
    if (try_->tries < kTries) return false;
  }
  return true;
}

bool Reconciler::Impl::PutBackStep(const OpenTry::Step& step, std::string& left) {
  const std::string subject = Subject(step.key, step.target);
  const auto match = catalog_.Find(step.key);
  if (!match.ok()) {
    left = subject + " cannot be put back: " + match.status().message();
    return false;
  }
  const NodeFacts facts = BindRecorded(machine_, try_->record);
  Wish wish;
  wish.setting = match->setting;
  wish.target.param = match->param;
  wish.spec.key = step.key;
  wish.spec.target = step.target;
  wish.restore = Original{step.key, step.target, step.kind, step.before, Disruption::kNone};
  BindWish(wish, facts);
  Sight sight;
  Look(machine_, wish, sight);
  const Observation before = OriginalAsObservation(*wish.restore);
  const std::string value = step.before.empty() ? "unset" : OneLine(step.before);
  left = subject + " is " + value + " again";
  if (sight.looked && sight.error.ok() && SameValue(sight.observation, before)) return true;
  Outcome outcome = writer_.EndTry(wish, sight, before);
  if (outcome.touched) {
    ++epoch_;
    std::move(outcome.written.begin(), outcome.written.end(), std::back_inserter(written_paths_));
  }
  if (outcome.kind == Outcome::Kind::kDone) return true;
  left = subject + " could not be put back to " + value + " (" + outcome.error.message() + ")";
  return false;
}

}  // namespace railwright
