#include "agent/offline/proposal.h"

#include "agent/reconcile/survey.h"

namespace railwright::offline {

std::string ProposePorts(const Machine& machine) {
  const std::vector<Port> ports = LikelyPorts(machine);
  if (ports.empty()) return {};
  std::string text = "Which ports belong to the fabric is yours to say. On this machine it could be:\n ";
  for (const Port& port : ports) text += " --port " + port.name + "=fabric:" + port.netdev;
  return text + "\n";
}

}  // namespace railwright::offline
