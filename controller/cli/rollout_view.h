// How a generation spreads: rollouts and brakes, as JSON and for people. Pure.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "core/text/exit_code.h"
#include "core/text/table.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// "Running", "Halted" …; "Unknown": of a newer controller.
std::string StateWord(v1::RolloutState state);
std::string StateWord(v1::RolloutNodeState state);
/// Of a rollout that is not in force any more, only how many nodes it changed and how many failed is kept.
bool CountsKnown(const v1::RolloutInfo& rollout);

/// {generation, base, author, created_at, state, reason, by, policy, wave, waves[], summary{nodes,waiting,
///  changing,done,failed,accepted,away}, unavailable_most, approvals_needed, approvals[]{who,from,reason,at},
///  waits_for[], members[]{node,wave,state,why,since}, next}. Counts that are not kept of an older one: null.
nlohmann::ordered_json RolloutJson(const v1::RolloutInfo& rollout);
nlohmann::ordered_json BrakeJson(const v1::Brake& brake);
/// {generation, rollouts[], brakes[]{rack,reason,since}}; a brake without a rack is the breaker.
nlohmann::ordered_json RolloutsJson(const v1::RolloutsResponse& answer);

/// The present one: brakes first, then waves, approvals, what it waits for, nodes folded by what they do, and
/// one sentence, last.
std::string RolloutText(const v1::RolloutsResponse& answer, const Terminal& terminal,
                        std::chrono::system_clock::time_point now);
/// The list, a line each; brakes first here too.
std::string RolloutsTable(const v1::RolloutsResponse& answer, const Terminal& terminal,
                          std::chrono::system_clock::time_point now);
/// The brakes alone, two lines each; "" = none.
std::string BrakesText(const v1::RolloutsResponse& answer, const Terminal& terminal,
                       std::chrono::system_clock::time_point now);

/// "generation 42: wave 2 of 3, 5 of 32 nodes done, 3 changing; waits for gpu-003: has not settled yet": all
/// of it in one line, the nodes by name.
std::string RolloutLine(const v1::RolloutsResponse& answer);
/// The same for a person who watches: the progress, then a line for each thing that it waits for, at most
/// `lines` in all.
std::string RolloutLive(const v1::RolloutsResponse& answer, std::size_t lines);
/// "before wave 1 of 3, 0 of 32 nodes done, …"
std::string ProgressText(const v1::RolloutInfo& rollout);
/// What is left when the seconds that a wave must still hold are taken out: equal texts are no news.
std::string WithoutCountdown(std::string text);

/// "41 → 42", or "none → 1".
std::string FromToText(const v1::RolloutInfo& rollout, const Terminal& terminal);
/// A command that helps on; "" when none is needed.
std::string NextOf(const v1::RolloutInfo& rollout);

/// 0 it runs, or is done (away nodes get it when they come) · 1 done, and nodes failed that nobody accepted ·
/// 6 halted, paused, aborted, waiting for approval or a window, or the breaker is open · 3 a state that this
/// railctl does not know · 0 there is none.
ExitCode RolloutExit(const v1::RolloutsResponse& answer);
/// The breaker, not a frozen rack: that thaws by itself.
bool BreakerOpen(const v1::RolloutsResponse& answer);

}  // namespace railwright::cli
