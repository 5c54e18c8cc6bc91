// What the agents' streams say, and what they are answered.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "controller/rpc/fleet_model.h"
#include "controller/rpc/intake.h"
#include "core/wire/wire.h"
#include "railwright/explain.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

constexpr std::size_t kNameMost = 253;  // of a host name, RFC 1035
/// A change that an agent says it made later than this from now was made now.
constexpr std::chrono::hours kClockAheadMost{24};

std::size_t SizeOf(const NodeReport& report) {
  std::size_t size = 0;
  for (const Finding& f : report.findings) {
    size += sizeof f + f.code.size() + f.key.size() + f.target.size() + f.desired.size() + f.observed.size() +
            f.reason.size() + f.message.size() + f.fix.size() + f.origin.document.size() +
            f.origin.place.size();
    for (const std::string& line : f.evidence) size += sizeof line + line.size();
  }
  return size;
}

std::string Revisions(unsigned oldest, unsigned newest) {
  return oldest == newest ? "wire revision " + std::to_string(newest)
                          : "wire revisions " + std::to_string(oldest) + " to " + std::to_string(newest);
}

/// A text from a stranger, for a message.
std::string Shown(const std::string& text) { return Brief(text, 64); }

void Refuse(AgentLink& link, v1::Refusal::Reason reason, const std::string& message) {
  v1::Refusal refusal;
  refusal.set_reason(reason);
  refusal.set_message(message);
  link.Refuse(refusal);
}

std::string ShortId(const std::string& boot_id) { return Shown(boot_id.substr(0, 8)); }

}  // namespace

Result<unsigned> NegotiateWire(const v1::Hello& hello, unsigned newest, unsigned oldest) {
  const unsigned theirs = hello.wire(), least = std::max(1u, hello.wire_min());
  const unsigned common = std::min(newest, theirs);
  if (common >= oldest && common >= least && theirs >= least) return common;
  const bool agent_is_older = theirs < oldest;
  return Status(Code::kFailedPrecondition,
                "no common wire revision: railwright-agent " + Shown(hello.version()) + " speaks " +
                    Revisions(least, theirs) + ", railwright-controller " RAILWRIGHT_VERSION " speaks " +
                    Revisions(oldest, newest) + "; update " +
                    (agent_is_older ? "the agent on " + Shown(hello.node()) : "the controller"));
}

void FleetModel::OnOpened(const std::shared_ptr<AgentLink>& link) { strangers_[link] = clock_.Now(); }

void FleetModel::OnGone(const std::shared_ptr<AgentLink>& link) {
  strangers_.erase(link);
  const auto found = by_link_.find(link.get());
  if (found == by_link_.end()) return;
  spdlog::info("node {} disconnected", found->second->name);
  Unlink(*found->second);
}

void FleetModel::OnMessage(const std::shared_ptr<AgentLink>& link, v1::AgentMessage& message) {
  const auto found = by_link_.find(link.get());
  if (found == by_link_.end()) {
    if (message.body_case() == v1::AgentMessage::kHello && strangers_.contains(link))
      OnHello(link, message.hello());
    else if (strangers_.erase(link))
      link->End(Status(Code::kInvalidArgument, "the first message of a stream must be Hello"));
    return link->Consumed();  // else it was refused or replaced, and talks on
  }
  Node& node = *found->second;
  node.heard->Note(clock_);
  switch (message.body_case()) {
    case v1::AgentMessage::kReport: OnReport(node, *message.mutable_report()); break;
    case v1::AgentMessage::kHeartbeat: OnHeartbeat(node, message.heartbeat()); break;
    case v1::AgentMessage::kAck:
      node.enforced_hash = message.ack().hash();
      if (message.ack().statement() > node.held_number) {
        node.held_number = message.ack().statement();
        node.held_digest.clear();  // that of what was sent
      }
      if (message.ack().generation() >= state_->number() || message.ack().hash() == DesiredOf(node).hash) {
        node.nack.clear();
        node.nack_hash.clear();
      }
      Touch(node);
      break;
    case v1::AgentMessage::kNack: OnNack(node, message.nack()); break;
    case v1::AgentMessage::kResult: OnResult(node, *message.mutable_result()); break;
    case v1::AgentMessage::kCatalog:
      // Only what it announced and was asked for, and not without end.
      if (message.catalog().hash() == node.catalog_hash && catalogs_.size() < options_.catalogs_most)
        catalogs_.insert(node.catalog_hash);
      break;
    case v1::AgentMessage::kHello:
      link->End(Status(Code::kInvalidArgument, "a second Hello on one stream"));
      break;
    case v1::AgentMessage::BODY_NOT_SET: break;  // of a newer agent; Welcome.missing told about it
  }
  if (!node.held_back) link->Consumed();
}

void FleetModel::OnHello(const std::shared_ptr<AgentLink>& link, const v1::Hello& hello) {
  strangers_.erase(link);
  const auto wire = NegotiateWire(hello, kWire, kWireMin);
  if (!wire.ok()) {
    spdlog::warn("{} refused: {}", link->peer(), wire.status().message());
    return Refuse(*link, v1::Refusal::REASON_WIRE_VERSION, wire.status().message());
  }
  // A node may speak for itself alone, whatever it says it is.
  if (const Caller& caller = link->caller();
      caller.kind != Caller::Kind::kNode || caller.name != hello.node()) {
    spdlog::warn("{} refused: {} says that it is node \"{}\"", link->peer(), caller.Text(),
                 Shown(hello.node()));
    return Refuse(*link, v1::Refusal::REASON_NOT_ITSELF,
                  "the certificate is that of " + caller.Text() + ", not of node \"" + Shown(hello.node()) +
                      "\"; start the agent without --name, it knows its own");
  }
  const auto found = hello.node().size() <= kNameMost ? nodes_.find(hello.node()) : nodes_.end();
  if (found == nodes_.end()) {
    std::vector<std::string_view> known;
    for (const auto& [name, node] : nodes_)
      if (node.declared) known.push_back(name);
    const std::string_view near = Nearest(hello.node().substr(0, kNameMost), known);
    return Refuse(*link, v1::Refusal::REASON_UNKNOWN_NODE,
                  "node \"" + Shown(hello.node()) + "\" is not in the inventory" +
                      (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?") +
                      "; add it to a Cluster document and run railctl apply");
  }
  Node& node = found->second;
  if (node.link) {
    const auto silence =
        clock_.Now().time_since_epoch() - std::chrono::microseconds(node.heard->steady_us.load());
    const bool same_boot = !hello.boot_id().empty() && hello.boot_id() == node.boot_id;
    if (!same_boot && silence < options_.silent_after)
      return Refuse(*link, v1::Refusal::REASON_DUPLICATE,
                    "node \"" + node.name + "\" is connected already from a machine with boot id " +
                        ShortId(node.boot_id) + "…, heard of " +
                        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(silence).count()) +
                        " s ago; this one has " + ShortId(hello.boot_id()) +
                        "…. Stop one of the two, or give it its own --node name");
    // The same machine dialled again, or the old stream is dead without having said so: the newest wins.
    node.link->End(Status(Code::kAborted, "replaced by a newer connection of this node"));
    Unlink(node);
  }
  node.link = link;
  node.linked_at = clock_.Now();
  node.silent = false;
  by_link_[link.get()] = &node;
  rollouts_.NoteHeard(node.name, RackOf(node.name), false);
  node.heard->Note(clock_);
  Welcome(node, hello);
  spdlog::info("node {} connected: railwright-agent {}, wire {}, generation {}", node.name,
               Shown(hello.version()), *wire, hello.generation());
}

void FleetModel::Welcome(Node& node, const v1::Hello& hello) {
  node.agent_version = hello.version();
  node.boot_id = hello.boot_id();
  node.catalog_hash = hello.catalog_hash();
  node.enforced_hash = hello.state_hash();
  node.sent_hash.clear();
  node.sent_number = 0;
  node.told_generation = hello.generation();
  node.uuid = node.link->uuid();
  // An agent that tells no number tells its generation.
  node.held_number =
      std::max(hello.statement(),
               identity::StatementNumber{std::min(hello.generation(), kNumberMost >> 16), 0}.Packed());
  node.held_digest = hello.statement() == node.held_number ? hello.statement_digest() : std::string();
  node.same_build = hello.version() == RAILWRIGHT_VERSION;
  node.features = {hello.features().begin(), hello.features().end()};
  node.missing.clear();
  for (const std::string& feature : node.features)
    if (std::find(WireFeatures().begin(), WireFeatures().end(), feature) == WireFeatures().end())
      node.missing.push_back("the controller lacks \"" + Shown(feature) + "\"");
  for (const std::string& feature : WireFeatures())
    if (!node.features.contains(feature)) node.missing.push_back("the agent lacks \"" + feature + "\"");

  v1::ControllerMessage message;
  auto* welcome = message.mutable_welcome();
  welcome->set_version(RAILWRIGHT_VERSION);
  welcome->set_wire(std::min(kWire, hello.wire()));
  welcome->mutable_features()->Assign(WireFeatures().begin(), WireFeatures().end());
  welcome->set_send_catalog(!hello.catalog_hash().empty() && !catalogs_.contains(hello.catalog_hash()));
  welcome->set_stored_change(node.durable_change);
  constexpr std::uint32_t kPaddingMost = 16'384;
  if (hello.pad_welcome() > 0)
    welcome->set_padding(std::string(std::min(hello.pad_welcome(), kPaddingMost), '\0'));
  welcome->mutable_missing()->Assign(node.missing.begin(), node.missing.end());
  // What is durable here, so that the agent need not tell it again. It sends all else unasked: a delta upon a
  // report that is not known here is answered with need_full.
  if (node.report && node.report == node.acknowledged) {
    const NodeReport& report = node.report->report;
    v1::HeldReport* held = welcome->mutable_held();
    held->set_generation(report.generation.value);
    held->set_state_hash(report.state_hash);
    held->set_hash(node.report->report_hash);
    held->set_verdict(ToWire(report.verdict));
    held->set_settled(report.settled);
    held->set_agent_version(node.report->agent_version);
    held->set_boot_id(node.report->boot_id);
  }
  (void)node.link->Send(ToOutbound(message));

  PushPauses(node);
  // What it enforces, or has accepted and not come to enforce.
  const std::uint64_t claimed =
      std::max(hello.generation(), identity::StatementNumber::Of(hello.statement()).generation);
  const bool believable = claimed <= state_->number() + kGenerationsAheadMost;
  if (believable && claimed > highest_generation_) {
    highest_generation_ = claimed;
    reshaped_ = true;
  }
  const bool ahead = claimed > state_->number() && hello.state_hash() != DesiredOf(node).hash;
  if (!believable) {
    node.nack = "the node claims generation " + std::to_string(claimed) + ", the controller has " +
                std::to_string(state_->number()) +
                "; no backup is that old, so the number is not believed. Stop railwright-agent there, remove "
                "desired.bin from its --state-dir and start it: it then takes the state from here";
    node.nack_hash.clear();
    spdlog::warn("node {}: {}", node.name, node.nack);
  } else if (ahead) {
    // After a restore of an older backup. Sending it would make the agent go back, which it refuses.
    node.nack = "the node has generation " + std::to_string(claimed) + ", the controller only " +
                std::to_string(state_->number()) +
                " (restored from an older backup?); railctl apply or rollback makes a generation above both";
    node.nack_hash.clear();
    spdlog::warn("node {}: {}", node.name, node.nack);
  } else {
    Push(node);
  }
  Touch(node);
}

void FleetModel::OnNack(Node& node, const v1::Nack& nack) {
  node.nack = nack.message().empty() ? "the agent refused the state and gave no reason" : nack.message();
  node.nack_hash = nack.hash();
  spdlog::warn("node {} refused generation {}: {}", node.name, nack.generation(), Brief(node.nack, 300));
  Touch(node);
}

void FleetModel::OnHeartbeat(Node& node, const v1::Heartbeat& heartbeat) {
  // No publication and no write: what a heartbeat changes stands in Node::heard.
  if (heartbeat.report_hash8().empty() || !node.report) return;
  if (heartbeat.report_hash8() == HashPrefix8(node.report->report_hash)) return;
  v1::ControllerMessage ask;
  ask.mutable_report_ack()->set_hash(node.report->report_hash);
  ask.mutable_report_ack()->set_stored_change(node.durable_change);
  ask.mutable_report_ack()->set_need_full(true);
  (void)node.link->Send(ToOutbound(ask));
}

std::uint64_t FleetModel::OnHistory(Node& node, const v1::Report& report) {
  std::uint64_t corrected = 0;
  for (const v1::ChangeRecord& message : report.changes()) {
    if (message.sequence() <= node.known_change) continue;  // sent again after a reconnect
    if (message.sequence() >= kNumberMost)
      continue;  // no count: after it every honest number would be an old one
    ChangeRecord change = FromWire(message);
    // A clock that is wrong by years would keep its records at the head of every list.
    if (const auto now = clock_.WallNow(); change.at > now + kClockAheadMost) change.at = now;
    node.known_change = change.sequence;
    // A leaf switch that restarts takes the routes of all its nodes along; they must come back with the
    // links.
    if (change.kind == ChangeKind::kDrift && !change.with_link) {
      breaker_.Note(change.key, node.name, change.at, clock_.WallNow());
      drifted_ = true;
    }
    if (change.ok && change.kind == ChangeKind::kCorrective) ++corrected;
    if (change.ok && (change.kind == ChangeKind::kIntended || change.kind == ChangeKind::kRestored)) {
      if (change.generation.value != node.counted_generation) {
        node.counted_generation = change.generation.value;
        node.changed = 0;
      }
      ++node.changed;
    }
    node.unsaved_changes.push_back(std::move(change));
  }
  return corrected;
}

bool FleetModel::Merge(const Node& node, const v1::Report& report, NodeReport& merged) const {
  // A delta is made upon the newest report that the agent saw acknowledged, which with a full disk is not the
  // newest that it sent.
  const StoredReport* base = nullptr;
  for (const auto& known : {node.report, node.acknowledged})
    if (!base && known && known->report_hash == report.base_hash()) base = known.get();
  if (!report.full() && !base) return false;
  merged.findings = report.full() ? std::vector<Finding>() : base->report.findings;
  std::set<KeyTarget> replaced;
  for (const v1::KeyTarget& gone : report.removed()) replaced.insert({gone.key(), gone.target()});
  for (const v1::Finding& finding : report.findings()) replaced.insert({finding.key(), finding.target()});
  std::erase_if(merged.findings, [&](const Finding& f) { return replaced.contains({f.key, f.target}); });
  for (const v1::Finding& finding : report.findings()) merged.findings.push_back(FromWire(finding));
  std::stable_sort(merged.findings.begin(), merged.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.key, a.target) < std::tie(b.key, b.target);
  });
  merged.generation = {std::min(report.generation(), kNumberMost)};
  merged.state_hash = report.state_hash();
  merged.verdict = FromWire(report.verdict());
  merged.settled = report.settled();
  // A delta merged into something else than the agent has gives another hash. A newer agent's findings may
  // hold more than this build knows of, so only an agent of the same build is held to it.
  return report.full() || !node.same_build || ReportHash(merged) == report.hash();
}

void FleetModel::OnReport(Node& node, v1::Report& report) {
  auto next = node.report ? std::make_shared<StoredReport>(*node.report) : std::make_shared<StoredReport>();
  const std::size_t known = report.full() ? 0 : next->report.findings.size();
  if (static_cast<std::size_t>(report.findings_size()) + known > options_.findings_most)
    return node.link->End(
        Status(Code::kResourceExhausted,
               "more than " + std::to_string(options_.findings_most) + " findings of one node"));
  NodeReport merged;
  const bool good = Merge(node, report, merged);
  if (SizeOf(merged) > options_.findings_bytes_most)
    return node.link->End(Status(
        Code::kResourceExhausted,
        "more than " + std::to_string(options_.findings_bytes_most) + " bytes of findings of one node"));
  if (good) {
    next->report = std::move(merged);
    next->report_hash = report.hash();
  }
  next->report.node = node.name;
  next->at = clock_.WallNow();
  next->agent_version = node.agent_version;
  next->boot_id = node.boot_id;
  next->corrected += OnHistory(node, report);  // numbered, so it is kept whatever became of the findings
  node.report = std::move(next);
  NoteAiling(node);
  v1::ReportAck& ack = node.ack.emplace();
  ack.set_sequence(report.sequence());
  ack.set_hash(node.report->report_hash);
  ack.set_need_full(!good);
  unsaved_.insert(&node);
  node.held_back = node.unsaved_changes.size() > options_.unsaved_changes;
  Touch(node);
}

}  // namespace railwright
