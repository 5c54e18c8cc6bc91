// A try: what may take a link down, or touches the way to the controller, is written only after the way back
// was journalled, and stays only when it is confirmed (try_end.cc).
#include <algorithm>
#include <utility>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/loop.h"
#include "agent/reconcile/text.h"
#include "agent/reconcile/try_evidence.h"

namespace railwright {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kLookAgain{1};
/// Answers to an echo on a rail take microseconds; the first one waits for ARP, too.
constexpr milliseconds kPeerPatience{500};
/// A life that begins dials within seconds; a controller that is away for longer is not waited for.
constexpr std::chrono::seconds kFirstConnection{60};
/// What was heard of the neighbours longer ago says nothing about now.
constexpr std::chrono::seconds kPeersFresh{10};

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

template <class List>
auto StepOf(List& steps, const std::string& key, const std::string& target) {
  return std::find_if(steps.begin(), steps.end(),
                      [&](const OpenTry::Step& step) { return step.key == key && step.target == target; });
}

template <class List>
auto EvidenceAbout(List& evidence, const std::string& port) {
  return std::find_if(evidence.begin(), evidence.end(),
                      [&](const OpenTry::Evidence& one) { return one.port == port; });
}

Hold Awaiting(Clock::Steady until, std::string message) {
  Hold hold;
  hold.retry_at = until;
  hold.reason = "TryBegins";
  hold.message = "not written yet: " + std::move(message);
  hold.fix = "wait a moment";
  return hold;
}

}  // namespace

bool Reconciler::Impl::NeedsTry(const Entry& entry) const {
  if (!entry.step || entry.step->next_boot) return false;
  return entry.step->disruption >= Disruption::kLinkFlap ||
         !ManagementHit(*entry.step, entry.wish, policy_).empty();
}

std::vector<std::string> Reconciler::Impl::PeersOf(const std::string& port) const {
  std::vector<std::string> addresses;
  for (const RailPeer& peer : state_->peers)
    if (peer.port == port) addresses.push_back(peer.address);
  return addresses;
}

// Those that answer now must answer afterwards; that nobody does is no reason not to begin.
bool Reconciler::Impl::PeersAsked(const std::vector<const BoundPort*>& ports) {
  if (options_.witnesses.peers == nullptr) return true;
  const Clock::Steady now = clock_.Now();
  bool all = true;
  for (const BoundPort* port : ports) {
    const std::string& name = port->port.name;
    const bool known = try_ && EvidenceAbout(try_->record.evidence, name) != try_->record.evidence.end();
    const std::vector<std::string> peers = PeersOf(name);
    if (known || peers.empty()) continue;
    const auto asked = peers_asked_.find(name);
    if (asked == peers_asked_.end() || now - asked->second > kPeersFresh) {
      options_.witnesses.peers->Ask(port->netdev, peers);
      peers_asked_[name] = now;
      all = false;
    } else if (now - asked->second < kPeerPatience &&
               options_.witnesses.peers->Answered(port->netdev).empty()) {
      all = false;
    }
  }
  return all;
}

bool Reconciler::Impl::JoinTry(Entry& entry) {
  const auto wait = [&](Hold hold) {
    entry.hold = std::move(hold);
    RefreshFinding(entry);
    return false;
  };
  const Clock::Steady now = clock_.Now();
  if (try_ && (!try_->failed.empty() || try_->confirmed))
    return wait(Awaiting(now + kLookAgain, "the end of an earlier try is still being written down"));
  const bool connected = options_.witnesses.connected && options_.witnesses.connected();
  if (options_.witnesses.connected && !connected && now - started_ < kFirstConnection &&
      !ManagementHit(*entry.step, entry.wish, policy_).empty())
    return wait(Awaiting(now + kLookAgain, "the controller, who is to confirm it, is still being dialled"));
  if (options_.witnesses.confirmed_before && !connected &&
      !ManagementHit(*entry.step, entry.wish, policy_).empty() &&
      !options_.witnesses.confirmed_before({entry.wish.spec.key, entry.wish.spec.target}, entry.wish.desired))
    return wait(Awaiting(now + kLookAgain, "the controller, who is to confirm it, is not connected"));
  const std::vector<const BoundPort*> ports =
      PortsHit(machine_, *facts_, entry.wish.target.port, entry.step->blast);
  if (!PeersAsked(ports))
    return wait(Awaiting(now + kPeerPatience / 2, "the neighbours on the rail are asked first"));

  OpenTry next = try_ ? try_->record : OpenTry();
  const milliseconds boot_now = clock_.BootNow();
  if (!try_) {
    next.boot_id = options_.boot_id;
    next.begun = boot_now;
  }
  next.generation = state_->generation;
  next.ports = state_->ports;
  next.controller = next.controller || connected;
  const auto known = StepOf(next.steps, entry.wish.spec.key, entry.wish.spec.target);
  OpenTry::Step step = known != next.steps.end() ? *known : OpenTry::Step();
  const bool begins = known == next.steps.end() || step.to != entry.wish.desired;
  if (known == next.steps.end()) {
    const Observation& before = entry.sight.observation;
    step.key = entry.wish.spec.key;
    step.target = entry.wish.spec.target;
    step.kind = before.kind == Observation::Kind::kAbsent ? Original::Kind::kAbsent : Original::Kind::kValue;
    step.before = before.value;
  }
  step.to = entry.wish.desired;
  for (const BoundPort* port : ports) {
    const std::string& name = port->port.name;
    if (std::find(step.ports.begin(), step.ports.end(), name) == step.ports.end()) step.ports.push_back(name);
    if (EvidenceAbout(next.evidence, name) != next.evidence.end()) continue;
    OpenTry::Evidence evidence = EvidenceOf(machine_, *port);
    if (options_.witnesses.peers != nullptr && peers_asked_.contains(name))
      evidence.peers = options_.witnesses.peers->Answered(port->netdev);
    next.evidence.push_back(std::move(evidence));
  }
  if (known != next.steps.end()) {
    *known = std::move(step);
  } else {
    next.steps.push_back(std::move(step));
  }
  if (begins) {
    const milliseconds patience =
        state_->try_for.count() > 0 ? std::clamp(state_->try_for, kShortestTry, kLongestTry) : kDefaultTry;
    next.deadline = std::min(boot_now + patience, next.begun + kLongestTry);
  }
  if (Status status = journal_.RecordTry(next); !status.ok()) {
    Hold hold;
    hold.retry_at = now + BackoffAfter(++entry.tries, jitter_);
    hold.reason = "ApplyFailed";
    hold.message = "nothing was written, since the way back could not be journalled: " + status.message();
    hold.fix = "wait for the next try, or remove what stands in its way";
    return wait(std::move(hold));
  }
  if (!try_) try_.emplace();
  try_->record = std::move(next);
  for (const BoundPort* port : ports) peers_asked_.erase(port->port.name);
  return true;
}

void Reconciler::Impl::WrittenInTry(const Entry& entry, const Outcome& outcome) {
  OpenTry& record = try_->record;
  const auto step = StepOf(record.steps, entry.wish.spec.key, entry.wish.spec.target);
  const Clock::Steady now = clock_.Now();
  LookAtTryAgain(now + kLookAgain);
  const Observation before = OriginalAsObservation({{}, {}, step->kind, step->before});
  if (!outcome.touched && SameValue(entry.sight.observation, before)) {
    // Refused before anything was written (a pause, the journal): as if it had not joined.
    record.steps.erase(step);
    if (record.steps.empty()) {
      try_->confirmed = true;
      Confirm();
    } else {
      [[maybe_unused]] const Status status = journal_.RecordTry(record);  // one step more costs a look
    }
    return;
  }
  try_->redialled = try_->answered = false;
  try_->written[""] = now;
  for (const std::string& port : step->ports) {
    // What cannot be had with the new value is missed, and told, when the try is looked at.
    const auto evidence = EvidenceAbout(record.evidence, port);
    const auto bound = std::find_if(facts_->ports.begin(), facts_->ports.end(),
                                    [&](const BoundPort& one) { return one.port.name == port; });
    if (evidence != record.evidence.end() && bound != facts_->ports.end() && !bound->netdev.empty())
        [[maybe_unused]]
      const Status status = PutBackRoutes(machine_, *evidence, *bound);
    try_->written[port] = now;
    try_->asked.erase(port);
    try_->heard.erase(port);
  }
}

std::string Reconciler::Impl::WhySilent(const std::string& port) const {
  const auto bound = std::find_if(facts_->ports.begin(), facts_->ports.end(),
                                  [&](const BoundPort& one) { return one.port.name == port; });
  const std::string obstacle = options_.witnesses.peers == nullptr || bound == facts_->ports.end()
                                   ? std::string()
                                   : options_.witnesses.peers->Obstacle(bound->netdev);
  return obstacle.empty() ? "none had answered" : obstacle;
}

std::string Reconciler::Impl::AwaitedFor(const Entry& entry) const {
  if (!try_) return {};
  const OpenTry& record = try_->record;
  const auto step = StepOf(record.steps, entry.wish.spec.key, entry.wish.spec.target);
  if (step == record.steps.end()) return {};
  std::vector<std::string> awaited, not_awaited;
  (record.controller ? awaited : not_awaited)
      .push_back(record.controller ? "a new connection to the controller"
                                   : "the controller (was not connected)");
  for (const std::string& port : step->ports) {
    const auto evidence = EvidenceAbout(record.evidence, port);
    if (evidence == record.evidence.end()) continue;
    (evidence->link ? awaited : not_awaited)
        .push_back("the link of " + port + (evidence->link ? "" : " (was down)"));
    if (!evidence->gids.empty())
      awaited.push_back(std::to_string(evidence->gids.size()) + " GIDs of " + port);
    (evidence->peers.empty() ? not_awaited : awaited)
        .push_back("a neighbour of " + port +
                   (!evidence->peers.empty() ? ""
                    : PeersOf(port).empty()  ? " (none is declared)"
                                             : " (" + WhySilent(port) + ")"));
  }
  const auto left = std::chrono::round<std::chrono::seconds>(record.deadline - clock_.BootNow());
  return "put back in " + std::to_string(left.count()) +
         " s unless confirmed by: " + (awaited.empty() ? "nothing" : Joined(awaited)) +
         (not_awaited.empty() ? "" : "; not demanded: " + Joined(not_awaited));
}

bool Reconciler::Impl::WaitsForLink(Entry& entry) {
  const BoundPort* port = entry.wish.target.port;
  if (!try_ || port == nullptr) return false;
  const OpenTry& record = try_->record;
  const auto evidence = EvidenceAbout(record.evidence, port->port.name);
  // What took it down is written at once when it is wished otherwise: that may bring it back.
  if (evidence == record.evidence.end() || !evidence->link ||
      StepOf(record.steps, entry.wish.spec.key, entry.wish.spec.target) != record.steps.end() ||
      LinkIsUp(machine_, *port))
    return false;
  std::string last;
  for (const OpenTry::Step& step : record.steps)
    if (std::find(step.ports.begin(), step.ports.end(), port->port.name) != step.ports.end()) last = step.key;
  Hold hold;
  hold.retry_at = clock_.Now() + kLookAgain;
  hold.reason = "WaitsForLink";
  hold.message = "not tried yet: the link of " + port->netdev + " went down with the writing of " + last +
                 ", and is awaited";
  hold.fix = "wait; what took it down is put back after 30 s";
  entry.hold = std::move(hold);
  RefreshFinding(entry);
  return true;
}

Status Reconciler::Impl::ForgetFailedTry(Entry& entry) {
  Status status = journal_.ForgetFailedTry(entry.wish.spec.key, entry.wish.spec.target);
  if (status.ok()) entry.tried_in_vain = false;
  return status;
}

// What failed in this generation, in an earlier life too, is not tried again by itself; a newer one is.
void Reconciler::Impl::KeepFailedTries(std::vector<Entry>& entries) {
  for (const FailedTry& failed : journal_.FailedTries()) {
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& one) {
      return one.wish.spec.key == failed.key && one.wish.spec.target == failed.target;
    });
    if (failed.generation < state_->generation || entry == entries.end()) {
      [[maybe_unused]] const Status status = journal_.ForgetFailedTry(failed.key, failed.target);
    } else {
      HoldAfterTry(*entry, failed);
    }
  }
}

void Reconciler::Impl::HoldAfterTry(Entry& entry, const FailedTry& failed) {
  Hold hold;
  hold.until = Hold::Until::kPerson;
  hold.reason = failed.reason;
  hold.message = failed.message;
  hold.fix = (failed.reason == "LinkStayedDown" ? "look at the other end of the cable (`railctl explain "
                                                : "see what was missing (`railctl explain ") +
             failed.reason + "`); `railctl pause " + failed.key + "` and `railctl pause --resume " +
             failed.key + "` try it again";
  entry.hold = std::move(hold);
  entry.tried_in_vain = true;
}

}  // namespace railwright
