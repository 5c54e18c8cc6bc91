// Canned answers of a controller: one small fleet with every kind of trouble.
#pragma once

#include "railwright/v1/admin.pb.h"
#include "tests/support/sim_clock.h"

namespace railwright::cli {

/// A node that is connected, settled and compliant at `generation`.
v1::NodeStatus GoodNode(const std::string& name, std::uint64_t generation = 42);
v1::Finding MtuFinding(v1::Verdict verdict, const std::string& target = "rail0");

/// gpu-001 good; gpu-002, gpu-003 with the same drifted MTU; gpu-004 silent; gpu-005 refused the generation;
/// gpu-006 a failed read; gpu-007 on its way; a pause.
v1::StatusResponse TroubledFleet();
/// `count` good nodes.
v1::StatusResponse GoodFleet(int count);

/// Four nodes: an MTU on all, an address of its own on each, a sysctl on two, one refused step, one silent
/// node.
v1::PlanResult MixedPlan();
v1::PlanResult EmptyPlan();

v1::WhyResponse MtuWhy();

/// Generation 42 after 41 in its second wave of three: 5 of 32 nodes done, three changing, one refused it,
/// one that it waits for, two away.
v1::RolloutsResponse RunningRollout();
/// The same when all waves have held: `away` nodes are not connected.
v1::RolloutsResponse DoneRollout(std::uint32_t away = 0);

/// Microseconds before SimClock's beginning (2026-11-30T00:00:00Z).
std::int64_t Before(std::chrono::microseconds age);

}  // namespace railwright::cli
