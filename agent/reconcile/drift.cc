// History and contention.
#include <algorithm>
#include <utility>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/loop.h"
#include "agent/reconcile/text.h"

namespace railwright {

void Reconciler::Impl::Record(const Entry& entry, ChangeKind kind, const Observation& from,
                              const std::string& to, bool ok, std::string message) {
  constexpr std::size_t kValueLimit = 1024;
  ChangeRecord record;
  record.sequence = next_sequence_++;
  record.kind = kind;
  record.key = entry.wish.spec.key;
  record.target = entry.wish.spec.target;
  record.from = Shown(ValueToApply(from), kValueLimit);
  record.to = Shown(to, kValueLimit);
  record.ok = ok;
  record.message = OneLine(message, 1024);
  record.generation = state_ ? state_->generation : try_ ? try_->record.generation : Generation();
  record.at = clock_.WallNow();
  record.with_link =
      kind == ChangeKind::kDrift && entry.wish.setting->info().goes_with_link && LinkMoved(entry);
  if (entry.deviation) {
    record.by = entry.deviation->by;
    if (kind == ChangeKind::kDrift || kind == ChangeKind::kCorrective || kind == ChangeKind::kContended)
      record.noticed = entry.deviation->by_event ? "event" : "scan";
    if (kind != ChangeKind::kDrift && kind != ChangeKind::kUndone)
      record.took = std::max(
          std::chrono::microseconds(0),
          std::chrono::duration_cast<std::chrono::microseconds>(clock_.Now() - entry.deviation->since));
  }
  changes_.push_back(std::move(record));
  changed_ = true;
}

void Reconciler::Impl::NoteCarrier(Entry& entry) {
  if (entry.wish.target.port != nullptr)
    entry.carrier_changes = CarrierChanges(machine_, entry.wish.target.port->netdev);
}

bool Reconciler::Impl::LinkMoved(const Entry& entry) const {
  return !entry.carrier_changes.empty() && entry.wish.target.port != nullptr &&
         CarrierChanges(machine_, entry.wish.target.port->netdev) != entry.carrier_changes;
}

// The value was as declared and is not any more. Only a knob that we would set again can be fought over.
void Reconciler::Impl::NoteReturn(Entry& entry, bool own) {
  if (!entry.step || !entry.step->refused.empty() || entry.contended) return;
  // A link that goes takes addresses and routes along, and nobody fights for them. Yet an owner may bounce
  // the link each time, so even these come to an end.
  constexpr int kBounceFactor = 4;
  const bool bounced = LinkMoved(entry);
  NoteCarrier(entry);
  if (entry.deviation) entry.deviation->counted = !bounced;
  const int count = (bounced ? entry.bounces : entry.returns).Count(clock_.Now(), options_.contention_window);
  if (count < options_.contention_limit * (bounced ? kBounceFactor : 1)) return;
  entry.contended = true;
  ++counters_.contended;
  const std::string owner =
      own ? "another setting of the desired state: writing " + last_written_ + " changes it"
          : LikelyOwner(machine_, entry.last_by, entry.wish.setting->info().likely_owners);
  entry.contended_message = "it came back " + std::to_string(count) + " times within " +
                            std::to_string(options_.contention_window.count()) +
                            " s; likely owner: " + owner + "; enforcement of it has stopped";
  Record(entry, ChangeKind::kContended, Observation::Value(entry.wish.desired),
         ValueToApply(entry.sight.observation), false, entry.contended_message);
}

}  // namespace railwright
