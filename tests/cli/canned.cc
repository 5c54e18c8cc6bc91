#include "tests/cli/canned.h"

namespace railwright::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

void SetOrigin(v1::Origin& origin, const char* place) {
  origin.set_document("Profile/roce-lossless");
  origin.set_place(place);
}

v1::Step Step(const char* key, const char* target, const char* from, const char* to,
              v1::Disruption disruption, const char* why, const char* place) {
  v1::Step step;
  step.set_key(key);
  step.set_target(target);
  step.set_from(from);
  step.set_to(to);
  step.set_disruption(disruption);
  if (disruption != v1::DISRUPTION_NONE) step.add_blast(target);
  step.set_why(why);
  step.set_mode(v1::MODE_ENFORCE);
  SetOrigin(*step.mutable_origin(), place);
  return step;
}

}  // namespace

std::int64_t Before(std::chrono::microseconds age) {
  const auto now = SimClock().WallNow().time_since_epoch();
  return (std::chrono::duration_cast<std::chrono::microseconds>(now) - age).count();
}

v1::Finding MtuFinding(v1::Verdict verdict, const std::string& target) {
  v1::Finding finding;
  finding.set_code("RW-1101");
  finding.set_key("link.mtu");
  finding.set_target(target);
  finding.set_desired("4200");
  finding.set_verdict(verdict);
  finding.set_observed(verdict == v1::VERDICT_COMPLIANT ? "4200" : "1500");
  finding.set_mode(v1::MODE_ENFORCE);
  finding.add_evidence("/rtnl/link/" + target + "/mtu = " + finding.observed());
  SetOrigin(*finding.mutable_origin(), "site.yaml:14:5");
  return finding;
}

v1::NodeStatus GoodNode(const std::string& name, std::uint64_t generation) {
  v1::NodeStatus node;
  node.set_node(name);
  node.set_generation(generation);
  node.set_desired_generation(generation);
  node.set_verdict(v1::VERDICT_COMPLIANT);
  node.set_connected(true);
  node.set_settled(true);
  node.set_last_seen_unix_us(Before(seconds(2)));
  node.set_agent_version("0.1.0");
  node.set_role("gpu");
  node.set_rack("r1");
  *node.add_findings() = MtuFinding(v1::VERDICT_COMPLIANT);
  return node;
}

v1::StatusResponse GoodFleet(int count) {
  v1::StatusResponse fleet;
  fleet.set_generation(42);
  for (int i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    *fleet.add_nodes() = GoodNode("gpu-" + std::string(3 - number.size(), '0') + number);
  }
  return fleet;
}

v1::StatusResponse TroubledFleet() {
  v1::StatusResponse fleet = GoodFleet(7);
  for (const int i : {1, 2}) {
    v1::NodeStatus& node = *fleet.mutable_nodes(i);
    node.set_verdict(v1::VERDICT_DRIFTED);
    v1::Finding& finding = *node.mutable_findings(0);
    finding = MtuFinding(v1::VERDICT_DRIFTED);
    finding.set_reason("Contended");
    finding.set_message("it came back 5 times; NetworkManager is known to set it");
    finding.set_fix("stop NetworkManager from managing rail0");
  }
  v1::NodeStatus& silent = *fleet.mutable_nodes(3);
  silent.set_connected(false);
  silent.set_stale(true);
  silent.set_last_seen_unix_us(Before(minutes(9)));
  v1::NodeStatus& refused = *fleet.mutable_nodes(4);
  refused.set_generation(41);
  refused.set_nack("unknown setting \"qos.pfc\"");
  refused.add_missing_features("restore");
  v1::NodeStatus& blind = *fleet.mutable_nodes(5);
  blind.set_verdict(v1::VERDICT_UNKNOWN);
  v1::Finding& unread = *blind.add_findings();
  unread.set_code("RW-1110");
  unread.set_key("sysctl.net.ipv4.conf.all.arp_ignore");
  unread.set_desired("1");
  unread.set_verdict(v1::VERDICT_UNKNOWN);
  unread.set_reason("ReadFailed");
  unread.set_message("/proc/sys/net/ipv4/conf/all/arp_ignore: Input/output error");
  v1::NodeStatus& late = *fleet.mutable_nodes(6);
  late.set_generation(41);
  v1::Pause& pause = *fleet.add_pauses();
  pause.set_node("gpu-003");
  pause.set_key("link.mtu");
  pause.set_by("root@head");
  pause.set_reason("bench test");
  return fleet;
}

v1::PlanResult MixedPlan() {
  v1::PlanResult plan;
  plan.set_plan_id("7f3c2a8e91b0");
  plan.set_plan_hash("7f3c2a8e91b0aaaa");
  plan.set_base_generation(41);
  plan.set_next_generation(42);
  plan.add_documents_added("Profile/roce-lossless");
  plan.add_documents_changed("Cluster/pod-a");
  constexpr const char* kMtu = "RoCE takes its own MTU from it";
  for (int i = 1; i <= 6; ++i) {
    v1::Plan& node = *plan.add_nodes();
    node.set_node("gpu-00" + std::to_string(i));
    *node.add_steps() =
        Step("link.mtu", "rail0", "1500", "4200", v1::DISRUPTION_TRAFFIC_BLIP, kMtu, "site.yaml:14:5");
    const std::string address = "10.10.0." + std::to_string(i) + "/24";
    *node.add_steps() =
        Step("rail.address", "rail0", "", address.c_str(), v1::DISRUPTION_NONE, "", "site.yaml:6:5");
    if (i <= 2)
      *node.add_steps() = Step("sysctl.net.ipv4.conf.all.arp_ignore", "", "0", "1", v1::DISRUPTION_NONE,
                               "several rails answer for one another", "site.yaml:16:5");
    if (i == 6) {
      v1::Step step =
          Step("link.mtu", "mgmt", "1500", "4200", v1::DISRUPTION_TRAFFIC_BLIP, kMtu, "site.yaml:14:5");
      step.set_refused("ManagementPath");
      step.set_refused_message("mgmt is the way to the controller");
      *node.add_steps() = step;
    }
  }
  v1::NotAnswered& silent = *plan.add_not_answered();
  silent.set_node("gpu-007");
  silent.set_reason("not connected");
  silent.set_last_seen_unix_us(Before(hours(3)));
  for (const char* node : {"gpu-001", "gpu-002"}) {
    v1::ReleasedKey& released = *plan.add_released();
    released.set_node(node);
    released.set_key("nccl.NCCL_DEBUG");
  }
  plan.add_warnings("Profile/old selects no node");
  return plan;
}

v1::PlanResult EmptyPlan() {
  v1::PlanResult plan;
  plan.set_plan_id("000000000000");
  plan.set_plan_hash("000000000000bbbb");
  plan.set_base_generation(41);
  plan.set_next_generation(41);
  for (int i = 1; i <= 2; ++i) plan.add_nodes()->set_node("gpu-00" + std::to_string(i));
  return plan;
}

v1::WhyResponse MtuWhy() {
  v1::WhyResponse why;
  why.set_generation(42);
  v1::WhyTarget& target = *why.add_targets();
  target.set_target("rail0");
  target.set_value("4200");
  target.set_since_generation(40);
  v1::WhyLayer& winner = *target.add_layers();
  winner.set_value("4200");
  winner.set_precedence(10);
  winner.set_won(true);
  winner.set_mode(v1::MODE_ENFORCE);
  SetOrigin(*winner.mutable_origin(), "site.yaml:14:5");
  v1::WhyLayer& loser = *target.add_layers();
  loser.set_value("1500");
  loser.set_mode(v1::MODE_OBSERVE);
  loser.mutable_origin()->set_document("Profile/base");
  loser.mutable_origin()->set_place("base.yaml:3:5");
  *target.mutable_finding() = MtuFinding(v1::VERDICT_COMPLIANT);
  v1::ChangeRecord& change = *target.add_changes();
  change.set_kind(v1::CHANGE_KIND_CORRECTIVE);
  change.set_from("1500");
  change.set_to("4200");
  change.set_by("ip[4711]");
  change.set_noticed("event");
  change.set_ok(true);
  change.set_generation(42);
  change.set_at_unix_us(Before(seconds(12)));
  change.set_took_us(12'400);
  return why;
}

v1::RolloutsResponse RunningRollout() {
  v1::RolloutsResponse answer;
  answer.set_generation(42);
  v1::RolloutInfo& one = *answer.add_rollouts();
  one.set_generation(42);
  one.set_base(41);
  one.set_author("alice");
  one.set_created_unix_us(Before(minutes(5)));
  one.set_state(v1::ROLLOUT_STATE_RUNNING);
  one.set_policy("RolloutPolicy/careful");
  one.set_wave(2);
  for (const char* wave : {"1 node", "until 30% of them", "the rest"}) one.add_waves(wave);
  one.set_nodes(32);
  one.set_waiting(23);
  one.set_changing(3);
  one.set_done(5);
  one.set_failed(1);
  one.set_away(2);
  one.set_unavailable_most(4);
  one.set_approvals_needed(1);
  v1::RolloutApprovalInfo& bob = *one.add_approvals();
  bob.set_who("bob");
  bob.set_from("10.0.0.5");
  bob.set_reason("looked at the plan");
  bob.set_at_unix_us(Before(minutes(4)));
  one.add_waits_for("gpu-[006-008]: has not settled yet");
  one.add_waits_for("gpu-009: bad signature");
  one.add_waits_for("gpu-[031-032]: not connected, changed when connected again");
  const auto member = [&](const char* node, v1::RolloutNodeState state, const char* why, seconds since) {
    v1::RolloutNode& added = *one.add_members();
    added.set_node(node);
    added.set_wave(2);
    added.set_state(state);
    added.set_why(why);
    added.set_since_unix_us(Before(since));
  };
  member("gpu-005", v1::ROLLOUT_NODE_STATE_FAILED, "refused it: unknown setting \"qos.pfc\"", seconds(40));
  member("gpu-006", v1::ROLLOUT_NODE_STATE_CHANGING, "has not settled yet", seconds(9));
  member("gpu-007", v1::ROLLOUT_NODE_STATE_CHANGING, "has not settled yet", seconds(12));
  member("gpu-008", v1::ROLLOUT_NODE_STATE_CHANGING, "has not settled yet", seconds(3));
  member("gpu-009", v1::ROLLOUT_NODE_STATE_WAITING, "bad signature", seconds(12));
  return answer;
}

v1::RolloutsResponse DoneRollout(std::uint32_t away) {
  v1::RolloutsResponse answer = RunningRollout();
  v1::RolloutInfo& one = *answer.mutable_rollouts(0);
  one.set_state(v1::ROLLOUT_STATE_DONE);
  one.set_wave(3);
  one.set_changing(0);
  one.set_failed(0);
  one.set_done(32 - away);
  one.set_waiting(away);
  one.set_away(away);
  one.clear_members();
  one.clear_waits_for();
  return answer;
}

}  // namespace railwright::cli
