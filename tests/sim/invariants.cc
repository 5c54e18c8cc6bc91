#include "tests/sim/invariants.h"

#include <algorithm>
#include <utility>

#include "controller/fleet/documents.h"
#include "core/wire/wire.h"
#include "tests/sim/controller_host.h"
#include "tests/sim/network.h"
#include "tests/sim/node_host.h"
#include "tests/sim/world.h"

namespace railwright::sim {
namespace {

// A deviation that no hint tells is found by the next scan (60 s, ± 10 %), after a pass that may keep the
// loop busy for 20 s; a report that gets lost is sent again after 30 s, over a link that may be silent
// for 40.
constexpr Duration kSeenWithin = seconds(110), kToldWithin = seconds(250);

std::string Digest(const StoredGeneration& generation) {
  std::string all;
  for (const StoredDocument& document : generation.documents)
    all += document.kind + "/" + document.name + ":" + document.text + "\n";
  for (const auto& [node, what] : generation.restores)
    all += node + " " + what.key + " " + what.target + "\n";
  return StateHash(all, {});
}

std::string Text(const ChangeRecord& change) {
  return std::string(Name(change.kind)) + " " + change.key + " " + change.target + " " + change.from + "→" +
         change.to;
}

// Every word that is wished is there: "rx=0 tx=0" by "autoneg=0 rx=0 tx=0".
bool Fulfils(const std::string& wished, const std::string& present) {
  for (std::size_t at = 0; at < wished.size();) {
    const std::size_t end = std::min(wished.find(' ', at), wished.size());
    if ((" " + present + " ").find(" " + wished.substr(at, end - at) + " ") == std::string::npos)
      return false;
    at = end + 1;
  }
  return true;
}

struct Place {
  std::string key, target;
};

Place PlaceOf(const std::string& path) {
  if (path.starts_with("/rtnl/link/")) return {"link.mtu", path.substr(11, 5)};
  if (path.starts_with("/ethtool/")) return {"link.pause", path.substr(9, 5)};
  std::string key = "sysctl." + path.substr(10);
  std::replace(key.begin(), key.end(), '/', '.');
  return {key, ""};
}

bool Covers(const Pause& pause, const std::string& key) {
  return pause.key.empty() || pause.key == key ||
         (pause.key == "sysctl.<name>" && key.starts_with("sysctl."));
}

// Whether the newest record of a place in the journal's text is the begin of a step, after an original.
bool StepIsOpen(const std::string& journal, const Place& place) {
  bool open = false, original = false;
  const std::string key = "\"key\":\"" + place.key + "\"", target = "\"target\":\"" + place.target + "\"";
  for (std::size_t at = 0; at < journal.size();) {
    const std::size_t end = std::min(journal.find('\n', at), journal.size());
    const std::string line = journal.substr(at, end - at);
    at = end + 1;
    if (line.find(key) == std::string::npos || line.find(target) == std::string::npos) continue;
    if (line.find("\"op\":\"original\"") != std::string::npos) original = true;
    if (line.find("\"op\":\"forget\"") != std::string::npos) original = false;
    if (line.find("\"op\":\"begin\"") != std::string::npos) open = true;
    if (line.find("\"op\":\"end\"") != std::string::npos) open = false;
  }
  return open && original;
}

}  // namespace

std::string PathOf(const std::string& key, const std::string& target) {
  if (key == "link.mtu") return "/rtnl/link/" + target + "/mtu";
  if (key == "link.pause") return "/ethtool/" + target + "/pause";
  std::string path = "/proc/sys/" + key.substr(7);
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

std::string RawOf(const std::string& key, const std::string& value) {
  if (key != "link.pause") return value;
  return value.find("on") != std::string::npos ? "rx=1 tx=1" : "rx=0 tx=0";
}

void Invariants::Broken(const std::string& why) const { world_.Broken(why); }

void Invariants::Proposed(const FleetState& base, const FleetState& state) {
  Spread& spread = spreads_[state.number()];
  spread = {};
  for (const auto& [node, desired] : state.desired) spread.declared.insert(node);
  spread.terms = TermsFor(base, state).value_or(RolloutPolicy{});
  // Terms that nobody has agreed to yet are none.
  const auto rollout = world_.controller->store()->LatestRollout();
  if (rollout.ok() && *rollout && (*rollout)->record.generation.value == base.number() &&
      !(*rollout)->record.approved)
    spread.terms = spreads_[base.number()].terms;
  spread.cap = spread.terms.UnavailableMost(spread.declared.size());
  for (const auto& node : world_.nodes) {
    const auto found = state.desired.find(node->name());
    const NodeDesired desired = found != state.desired.end() ? found->second : RetiredDesired(node->name());
    Wished& wished = wishes_[node->name() + " " + desired.hash];
    wished.node = node->name();
    wished.hash = desired.hash;
    wished.generations.insert(state.number());
    wished.try_for = state.stored.try_for;
    if (found == state.desired.end()) continue;
    for (const SettingSpec& spec : *state.resolved.nodes.at(node->name()).settings)
      wished.values[PathOf(spec.key, spec.target)] = RawOf(spec.key, spec.value);
  }
}

void Invariants::Stored(const FleetState& state, const std::string& who) {
  stored_[state.number()] = Digest(state.stored);
  Answered(who);
}

void Invariants::Answered(const std::string& who) {
  audited_.insert(who);
  const auto rows = world_.controller->store()->Audit(20);
  if (!rows.ok()) return Broken("I5: the audit cannot be read: " + rows.status().ToString());
  if (std::none_of(rows->begin(), rows->end(), [&](const AuditRow& row) { return row.who == who; }))
    Broken("I5: the order of " + who + " was answered and has no row in the audit");
}

void Invariants::RolloutOrdered(std::uint64_t generation) { rollouts_[generation].reset(); }

void Invariants::RolloutAnswered(std::uint64_t generation, RolloutPhase phase, const std::string& who) {
  rollouts_[generation] = phase;
  Answered(who);
}

void Invariants::ResumeAnswered(const std::vector<std::string>& accepted) {
  for (const std::string& node : accepted) changing_.erase(node);
  if (--resuming_ == 0 && std::exchange(begun_meanwhile_, false)) CheckChanging();
}

void Invariants::CheckChanging() {
  if (changing_.size() <= cap_) return;
  std::string names;
  for (const auto& [name, having] : changing_) names += " " + name;
  Broken("I3: " + std::to_string(changing_.size()) + " nodes are changing, " + std::to_string(cap_) +
         " may:" + names);
}

// Counted where it can be seen: from the moment a state leaves the controller until a report comes in that
// the node has settled with it.
void Invariants::Given(const std::string& node, const v1::DesiredState& state) {
  // The statement may be an older one of the same content; what counts is the generation in force.
  const auto spread = spreads_.find(world_.controller->generation());
  if (spread == spreads_.end()) return Broken("I3: " + node + " is given a generation that nobody ordered");
  std::erase_if(changing_, [&](const auto& one) { return !spread->second.declared.contains(one.first); });
  if (!spread->second.declared.contains(node)) return;
  const auto rest = rests_.find(node);
  const bool has_it = rest != rests_.end() && rest->second.hash == state.hash();
  if (has_it && !changing_.contains(node)) return;  // another statement of what it has
  // What it was given before and never got is no second beginning.
  const bool anew = !changing_.contains(node) && given_[node] != state.hash();
  given_[node] = state.hash();
  changing_[node] = {state.hash(), state.generation()};
  rests_.erase(node);
  cap_ = spread->second.cap;
  if (anew && resuming_ > 0) begun_meanwhile_ = true;
  if (anew && resuming_ == 0) CheckChanging();
}

void Invariants::Received(const std::string& node, const v1::AgentMessage& message) {
  const auto changing = changing_.find(node);
  if (message.has_hello() && changing != changing_.end() &&
      message.hello().generation() < changing->second.generation) {
    // What it was given never came, and never will: that was another stream.
    changing->second = {message.hello().state_hash(), message.hello().generation()};
    const auto rest = reported_.find(node);
    if (rest == reported_.end() || rest->second.hash != changing->second.hash ||
        rest->second.generation < changing->second.generation)
      return;
    rests_[node] = rest->second;
    changing_.erase(changing);
    return;
  }
  if (!message.has_report() || !message.report().settled()) return;
  const Having having{message.report().state_hash(), message.report().generation()};
  reported_[node] = having;  // whatever it was given since
  if (changing == changing_.end()) {
    rests_[node] = having;
  } else if (having.hash == changing->second.hash && having.generation >= changing->second.generation) {
    changing_.erase(changing);
    rests_[node] = having;
  }
}

void Invariants::PauseOrdered(const Pause& pause, bool) {
  pauses_[{pause.node, pause.key}] = PauseState::kMaybe;
}

void Invariants::PauseAnswered(const Pause& pause, bool resume, const std::string& who) {
  pauses_[{pause.node, pause.key}] = resume ? PauseState::kCleared : PauseState::kSet;
  Answered(who);
}

void Invariants::ForgetOrdered(const std::string& node) {
  NodeLedger& ledger = nodes_[node];
  ledger.reports.clear();
  ledger.answered_report = 0;
  ledger.changes.clear();
  ledger.stored_change = 0;
  for (auto& [place, state] : pauses_)
    if (place.first == node) state = PauseState::kMaybe;
}

void Invariants::CheckStore(const Store& store) {
  for (const auto& [number, digest] : stored_) {
    const auto there = store.GetGeneration({number});
    if (!there.ok())
      return Broken("I1: generation " + std::to_string(number) +
                    " was answered and is lost: " + there.status().ToString());
    if (Digest(*there) != digest)
      return Broken("I1: generation " + std::to_string(number) + " has another content");
  }
  const auto reports = store.Reports();
  if (!reports.ok()) return Broken("I1: reports cannot be read: " + reports.status().ToString());
  for (const auto& [name, ledger] : nodes_) {
    if (ledger.answered_report == 0 && ledger.stored_change == 0) continue;
    const auto report =
        std::find_if(reports->begin(), reports->end(),
                     [&, &who = name](const StoredReport& one) { return one.report.node == who; });
    if (report == reports->end()) return Broken("I1: the acknowledged report of " + name + " is lost");
    if (report->stored_change < ledger.stored_change)
      return Broken("I1: changes of " + name + " up to " + std::to_string(ledger.stored_change) +
                    " were acknowledged, those up to " + std::to_string(report->stored_change) +
                    " are there");
    const auto from =
        ledger.reports.begin() +
        static_cast<std::ptrdiff_t>(ledger.answered_report == 0 ? 0 : ledger.answered_report - 1);
    if (ledger.answered_report > 0 &&
        std::find(from, ledger.reports.end(), report->report_hash) == ledger.reports.end())
      return Broken("I1: the acknowledged report of " + name + " is lost, an older one is there");
    const auto changes = store.Changes({{name}, "", {}, 100'000});
    if (!changes.ok()) return Broken("I1: changes cannot be read: " + changes.status().ToString());
    std::map<std::uint64_t, std::string> there;
    for (const auto& [node, change] : *changes)
      if (!there.emplace(change.sequence, Text(change)).second)
        return Broken("I1: change " + std::to_string(change.sequence) + " of " + name + " is stored twice");
    for (const auto& [sequence, text] : ledger.changes) {
      if (sequence > ledger.stored_change) break;
      const auto found = there.find(sequence);
      if (found == there.end())
        return Broken("I1: change " + std::to_string(sequence) + " of " + name +
                      " was acknowledged and is lost");
      if (found->second != text)
        return Broken("I1: change " + std::to_string(sequence) + " of " + name +
                      " is another one: " + found->second + ", sent: " + text);
    }
  }
  const auto pauses = store.Pauses();
  if (!pauses.ok()) return Broken("I1: pauses cannot be read: " + pauses.status().ToString());
  for (const auto& [place, state] : pauses_) {
    const bool there = std::any_of(pauses->begin(), pauses->end(), [&, &at = place](const Pause& pause) {
      return pause.node == at.first && pause.key == at.second;
    });
    if (state == PauseState::kSet && !there)
      return Broken("I1: a pause that was answered is lost: " + place.first + " " + place.second);
  }
  const auto rollout = store.LatestRollout();
  if (!rollout.ok()) return Broken("I1: the rollout cannot be read: " + rollout.status().ToString());
  // A resume that was taken and not answered: what the dead controller let be is let be.
  resuming_ = 0;
  begun_meanwhile_ = false;
  if (*rollout)
    for (const RolloutMember& member : (*rollout)->members)
      if (member.phase == MemberPhase::kAccepted) changing_.erase(member.node);
  if (*rollout)
    if (const auto answered = rollouts_.find((*rollout)->record.generation.value);
        answered != rollouts_.end() && answered->second && *answered->second != (*rollout)->record.phase)
      return Broken("I1: an order about the rollout of generation " + std::to_string(answered->first) +
                    " was answered and is lost");
  const auto rows = store.Audit(1'000'000);
  if (!rows.ok()) return Broken("I5: the audit cannot be read: " + rows.status().ToString());
  std::set<std::string> names;
  for (const AuditRow& row : *rows) names.insert(row.who);
  for (const std::string& who : audited_)
    if (!names.contains(who)) return Broken("I5: the row of " + who + " is lost");
}

void Invariants::Hello(NodeHost& node, const v1::Hello& hello) {
  NodeLedger& ledger = nodes_[node.name()];
  if (hello.generation() == 0 && hello.state_hash().empty()) {
    // A state that ended the agent three times is not taken up again; one death too many may be counted.
    if (ledger.acked != 0 && ledger.deaths < 2)
      Broken("I1: " + node.name() + " acknowledged generation " + std::to_string(ledger.acked) +
             " and has forgotten it");
    return;
  }
  if (hello.generation() < ledger.acked)
    return Broken("I2: " + node.name() + " acknowledged generation " + std::to_string(ledger.acked) +
                  " and now has " + std::to_string(hello.generation()));
  if (hello.generation() == ledger.acked && hello.state_hash() != ledger.acked_hash)
    return Broken("I2: " + node.name() + " has another state for generation " + std::to_string(ledger.acked));
  const auto wished = wishes_.find(node.name() + " " + hello.state_hash());
  if (wished == wishes_.end() || !wished->second.generations.contains(hello.generation()))
    return Broken("I2: " + node.name() + " has a state that nobody made for generation " +
                  std::to_string(hello.generation()));
  ledger.acked = hello.generation();
  ledger.acked_hash = hello.state_hash();
}

void Invariants::FromAgent(NodeHost& node, const v1::AgentMessage& message) {
  NodeLedger& ledger = nodes_[node.name()];
  if (message.has_ack()) {
    const v1::Ack& ack = message.ack();
    v1::Hello hello;
    hello.set_generation(ack.generation());
    hello.set_state_hash(ack.hash());
    world_.Trace(node.name() + " accepts generation " + std::to_string(ack.generation()) + " " +
                 ack.hash().substr(0, 8));
    Hello(node, hello);
    ledger.deaths = 0;
    MachineChanged(node);
  }
  if (message.has_nack()) world_.Trace(node.name() + " refuses: " + message.nack().message());
  if (!message.has_report()) return;
  const v1::Report& report = message.report();
  ledger.reports.push_back(report.hash());
  for (const v1::ChangeRecord& change : report.changes()) {
    const std::string text = Text(FromWire(change));
    const auto [known, fresh] = ledger.changes.emplace(change.sequence(), text);
    if (!fresh && known->second != text)
      Broken("I1: " + node.name() + " gives number " + std::to_string(change.sequence()) +
             " to two changes: " + known->second + ", " + text);
  }
}

void Invariants::ReportAcked(const std::string& node, const v1::ReportAck& ack) {
  NodeLedger& ledger = nodes_[node];
  ledger.stored_change = std::max(ledger.stored_change, ack.stored_change());
  if (ack.need_full()) return;
  const auto sent = std::find(ledger.reports.rbegin(), ledger.reports.rend(), ack.hash());
  if (sent == ledger.reports.rend()) return;  // from before it was forgotten
  // Of equal reports the first that may be meant: the others need not have arrived.
  const auto first = std::find(ledger.reports.begin() + static_cast<std::ptrdiff_t>(ledger.answered_report),
                               ledger.reports.end(), ack.hash());
  if (first != ledger.reports.end())
    ledger.answered_report = static_cast<std::uint64_t>(first - ledger.reports.begin()) + 1;
}

void Invariants::BeforeSet(NodeHost& node, const std::string& path, const std::string& value,
                           const std::string& present) {
  NodeLedger& ledger = nodes_[node.name()];
  const Place place = PlaceOf(path);
  ledger.seen[path].insert(present);
  const std::string what = node.name() + " writes " + path + " = " + value;
  for (const Pause& pause : ledger.pauses)
    if (ledger.pauses_sure && Covers(pause, place.key))
      return Broken("I1: " + what + ", though it is paused by " + pause.by);
  const Wished* wished = InForce(node.name());
  const auto wish =
      wished == nullptr ? std::map<std::string, std::string>::const_iterator() : wished->values.find(path);
  const bool declared = wished != nullptr && wish != wished->values.end() && wish->second == value;
  if (!declared && !ledger.seen[path].contains(value))
    return Broken("I4: " + what + ", which neither its generation wants nor was there before");
  const std::string journal = node.disk().DurableContent(node.disk().folder() + "/journal");
  if (world_.tries && path.find("/" + node.way() + "/") != std::string::npos) {
    const auto known = ledger.tried.find(path);
    // The end of a try: what was there before is in its record.
    if (known != ledger.tried.end() && Fulfils(value, known->second.before)) ledger.tried.erase(known);
    if (!StepIsOpen(journal, place) && (journal.find("\"op\":\"try\"") != std::string::npos ||
                                        journal.find("\"op\":\"failed-try\"") != std::string::npos))
      return;
    // What the controller was reached with before may be written again without it.
    if (!ledger.reached_with[path].contains(value)) {
      Tried& tried = ledger.tried[path];
      if (tried.value.empty()) tried.before = present;
      tried.value = value;
      tried.since = world_.events.now();
      tried.ends = tried.since + (wished != nullptr ? wished->try_for : Duration(0));
    }
  }
  if (!StepIsOpen(journal, place))
    Broken("I1: " + what + " without a durable record of what was there before");
}

// Reached again in time, or as it was: a minute and a half after its end at the latest, when the agent has
// lived for so long and its disk took what it had to note.
void Invariants::CheckTries(NodeHost& node, NodeLedger& ledger) {
  constexpr Duration kPutBackWithin = seconds(90);
  const Duration now = world_.events.now();
  for (auto it = ledger.tried.begin(); it != ledger.tried.end();) {
    const Tried& tried = it->second;
    const bool there = node.machine().kernel.Exists(it->first);
    if (!there || !Fulfils(tried.value, node.machine().kernel.Value(it->first))) {
      it = ledger.tried.erase(it);  // put back, or somebody else has changed it
      continue;
    }
    const auto up = node.up_since();
    if (up && !node.disk().full && now - std::max({*up, tried.ends, ledger.disk_ok_since}) > kPutBackWithin)
      return Broken("I7: " + node.name() + " wrote " + it->first + " = " + tried.value + " over " +
                    tried.before +
                    " on its way to the controller; that was never confirmed, and is still there");
    if (node.disk().full) ledger.disk_ok_since = now;
    ++it;
  }
}

void Invariants::LargeAnswered(NodeHost& node, Duration dialled) {
  NodeLedger& ledger = nodes_[node.name()];
  std::erase_if(ledger.tried, [&](const auto& one) {
    if (one.second.since >= dialled) return false;
    ledger.reached_with[one.first].insert(one.second.value);
    return true;
  });
}

void Invariants::LostPower(NodeHost& node) { nodes_[node.name()].tried.clear(); }

void Invariants::PausesHandled(NodeHost& node, const v1::PauseList& list, bool kept) {
  NodeLedger& ledger = nodes_[node.name()];
  std::vector<Pause> pauses;
  for (const v1::Pause& pause : list.pauses()) pauses.push_back(FromWire(pause));
  // A list that it has already is not written again.
  if (pauses != ledger.pauses) ledger.pauses_sure = kept;
  ledger.pauses = std::move(pauses);
}

void Invariants::AgentDied(NodeHost& node) {
  NodeLedger& ledger = nodes_[node.name()];
  ++ledger.deaths;
  if (!ledger.pauses_sure) ledger.pauses.clear();
}

const Wished* Invariants::InForce(const std::string& node) const {
  const auto ledger = nodes_.find(node);
  if (ledger == nodes_.end()) return nullptr;
  const auto found = wishes_.find(node + " " + ledger->second.acked_hash);
  return found == wishes_.end() ? nullptr : &found->second;
}

bool Invariants::Deviates(const NodeHost& node) const {
  const Wished* wished = InForce(node.name());
  if (wished == nullptr) return false;
  return std::any_of(wished->values.begin(), wished->values.end(), [&](const auto& one) {
    return !Fulfils(one.second, const_cast<NodeHost&>(node).machine().kernel.Value(one.first));
  });
}

void Invariants::MachineChanged(NodeHost& node) {
  NodeLedger& ledger = nodes_[node.name()];
  for (const std::string& path : KnobPaths())
    if (node.machine().kernel.Exists(path)) ledger.seen[path].insert(node.machine().kernel.Value(path));
  if (!Deviates(node))
    ledger.deviates_since.reset();
  else if (!ledger.deviates_since)
    ledger.deviates_since = world_.events.now();
}

void Invariants::Check() {
  const Duration now = world_.events.now();
  for (const auto& node : world_.nodes) {
    NodeLedger& ledger = nodes_[node->name()];
    CheckTries(*node, ledger);
    if (!ledger.deviates_since || now < ledger.looked + seconds(1)) continue;
    ledger.looked = now;
    const auto up = node->up_since();
    if (!up) continue;
    const Duration seen = now - std::max(*up, *ledger.deviates_since);
    if (seen > kSeenWithin && node->agent()->Summary().find(": Compliant") != std::string::npos)
      return Broken("I4: " + node->name() + " has not been as declared for " +
                    std::to_string(std::chrono::duration_cast<seconds>(seen).count()) +
                    " s and calls itself Compliant");
    if (!world_.controller->up() || node->dialler().welcomed() == 0) continue;
    const Duration told =
        std::min(seen, now - std::max(node->dialler().welcomed_at(), world_.controller->up_since()));
    if (told <= kToldWithin) continue;
    const auto view = world_.controller->view();
    const NodeView* shown = view->Find(node->name());
    if (shown == nullptr || !shown->connected || !FleetView::UpToDate(*shown) || !shown->nack.empty())
      continue;
    const v1::NodeStatus status = view->StatusOf(*shown, world_.controller->clock().Now());
    if (status.verdict() == v1::VERDICT_COMPLIANT && !status.stale())
      return Broken("I4: the controller shows " + node->name() + " as Compliant, which it has not been for " +
                    std::to_string(std::chrono::duration_cast<seconds>(told).count()) + " s");
  }
}

void Invariants::CheckConverged() {
  if (!world_.controller->up()) return Broken("I6: the controller does not run");
  const auto view = world_.controller->view();
  CheckStore(*world_.controller->store());
  if (!view->read_only.empty()) return Broken("I6: the controller is still read-only: " + view->read_only);
  for (const auto& node : world_.nodes) {
    const std::string& name = node->name();
    const auto desired = view->state->desired.find(name);
    if (desired == view->state->desired.end()) continue;
    const NodeView* shown = view->Find(name);
    if (shown == nullptr || !shown->connected)
      return Broken("I6: " + name + " is not connected: " + node->dialler().StateText());
    const v1::NodeStatus status = view->StatusOf(*shown, world_.controller->clock().Now());
    std::string findings;
    for (const v1::Finding& finding : status.findings())
      if (finding.verdict() != v1::VERDICT_COMPLIANT)
        findings +=
            "; " + finding.key() + " " + finding.target() + " " + finding.reason() + ": " + finding.message();
    if (status.stale()) return Broken("I6: " + name + " is stale");
    if (!shown->nack.empty()) return Broken("I6: " + name + " refused: " + shown->nack);
    if (!FleetView::UpToDate(*shown) || !status.settled())
      return Broken("I6: " + name + " has not settled on generation " +
                    std::to_string(view->state->number()));
    if (status.verdict() != v1::VERDICT_COMPLIANT)
      return Broken("I6: " + name + " is not Compliant" + findings);
    if (nodes_[name].acked_hash != desired->second.hash)
      return Broken("I6: " + name + " enforces something else");
    if (Deviates(*node)) return Broken("I6: " + name + " is called Compliant and is not");
    const NodeLedger& ledger = nodes_[name];
    if (!ledger.changes.empty() && ledger.stored_change < ledger.changes.rbegin()->first)
      return Broken("I6: changes of " + name + " were not stored");
  }
}

}  // namespace railwright::sim
