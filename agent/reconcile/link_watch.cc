// A step that may take a link down is done only when the link has come back. Else it is put back, since the
// value before it is one that the link was up with.
#include <algorithm>
#include <utility>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/loop.h"
#include "agent/reconcile/text.h"

namespace railwright {
namespace {

/// A link trains in a few seconds, one of 400 Gbit/s over copper in up to ten or so.
constexpr std::chrono::seconds kPatience{30};
/// A driver may take the link down some time after it has taken the write; what is up by then stays up.
constexpr std::chrono::seconds kSettling{3};
constexpr std::chrono::seconds kLookAgain{1};

}  // namespace

bool Reconciler::Impl::LinkMustReturn(const Entry& entry) const {
  return entry.wish.target.port != nullptr && entry.step && entry.step->disruption >= Disruption::kLinkFlap &&
         (link_watches_.contains(entry.wish.spec.target) || LinkIsUp(machine_, *entry.wish.target.port));
}

bool Reconciler::Impl::IsAmong(const LinkWatch& watch, const Entry& entry) const {
  return std::any_of(watch.steps.begin(), watch.steps.end(),
                     [&](const DoneStep& step) { return step.entry == IndexOf(entry); });
}

void Reconciler::Impl::WatchLink(const Entry& entry, const Observation& before) {
  LinkWatch& watch = link_watches_[entry.wish.spec.target];
  if (!IsAmong(watch, entry)) watch.steps.push_back({IndexOf(entry), before});
  watch.since = clock_.Now();
  look_again_at_ = std::min(look_again_at_.value_or(watch.since + kLookAgain), watch.since + kLookAgain);
}

bool Reconciler::Impl::WaitsForLink(Entry& entry) {
  const auto watch = link_watches_.find(entry.wish.spec.target);
  // What took it down is written at once when it is wished otherwise: that may bring it back.
  if (watch == link_watches_.end() || entry.wish.target.port == nullptr || IsAmong(watch->second, entry) ||
      LinkIsUp(machine_, *entry.wish.target.port))
    return false;
  Hold hold;
  hold.retry_at = clock_.Now() + kLookAgain;
  hold.reason = "WaitsForLink";
  hold.message = "not tried yet: the link of " + entry.wish.target.port->netdev +
                 " went down with the writing of " +
                 entries_[watch->second.steps.back().entry].wish.spec.key + ", and is awaited";
  hold.fix = "wait; what took it down is put back after " + std::to_string(kPatience.count()) + " s";
  entry.hold = std::move(hold);
  RefreshFinding(entry);
  return true;
}

// What a new generation still declares is awaited on; the value that the link was up with stays the one to go
// back to, also when the new one asks for a third.
void Reconciler::Impl::KeepLinkWatches(const std::vector<Entry>& entries) {
  for (auto watch = link_watches_.begin(); watch != link_watches_.end();) {
    std::vector<DoneStep> kept;
    for (DoneStep& step : watch->second.steps) {
      const Wish& wish = entries_[step.entry].wish;
      const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.wish.spec.key == wish.spec.key && entry.wish.spec.target == wish.spec.target;
      });
      if (same != entries.end())
        kept.push_back({static_cast<std::size_t>(same - entries.begin()), std::move(step.before)});
    }
    watch->second.steps = std::move(kept);
    watch = watch->second.steps.empty() ? link_watches_.erase(watch) : std::next(watch);
  }
}

void Reconciler::Impl::LookAtLinks() {
  const Clock::Steady now = clock_.Now();
  std::vector<std::string> lost;
  for (auto watch = link_watches_.begin(); watch != link_watches_.end();) {
    const BoundPort* port = entries_[watch->second.steps.front().entry].wish.target.port;
    const bool gone = port == nullptr || port->netdev.empty();
    const bool up = !gone && LinkIsUp(machine_, *port);
    if (gone || (up && now - watch->second.since >= kSettling)) {
      watch = link_watches_.erase(watch);
      continue;
    }
    if (!up && now - watch->second.since >= kPatience) lost.push_back(watch->first);
    look_again_at_ = std::min(look_again_at_.value_or(now + kLookAgain), now + kLookAgain);
    ++watch;
  }
  for (const std::string& port : lost) PutBackForLink(port);
}

void Reconciler::Impl::PutBackForLink(const std::string& port) {
  const LinkWatch watch = std::move(link_watches_.at(port));
  link_watches_.erase(port);
  for (auto step = watch.steps.rbegin(); step != watch.steps.rend(); ++step) {
    Entry& entry = entries_[step->entry];
    const std::string what = "the link of " + entry.wish.target.port->netdev + " did not come back within " +
                             std::to_string(kPatience.count()) + " s of writing " +
                             OneLine(entry.wish.desired);
    ++counters_.failed;
    Record(entry, entry.deviation ? entry.deviation->kind : ChangeKind::kIntended, step->before,
           entry.wish.desired, false, what);
    const std::string left = UndoOne(entry, step->before);
    Hold hold;
    hold.until = Hold::Until::kPerson;
    hold.reason = "LinkStayedDown";
    hold.message = what + (left.empty() ? "" : "; " + left) + "; not tried again by itself";
    hold.fix = "look at the other end of the cable (`railctl explain LinkStayedDown`); `railctl pause " +
               entry.wish.spec.key + "` and `railctl pause --resume " + entry.wish.spec.key +
               "` try it again";
    entry.hold = std::move(hold);
    entry.held = false;
    entry.gone = false;  // a restore that was done is not
    // What was done for the generation is done with: nothing else of the port is undone for it.
    for (auto& [group, run] : runs_)
      std::erase_if(run, [&](const DoneStep& done) { return done.entry == step->entry; });
    if (!entry.deviation) entry.deviation = Deviation{ChangeKind::kIntended, clock_.Now(), {}};
    Assess(entry, {});
  }
}

}  // namespace railwright
