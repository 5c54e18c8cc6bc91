// Who is done, who has failed, and when that is too much.
#include <algorithm>
#include <utility>

#include "controller/rollout/draft.h"

namespace railwright {
namespace {

std::string Seconds(std::chrono::seconds time) {
  const auto count = time.count();
  if (count >= 3600 && count % 3600 == 0) return std::to_string(count / 3600) + " h";
  if (count >= 60 && count % 60 == 0) return std::to_string(count / 60) + " min";
  return std::to_string(count) + " s";
}

// What ails there now and did not before. Of a node that had never reported, a check that fails may have
// failed for long; what can be blamed on the change is a setting that it brings.
std::vector<KeyTarget> Worse(const RolloutMember& member, const MemberSight& sight) {
  std::vector<KeyTarget> worse;
  std::set_difference(sight.settings.begin(), sight.settings.end(), member.ailed.begin(), member.ailed.end(),
                      std::back_inserter(worse));
  if (member.was_known)
    std::set_difference(sight.checks.begin(), sight.checks.end(), member.ailed.begin(), member.ailed.end(),
                        std::back_inserter(worse));
  return worse;
}

std::string Told(const std::vector<KeyTarget>& ills) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < ills.size() && i < kNamed; ++i)
    text += (i == 0 ? "" : ", ") + ills[i].key + (ills[i].target.empty() ? "" : " " + ills[i].target);
  if (ills.size() > kNamed) text += " and " + std::to_string(ills.size() - kNamed) + " more";
  return text;
}

}  // namespace

void Rollout::Judge(Draft& draft, const RolloutLook& look) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const RolloutMember& member = members_[i];
    const MemberSight& sight = draft.sights[i];
    Live& live = live_[i];
    const auto fail = [&](std::string why) {
      RolloutMember& next = draft.Change(i, MemberPhase::kFailed);
      next.why = std::move(why);
      ++draft.record.failed;
      draft.failed.push_back(member.node);
    };
    const std::vector<KeyTarget> worse = sight.has_it ? Worse(member, sight) : std::vector<KeyTarget>();
    if (!worse.empty() && !std::exchange(live.ailing, true)) live.ailing_since = look.now;
    if (worse.empty()) live.ailing = false;
    const auto ailing_for = live.ailing ? look.now - live.ailing_since : Clock::Steady::duration(0);
    const auto lost_for = std::min<Clock::Steady::duration>(sight.lost_for, look.now - live.since);

    switch (member.phase) {
      case MemberPhase::kWaiting:
        if (sight.has_it)
          draft.Change(i, MemberPhase::kDone);  // it had this state already
        else if (member.on_the_way && sight.at_rest)
          draft.Edit(i).on_the_way = false;
        break;
      case MemberPhase::kChanging:
        if (!sight.refused.empty())
          fail("refused it: " + sight.refused);
        else if (sight.has_it && worse.empty())
          draft.Change(i, MemberPhase::kDone);
        else if (ailing_for >= kAilingFor)
          fail("is worse than before: " + Told(worse));
        else if (!sight.connected && lost_for >= kLostFor)
          fail("was not heard of for " + Seconds(kLostFor) + " after it was begun");
        else if (look.now - live.since >= policy_.settle_within)
          fail("has not settled within " + Seconds(policy_.settle_within));
        break;
      case MemberPhase::kDone:
        // Until the last wave has held; what goes wrong later is no longer blamed on this generation.
        if (draft.record.finished) break;
        if (!sight.refused.empty())
          fail("refused it: " + sight.refused);
        else if (ailing_for >= kAilingForWhenDone)
          fail("got worse after it had settled: " + Told(worse));
        else if (!sight.connected && lost_for >= kLostFor)
          fail("was not heard of for " + Seconds(kLostFor) + " after it had settled");
        break;
      case MemberPhase::kFailed:
      case MemberPhase::kAccepted:
        if (sight.has_it && worse.empty() && sight.refused.empty())
          draft.Change(i, MemberPhase::kDone).why.clear();
        break;
    }
  }
}

void Rollout::HaltIfDue(Draft& draft, RolloutMove& move) const {
  if (draft.record.phase != RolloutPhase::kRunning) return;
  std::map<std::uint32_t, std::size_t> sizes, failed;
  std::size_t all_failed = 0;
  std::vector<std::size_t> named;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const RolloutMember& member = draft.At(i);
    ++sizes[member.wave];
    if (member.phase != MemberPhase::kFailed) continue;
    ++failed[member.wave];
    ++all_failed;
    named.push_back(i);
  }
  std::string why;
  for (const auto& [wave, count] : failed) {
    if (wave == 0) continue;  // not of this generation: they were failing when it came
    const bool canary = wave == 1 && policy_.waves.size() > 1;
    const std::size_t most = canary ? 0 : std::max<std::size_t>(1, policy_.max_failed.Of(sizes[wave]));
    if (canary && count > 0)
      why = count == 1 ? "a node of the first wave failed"
                       : std::to_string(count) + " nodes of the first wave failed";
    else if (count > most)
      why = std::to_string(count) + " of the " + std::to_string(sizes[wave]) + " nodes of wave " +
            std::to_string(wave) + " failed, at most " + std::to_string(most) + " may";
  }
  if (why.empty() && all_failed >= unavailable_most())
    why = std::to_string(all_failed) + " nodes have failed, and no more than " +
          std::to_string(unavailable_most()) + " may be unavailable at the same time";
  if (why.empty()) return;
  constexpr std::size_t kNamed = 3;
  for (std::size_t i = 0; i < named.size() && i < kNamed; ++i)
    why += (i == 0 ? ": " : "; ") + members_[named[i]].node + " " + draft.At(named[i]).why;
  if (named.size() > kNamed) why += "; and " + std::to_string(named.size() - kNamed) + " more";
  draft.record.phase = RolloutPhase::kHalted;
  draft.record.reason = why;
  draft.record.by = "railwright-controller";
  move.halted = why;
}

}  // namespace railwright
