// The way from a generation to the nodes leads by their signatures.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "controller/rpc/fleet_model.h"

namespace railwright {

std::vector<Result<Endorsed>> FleetModel::Endorse(const std::vector<Node*>& nodes) {
  std::vector<ToEndorse> wanted;
  for (const Node* node : nodes) {
    const NodeDesired desired = DesiredOf(*node);
    wanted.push_back({.node = node->name,
                      .uuid = node->uuid,
                      .generation = state_->number(),
                      .author = state_->stored.author,
                      .hash = desired.hash,
                      .bytes = desired.bytes(),
                      .held_number = node->held_number,
                      .held_digest = node->held_digest,
                      .holds_hash = node->enforced_hash == desired.hash});
  }
  if (options_.endorser != nullptr) return options_.endorser->Endorse(wanted);
  return std::vector<Result<Endorsed>>(
      wanted.size(), Status(Code::kFailedPrecondition, "this controller has nobody who signs states"));
}

void FleetModel::NoteWaits(Node& node, const Status& endorsed) {
  node.waits = endorsed.message();
  if (endorsed.ok() && node.link && !rollouts_.MaySend(node.name)) node.waits = rollouts_.Turn();
  Touch(node);
}

void FleetModel::Push(const std::vector<Node*>& nodes) {
  // With no generation, or one that could not be resolved, there is nothing to say: agents keep what they
  // have.
  if (state_->number() == 0 || !state_->problem.empty()) return;
  std::vector<Node*> linked;
  for (Node* node : nodes) {
    if (!node->link) continue;
    if (rollouts_.MaySend(node->name)) {
      linked.push_back(node);
    } else if (node->waits.empty()) {
      // It keeps what it has. Its statement is good for weeks, and is not renewed meanwhile.
      node->waits = rollouts_.Turn();
      Touch(*node);
    }
  }
  if (linked.empty()) return;
  const auto endorsed = Endorse(linked);
  for (std::size_t i = 0; i < linked.size(); ++i) {
    Node& node = *linked[i];
    const NodeDesired desired = DesiredOf(node);
    const std::string waits = endorsed[i].ok() ? std::string() : endorsed[i].status().message();
    if (waits != node.waits) {
      node.waits = waits;
      Touch(node);
      if (!waits.empty()) spdlog::warn("node {} is not sent its state: {}", node.name, waits);
    }
    if (!endorsed[i].ok()) continue;
    if (desired.hash != node.nack_hash) {
      node.nack.clear();  // it was another state that the node refused
      node.nack_hash.clear();
    }
    const std::uint64_t number = endorsed[i]->number.Packed();
    const bool has_state =
        desired.hash == node.sent_hash || (node.sent_hash.empty() && desired.hash == node.enforced_hash);
    if (has_state && number <= std::max(node.sent_number, node.held_number)) continue;
    node.sent_hash = desired.hash;
    node.sent_number = number;
    node.told_generation = endorsed[i]->number.generation;
    // The statement's generation: a node whose state did not change with a generation keeps its older one.
    (void)node.link->Send(DesiredOutbound(endorsed[i]->number.generation, desired, endorsed[i]->envelope));
  }
}

std::vector<FleetModel::Node*> FleetModel::Connected() {
  std::vector<Node*> list;
  for (auto& [name, node] : nodes_)
    if (node.link) list.push_back(&node);
  return list;
}

void FleetModel::LookAtRenewals(Clock::Steady now) {
  if (now < next_renewal_look_) return;
  next_renewal_look_ = now + options_.renewal_look_every;
  Push(Connected());
}

void FleetModel::Ask(UnsignedQuestion question) {
  std::vector<Unsigned> waiting;
  if (options_.endorser != nullptr && state_->number() > 0 && state_->problem.empty()) {
    // Nodes that are away are signed for, too: who signs does not want to come back for each.
    std::vector<Node*> declared;
    for (auto& [name, node] : nodes_)
      if (node.declared) declared.push_back(&node);
    const auto endorsed = Endorse(declared);
    for (std::size_t i = 0; i < declared.size(); ++i) NoteWaits(*declared[i], endorsed[i].status());
    for (Unsigned& one : options_.endorser->Waiting())
      if (const auto node = nodes_.find(one.node); node != nodes_.end() && node->second.declared)
        waiting.push_back(std::move(one));
  }
  answers_.push_back([done = std::move(question.done), state = state_,
                      waiting = std::move(waiting)]() mutable { done(state, std::move(waiting)); });
}

void FleetModel::Sign(SignatureOrder order) {
  const auto done = WhenShown(std::move(order.done));
  if (options_.endorser == nullptr)
    return done(Status(Code::kFailedPrecondition, "this controller has nobody who signs states"), 0);
  if (!Writable()) return done(Status(Code::kResourceExhausted, read_only_), 0);
  AuditRow audit = order.by;
  audit.action = "sign";
  audit.subject = "generation " + std::to_string(state_->number());
  const auto taken = options_.endorser->AddSignatures(order.offers);
  if (!taken.ok()) return done(Refused(audit, taken.status()), 0);
  audit.detail = std::to_string(*taken) + " signatures";
  if (const Status written = store_.AddAudit(Stamped(audit)); !written.ok()) CannotWrite(written);
  std::vector<Node*> nodes;
  for (auto& [name, node] : nodes_) nodes.push_back(&node);
  const auto endorsed = Endorse(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->declared) NoteWaits(*nodes[i], endorsed[i].status());
  rollouts_.AskAllAgain();
  Push(Connected());
  done(Ok(), *taken);
}

}  // namespace railwright
