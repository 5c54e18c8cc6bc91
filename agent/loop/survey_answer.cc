#include "agent/loop/survey_answer.h"

#include "agent/loop/reporter.h"
#include "agent/reconcile/reconciler.h"
#include "agent/reconcile/survey.h"
#include "agent/reconcile/text.h"
#include "core/wire/wire.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

v1::ObservedPort ToMessage(const BoundPort& bound) {
  v1::ObservedPort message;
  *message.mutable_port() = ToWire(bound.port);
  message.set_netdev(ValidUtf8(bound.netdev));
  message.set_pci(ValidUtf8(bound.bdf));
  message.set_rdma_device(ValidUtf8(bound.ibdev));
  message.set_message(OneLine(bound.unbound));
  return message;
}

v1::ObservedPort Proposal(const BoundPort& bound) {
  v1::ObservedPort message = ToMessage(bound);
  // By its place on the bus: that stays when interfaces are named anew.
  if (!bound.bdf.empty()) {
    message.mutable_port()->set_pci(message.pci());
    message.mutable_port()->clear_netdev();
  }
  message.set_message(bound.ibdev.empty()
                          ? "no interface here has an RDMA device; this one carries no default route"
                          : "it has the RDMA device " + message.rdma_device());
  return message;
}

v1::ObservedValue ToMessage(const Observed& observed) {
  v1::ObservedValue message;
  message.set_key(ValidUtf8(observed.key));
  message.set_target(ValidUtf8(observed.target));
  if (!observed.seen.ok()) {
    message.set_kind(v1::ObservedValue::KIND_ERROR);
    message.set_reason("ReadFailed");
    message.set_message(OneLine(observed.seen.status().ToString(), Reporter::kLongestText));
    return message;
  }
  const Observation& seen = *observed.seen;
  message.set_message(OneLine(seen.message, Reporter::kLongestText));
  message.set_pending_reboot(seen.pending_reboot);
  switch (seen.kind) {
    case Observation::Kind::kAbsent: message.set_kind(v1::ObservedValue::KIND_ABSENT); break;
    case Observation::Kind::kNotApplicable:
      message.set_kind(v1::ObservedValue::KIND_NOT_APPLICABLE);
      message.set_reason(ValidUtf8(seen.reason));
      break;
    case Observation::Kind::kValue: message.set_kind(v1::ObservedValue::KIND_VALUE); break;
  }
  const std::string value = ValidUtf8(seen.value);
  message.set_value(Shortened(value));
  // What is no UTF-8 cannot be told whole either.
  const bool whole = value.size() <= Reporter::kLongestText && value == seen.value;
  if (!whole) message.set_cut_from(seen.value.size());
  if (seen.kind == Observation::Kind::kNotApplicable) return message;
  if (!observed.wish.ok()) {
    message.set_no_wish(OneLine(observed.wish.status().message(), Reporter::kLongestText));
  } else if (!whole) {
    message.set_no_wish("a value of " + std::to_string(seen.value.size()) + " bytes is not told whole");
  } else {
    message.set_wish(ValidUtf8(*observed.wish));
  }
  return message;
}

}  // namespace

v1::ObservedNode Survey(const Machine& machine, const Catalog& catalog, const DesiredState& state,
                        const std::string& node, std::size_t most) {
  v1::ObservedNode answer;
  answer.set_node(node);
  answer.set_generation(state.generation.value);
  DesiredState looked_at = state;
  looked_at.node = node;
  const bool propose = state.ports.empty();
  if (propose) looked_at.ports = LikelyPorts(machine);
  const NodeFacts facts = BindPorts(machine, looked_at);
  for (const BoundPort& bound : facts.ports)
    *(propose ? answer.add_proposed() : answer.add_ports()) = propose ? Proposal(bound) : ToMessage(bound);
  std::size_t size = answer.ByteSizeLong();
  for (const Observed& observed : ObserveEverything(machine, catalog, facts)) {
    v1::ObservedValue value = ToMessage(observed);
    constexpr std::size_t kAround = 8;  // the field's number and length
    const std::size_t more = value.ByteSizeLong() + kAround;
    if (size + more > most) {
      answer.set_left_out(answer.left_out() + 1);
      continue;
    }
    size += more;
    *answer.add_values() = std::move(value);
  }
  return answer;
}

}  // namespace railwright
