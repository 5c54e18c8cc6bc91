#include "agent/reconcile/busy.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "agent/reconcile/line_field.h"
#include "agent/reconcile/text.h"

namespace railwright {
namespace {

template <class Use>
void ForEachLine(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end != 0) use(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

// RTR as well: the end that only receives (ib_write_bw's server) never leaves it, and a flap there ends the
// sender's connection.
bool IsConnected(std::string_view state) { return state == "RTR" || state == "RTS" || state == "SQD"; }

// "pid 4711 has 8 connected queue pairs on mlx5_0, 2 more users"; "" when nobody has any.
std::string UsersOf(const Machine& machine, const std::string& ibdev) {
  const auto text = machine.Get("/rdma/dev/" + ibdev + "/qps");
  if (!text.ok()) {
    if (text.status().code() == Code::kNotFound)
      return {};  // the device is gone, and its queue pairs with it
    return "whether a job uses " + ibdev + " cannot be told: " + OneLine(text.status().message(), 256);
  }
  std::map<std::string, std::uint32_t> users;
  ForEachLine(*text, [&](std::string_view line) {
    const std::string_view type = LineField(line, "type");
    if (!IsConnected(LineField(line, "state")) || type == "GSI" || type == "SMI") return;
    const std::string_view pid = LineField(line, "pid");
    ++users[pid.empty() ? "the kernel's " + std::string(LineField(line, "kernel"))
                        : "pid " + std::string(pid)];
  });
  if (users.empty()) return {};
  const auto first = std::max_element(users.begin(), users.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string sentence = first->first + " has " + std::to_string(first->second) + " connected queue pair" +
                         (first->second == 1 ? "" : "s") + " on " + ibdev;
  if (users.size() > 1)
    sentence += ", and " + std::to_string(users.size() - 1) + " more user" + (users.size() > 2 ? "s" : "");
  return sentence;
}

std::string ProcessOnGpus(const Machine& machine) {
  const auto gpus = machine.List("/nvml");
  if (!gpus.ok()) {
    // Without the driver nobody runs on a GPU. With it and without its library (a driver in a container
    // brings its own), or with one that does not fit, who runs is hidden.
    const Code code = gpus.status().code();
    const bool no_library = code == Code::kNotFound || code == Code::kUnimplemented;
    if (no_library && machine.List("/sys/module/nvidia").status().code() == Code::kNotFound) return {};
    return "whether a GPU runs a process cannot be told: " + OneLine(gpus.status().message(), 256);
  }
  for (const std::string& gpu : *gpus) {
    if (std::count(gpu.begin(), gpu.end(), ':') != 2) continue;  // "driver", beside the GPUs
    const auto processes = machine.Get("/nvml/" + gpu + "/processes");
    if (!processes.ok())
      return "whether GPU " + gpu +
             " runs a process cannot be told: " + OneLine(processes.status().message(), 256);
    std::string who;
    ForEachLine(*processes, [&](std::string_view line) {
      if (who.empty()) who = "pid " + std::string(LineField(line, "pid")) + " runs on GPU " + gpu;
    });
    if (!who.empty()) return who;
  }
  return {};
}

std::string_view CardOf(std::string_view bdf) { return bdf.substr(0, bdf.rfind('.')); }

}  // namespace

Busy LookForJobs(const Machine& machine, const NodeFacts& facts) {
  Busy busy;
  for (const BoundPort& port : facts.ports) {
    if (port.netdev.empty() || port.ibdev.empty()) continue;
    if (std::string users = UsersOf(machine, port.ibdev); !users.empty())
      busy.ports.emplace(port.netdev, std::move(users));
  }
  busy.gpu = ProcessOnGpus(machine);
  return busy;
}

std::string HurtBy(const Busy& busy, const NodeFacts& facts, const Step& step) {
  if (!busy.gpu.empty()) return busy.gpu;
  for (const BoundPort& port : facts.ports) {
    const auto users = busy.ports.find(port.netdev);
    if (users == busy.ports.end()) continue;
    const bool hit = step.blast.empty() ||
                     std::any_of(step.blast.begin(), step.blast.end(), [&](const std::string& member) {
                       constexpr std::string_view kCard = "card:";
                       if (member.starts_with(kCard))
                         return CardOf(std::string_view(member).substr(kCard.size())) == CardOf(port.bdf);
                       if (member.find(':') != std::string::npos) return true;
                       return member == port.netdev;
                     });
    if (hit) return users->second;
  }
  return {};
}

}  // namespace railwright
