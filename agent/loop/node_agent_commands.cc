// Commands of the controller: a dry run, a fresh look, a survey. Each has a deadline, and each is answered.
#include <algorithm>
#include <utility>

#include "agent/loop/node_agent.h"
#include "agent/loop/survey_answer.h"
#include "core/wire/wire.h"
#include "railwright/utf8.h"

namespace railwright {

using std::chrono::milliseconds;

namespace {

constexpr std::size_t kMostCommands = 64;         // that may wait; a controller asks for one or two
constexpr milliseconds kDefaultPatience{10'000};  // for a command without a deadline
constexpr milliseconds kLongestPatience{3'600'000};

}  // namespace

void NodeAgent::OnCommand(v1::Command command, std::uint64_t connection) {
  Asked asked{std::move(command), connection, {}, reconciler_.counters().scans};
  const milliseconds patience(asked.command.deadline_ms());
  asked.deadline = parts_.clock.Now() +
                   (patience <= milliseconds(0) ? kDefaultPatience : std::min(patience, kLongestPatience));
  if (commands_.size() >= kMostCommands) {
    v1::CommandResult result;
    result.set_error("this agent is busy with " + std::to_string(commands_.size()) + " commands");
    return Answer(asked, std::move(result));
  }
  if (asked.command.has_refresh()) {
    reconciler_.Refresh();
    reporter_.NeedFull();
  }
  commands_.push_back(std::move(asked));
}

void NodeAgent::Answer(const Asked& asked, v1::CommandResult result) {
  result.set_id(asked.command.id());
  Send({std::move(result), asked.connection});
}

Result<Plan> NodeAgent::DryRun(const DesiredState& state) {
  if (state.node != options_.node)
    return Status(Code::kInvalidArgument,
                  "it is for node " + Brief(state.node) + ", this is " + options_.node);
  return reconciler_.DryRun(state);
}

void NodeAgent::RunCommands() {
  std::deque<Asked> waiting;
  std::swap(waiting, commands_);
  for (Asked& asked : waiting) {
    v1::CommandResult result;
    const auto now = parts_.clock.Now();
    if (now > asked.deadline) {
      result.set_error("the time given for it had passed before the agent came to it");
      Answer(asked, std::move(result));
    } else if (asked.command.has_plan()) {
      // Nobody signs what is only asked about. It is parsed, and goes nowhere but into DryRun, which writes
      // nothing: a state comes into force by OnDesired alone.
      const Status allowed = seal_.CheckDryRun(asked.command.plan());
      const auto state = allowed.ok() ? FromWire(asked.command.plan()) : Result<DesiredState>(allowed);
      const auto plan = state.ok() ? DryRun(*state) : Result<Plan>(state.status());
      if (plan.ok())
        *result.mutable_plan() = ToWire(*plan);
      else
        result.set_error(Brief(plan.status().message(), kLongestReason));
      Answer(asked, std::move(result));
    } else if (asked.command.has_observe()) {
      *result.mutable_observed() = Survey(machine_, parts_.catalog, state_, options_.node);
      Answer(asked, std::move(result));
    } else if (asked.command.has_refresh() && reconciler_.Report().generation.value == 0) {
      result.set_error("no desired state is in force on " + options_.node);
      Answer(asked, std::move(result));
    } else if (asked.command.has_refresh() && reconciler_.counters().scans == asked.scans_before) {
      commands_.push_back(std::move(asked));  // until the scan has been made
    } else if (asked.command.has_refresh()) {
      Answer(asked, std::move(result));
    } else {
      result.set_error("this agent (" + options_.version + ") does not know the command; update it");
      Answer(asked, std::move(result));
    }
  }
}

}  // namespace railwright
