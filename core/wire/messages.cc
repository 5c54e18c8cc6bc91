// Messages ↔ domain structs, field by field.
#include <algorithm>
#include <chrono>

#include "core/wire/wire.h"
#include "railwright/unix_time.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

std::vector<std::string> Texts(const google::protobuf::RepeatedPtrField<std::string>& from) {
  return {from.begin(), from.end()};
}

void Fill(google::protobuf::RepeatedPtrField<std::string>* to, const std::vector<std::string>& from) {
  for (const std::string& text : from) *to->Add() = ValidUtf8(text);
}

// The clock of libstdc++ counts nanoseconds: a hostile number of microseconds would overflow it.
microseconds Bounded(std::int64_t us) {
  constexpr std::int64_t kMost = duration_cast<microseconds>(std::chrono::nanoseconds::max()).count();
  return microseconds(std::clamp(us, std::int64_t{0}, kMost));
}

}  // namespace

const std::vector<std::string>& WireFeatures() {
  static const std::vector<std::string> features{"observe", "pause", "plan", "refresh", "restore"};
  return features;
}

v1::Origin ToWire(const Origin& origin) {
  v1::Origin message;
  message.set_document(ValidUtf8(origin.document));
  message.set_place(ValidUtf8(origin.place));
  return message;
}

Origin FromWire(const v1::Origin& message) { return {message.document(), message.place()}; }

v1::Port ToWire(const Port& port) {
  v1::Port message;
  message.set_name(ValidUtf8(port.name));
  message.set_role(ToWire(port.role));
  message.set_pci(ValidUtf8(port.pci));
  message.set_netdev(ValidUtf8(port.netdev));
  Fill(message.mutable_addresses(), port.addresses);
  Fill(message.mutable_gateways(), port.gateways);
  return message;
}

Port FromWire(const v1::Port& message) {
  Port port;
  port.name = message.name();
  port.role = FromWire(message.role());
  port.pci = message.pci();
  port.netdev = message.netdev();
  port.addresses = Texts(message.addresses());
  port.gateways = Texts(message.gateways());
  return port;
}

v1::SettingSpec ToWire(const SettingSpec& spec) {
  v1::SettingSpec message;
  message.set_key(ValidUtf8(spec.key));
  message.set_target(ValidUtf8(spec.target));
  message.set_value(ValidUtf8(spec.value));
  message.set_mode(ToWire(spec.mode));
  *message.mutable_origin() = ToWire(spec.origin);
  // The default is not written, so that a state without it keeps its bytes and its hash.
  if (spec.max_disruption != Disruption::kTrafficBlip)
    message.set_max_disruption(ToWire(spec.max_disruption));
  return message;
}

SettingSpec FromWire(const v1::SettingSpec& message) {
  // What an older controller leaves out, and a class that is not known here, allow no more than the default.
  const bool told = message.max_disruption() > v1::DISRUPTION_UNSPECIFIED &&
                    message.max_disruption() <= v1::DISRUPTION_REBOOT;
  return {message.key(),
          message.target(),
          message.value(),
          FromWire(message.mode()),
          FromWire(message.origin()),
          told ? FromWire(message.max_disruption()) : Disruption::kTrafficBlip};
}

v1::Finding ToWire(const Finding& finding) {
  v1::Finding message;
  message.set_code(ValidUtf8(finding.code));
  message.set_key(ValidUtf8(finding.key));
  message.set_target(ValidUtf8(finding.target));
  message.set_desired(ValidUtf8(finding.desired));
  message.set_observed(ValidUtf8(finding.observed));
  message.set_verdict(ToWire(finding.verdict));
  message.set_reason(ValidUtf8(finding.reason));
  message.set_message(ValidUtf8(finding.message));
  message.set_fix(ValidUtf8(finding.fix));
  Fill(message.mutable_evidence(), finding.evidence);
  message.set_mode(ToWire(finding.mode));
  *message.mutable_origin() = ToWire(finding.origin);
  return message;
}

Finding FromWire(const v1::Finding& message) {
  Finding finding;
  finding.code = message.code();
  finding.key = message.key();
  finding.target = message.target();
  finding.desired = message.desired();
  finding.observed = message.observed();
  finding.verdict = FromWire(message.verdict());
  finding.reason = message.reason();
  finding.message = message.message();
  finding.fix = message.fix();
  finding.evidence = Texts(message.evidence());
  finding.mode = FromWire(message.mode());
  finding.origin = FromWire(message.origin());
  return finding;
}

v1::ChangeRecord ToWire(const ChangeRecord& change) {
  v1::ChangeRecord message;
  message.set_sequence(change.sequence);
  message.set_kind(ToWire(change.kind));
  message.set_key(ValidUtf8(change.key));
  message.set_target(ValidUtf8(change.target));
  message.set_from(ValidUtf8(change.from));
  message.set_to(ValidUtf8(change.to));
  message.set_by(ValidUtf8(change.by));
  message.set_noticed(ValidUtf8(change.noticed));
  message.set_ok(change.ok);
  message.set_message(ValidUtf8(change.message));
  message.set_generation(change.generation.value);
  message.set_at_unix_us(ToUnixMicros(change.at));
  message.set_took_us(change.took.count());
  message.set_with_link(change.with_link);
  return message;
}

ChangeRecord FromWire(const v1::ChangeRecord& message) {
  ChangeRecord change;
  change.sequence = message.sequence();
  change.kind = FromWire(message.kind());
  change.key = message.key();
  change.target = message.target();
  change.from = message.from();
  change.to = message.to();
  change.by = message.by();
  change.noticed = message.noticed();
  change.ok = message.ok();
  change.message = message.message();
  change.generation = Generation{message.generation()};
  change.at = NearestToUnixMicros(message.at_unix_us());
  change.took = Bounded(message.took_us());
  change.with_link = message.with_link();
  return change;
}

v1::Step ToWire(const Step& step) {
  v1::Step message;
  message.set_key(ValidUtf8(step.key));
  message.set_target(ValidUtf8(step.target));
  message.set_from(ValidUtf8(step.from));
  message.set_to(ValidUtf8(step.to));
  message.set_disruption(ToWire(step.disruption));
  Fill(message.mutable_blast(), step.blast);
  message.set_why(ValidUtf8(step.why));
  *message.mutable_origin() = ToWire(step.origin);
  message.set_mode(ToWire(step.mode));
  message.set_refused(ValidUtf8(step.refused));
  message.set_refused_message(ValidUtf8(step.refused_message));
  message.set_next_boot(step.next_boot);
  return message;
}

Step FromWire(const v1::Step& message) {
  Step step;
  step.key = message.key();
  step.target = message.target();
  step.from = message.from();
  step.to = message.to();
  step.disruption = FromWire(message.disruption());
  step.blast = Texts(message.blast());
  step.why = message.why();
  step.origin = FromWire(message.origin());
  step.mode = FromWire(message.mode());
  step.refused = message.refused();
  step.refused_message = message.refused_message();
  step.next_boot = message.next_boot();
  return step;
}

v1::Plan ToWire(const Plan& plan) {
  v1::Plan message;
  message.set_node(ValidUtf8(plan.node));
  message.set_generation(plan.generation.value);
  for (const Step& step : plan.steps) *message.add_steps() = ToWire(step);
  for (const Finding& finding : plan.findings) *message.add_findings() = ToWire(finding);
  return message;
}

Plan FromWire(const v1::Plan& message) {
  Plan plan;
  plan.node = message.node();
  plan.generation = Generation{message.generation()};
  for (const v1::Step& step : message.steps()) plan.steps.push_back(FromWire(step));
  for (const v1::Finding& finding : message.findings()) plan.findings.push_back(FromWire(finding));
  return plan;
}

v1::Pause ToWire(const Pause& pause) {
  v1::Pause message;
  message.set_node(ValidUtf8(pause.node));
  message.set_key(ValidUtf8(pause.key));
  message.set_by(ValidUtf8(pause.by));
  message.set_reason(ValidUtf8(pause.reason));
  return message;
}

Pause FromWire(const v1::Pause& message) {
  return {message.node(), message.key(), message.by(), message.reason()};
}

v1::Catalog DescribeCatalog(const Catalog& catalog, const std::vector<std::unique_ptr<const Check>>& checks) {
  v1::Catalog message;
  message.set_hash(catalog.hash());
  for (const auto& setting : catalog.settings()) {
    const SettingInfo& info = setting->info();
    v1::SettingDescriptor* out = message.add_settings();
    out->set_key(info.key);
    out->set_code(info.code);
    out->set_help(info.help);
    out->set_why(info.why);
    out->set_targets(info.targets == TargetKind::kPort ? "port" : "node");
    out->set_syntax(info.syntax);
    out->set_default_value(info.default_value);
    out->set_disruption(ToWire(info.disruption));
    out->set_noticed_by(info.noticed.by_event ? info.noticed.source : "scan");
    out->set_noticed_worst_ms(info.noticed.worst.count());
    switch (info.effect) {
      case Effect::kRuntime: out->set_effect("runtime"); break;
      case Effect::kNeedsReboot: out->set_effect("reboot"); break;
      case Effect::kNextBoot: out->set_effect("next-boot"); break;
      case Effect::kObserveOnly: out->set_effect("observe-only"); break;
    }
    out->set_interface(info.interface);
    out->set_source(info.source);
  }
  for (const auto& check : checks) {
    const CheckInfo& info = check->info();
    v1::CheckDescriptor* out = message.add_checks();
    out->set_key(info.key);
    out->set_code(info.code);
    out->set_help(info.help);
    out->set_why(info.why);
    out->set_interface(info.interface);
    out->set_noticed_by(info.noticed.by_event ? info.noticed.source : "scan");
  }
  return message;
}

}  // namespace railwright
