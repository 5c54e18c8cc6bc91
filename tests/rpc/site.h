// A small site, and the messages of an agent on it.
#pragma once

#include <string>

#include "core/wire/wire.h"
#include "railwright/v1/admin.pb.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

/// Four nodes gpu-001 … gpu-004 with one rail, and one profile. `mtu` is what tests change.
inline std::string SiteYaml(int mtu = 4200, const std::string& nodes = "gpu-[001-004]") {
  return "kind: Cluster\nname: pod-a\nnodes:\n  - {name: \"" + nodes +
         "\", role: gpu, rack: r1}\nports:\n"
         "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.10.0.{index}/24\"}\n"
         "---\nkind: Profile\nname: base\nfor: {role: gpu}\nmode: enforce\nsettings:\n  link.mtu: {fabric: " +
         std::to_string(mtu) + "}\n";
}

inline v1::AgentMessage HelloOf(const std::string& node, const std::string& boot_id = "boot-1") {
  v1::AgentMessage message;
  auto* hello = message.mutable_hello();
  hello->set_node(node);
  hello->set_version(RAILWRIGHT_VERSION);
  hello->set_wire(kWire);
  hello->set_wire_min(kWireMin);
  hello->mutable_features()->Assign(WireFeatures().begin(), WireFeatures().end());
  hello->set_boot_id(boot_id);
  return message;
}

inline Finding FindingOf(Verdict verdict, const std::string& target = "rail0") {
  Finding finding;
  finding.code = "RW-1101";
  finding.key = "link.mtu";
  finding.target = target;
  finding.desired = "4200";
  finding.observed = verdict == Verdict::kCompliant ? "4200" : "1500";
  finding.verdict = verdict;
  finding.reason = verdict == Verdict::kCompliant ? "" : "NotEqual";
  return finding;
}

/// A full, settled report against `state_hash`.
inline v1::AgentMessage ReportOf(std::uint64_t sequence, std::uint64_t generation,
                                 const std::string& state_hash, Verdict verdict, std::uint64_t change = 0) {
  v1::AgentMessage message;
  auto* report = message.mutable_report();
  report->set_sequence(sequence);
  report->set_generation(generation);
  report->set_state_hash(state_hash);
  report->set_full(true);
  report->set_verdict(ToWire(verdict));
  report->set_settled(true);
  NodeReport whole;
  whole.findings = {FindingOf(verdict)};
  *report->add_findings() = ToWire(whole.findings[0]);
  report->set_hash(ReportHash(whole));
  if (change) {
    auto* record = report->add_changes();
    record->set_sequence(change);
    record->set_kind(v1::CHANGE_KIND_CORRECTIVE);
    record->set_key("link.mtu");
    record->set_target("rail0");
    record->set_from("1500");
    record->set_to("4200");
    record->set_ok(true);
    record->set_generation(generation);
  }
  return message;
}

}  // namespace railwright
