// irq.affinity: the interrupts of a fabric card are delivered on CPUs of its own NUMA node, and not all on
// one.
#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "agent/checks/findings.h"
#include "core/decode/cpu_list.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kOnline = "/sys/devices/system/cpu/online";
/// Two vectors may be the two halves of one queue (virtio's input.0 and output.0), and meet by chance.
constexpr std::size_t kFew = 2;

/// The files that the kernel puts into /proc/irq/<n>; every other entry is the folder of a handler.
constexpr std::array<std::string_view, 7> kNoHandlers{
    "affinity_hint", "effective_affinity", "effective_affinity_list",
    "node",          "smp_affinity",       "smp_affinity_list",
    "spurious"};

/// Parts of the names by which drivers ask for the vector of commands and events: mlx5 and mlx4 (async,
/// pages, cmd, ctrl), bnxt_re (creq), irdma, ice and i40e, mana, ena and efa, ionic, virtio.
constexpr std::array<std::string_view, 13> kControl{"async",   "_pages",  "_cmd",    "_ctrl", "creq",
                                                    "AEQ",     ":misc",   "_hwc",    "mgmnt", "adminq",
                                                    "notifyq", "-config", "-control"};

bool IsControl(std::string_view handler) {
  return std::any_of(kControl.begin(), kControl.end(),
                     [&](std::string_view part) { return handler.find(part) != std::string_view::npos; });
}

/// A vector of the card, as far as it was looked at.
struct Vector {
  std::uint64_t irq = 0;
  std::optional<CpuList> cpus;  ///< where it is delivered
  std::string handler;          ///< who asked for its completions; "" for nobody
};

/// The card, and the CPUs that are as near to it as any.
struct Card {
  std::string name;   ///< "0000:3b:00.0 (ens1)"
  std::string place;  ///< "NUMA node 0, CPUs 0-31,64-95"
  CpuList near;
};

std::string Text(const Vector& vector) {
  return "IRQ " + std::to_string(vector.irq) + " " + vector.handler + " on CPU " + vector.cpus->Text();
}

/// The first `most` of them, and how many more there are.
std::vector<std::string> Texts(const std::vector<Vector>& vectors, std::size_t most) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(most, vectors.size()); ++i) texts.push_back(Text(vectors[i]));
  if (vectors.size() > most) texts.push_back("and " + std::to_string(vectors.size() - most) + " more");
  return texts;
}

Result<CpuList> ReadCpuList(const Machine& machine, const std::string& path) {
  RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(path));
  auto cpus = CpuList::Parse(text);
  if (!cpus.ok()) return cpus.status().Within(path);
  return cpus;
}

/// What the kernel really uses; where it does not tell, what it may use.
Status ReadCpus(const Machine& machine, Vector& vector) {
  if (vector.cpus) return Ok();
  const std::string folder = "/proc/irq/" + std::to_string(vector.irq);
  auto cpus = ReadCpuList(machine, folder + "/effective_affinity_list");
  if (cpus.status().code() == Code::kNotFound) cpus = ReadCpuList(machine, folder + "/smp_affinity_list");
  if (!cpus.ok()) return cpus.status();
  if (cpus->empty()) return Status(Code::kDataLoss, folder + "/effective_affinity_list names no CPU");
  vector.cpus = *std::move(cpus);
  return Ok();
}

/// A vector that is allocated and not asked for has no folder, and is never delivered.
Status ReadHandler(const Machine& machine, Vector& vector) {
  RW_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      machine.List("/proc/irq/" + std::to_string(vector.irq)));
  for (const std::string& name : names) {
    if (std::find(kNoHandlers.begin(), kNoHandlers.end(), name) != kNoHandlers.end() || IsControl(name))
      continue;
    vector.handler = name;
    break;
  }
  return Ok();
}

class IrqAffinity final : public Check {
 public:
  const CheckInfo& info() const override {
    static const CheckInfo info{
        .key = "irq.affinity",
        .code = "RW-2106",
        .help = "The interrupts of a fabric card are delivered on CPUs of its NUMA node, and not all on one.",
        .why =
            "A completion that is handled on the other socket crosses the processors' link for each packet, "
            "and "
            "one CPU that takes the interrupts of a whole card becomes its limit. Single nodes are slow or "
            "unsteady then. Who polls (the data path of NCCL) feels little of it; sockets, storage and the "
            "setting up of connections feel all.",
        .interface =
            "sysfs: msi_irqs, local_cpulist, numa_node; /proc/irq/<n>/effective_affinity_list and its "
            "folders",
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)}};
    return info;
  }

  std::vector<Finding> Run(const Machine& machine, const NodeFacts& facts) const override {
    std::optional<Result<CpuList>> online;
    return ForEachFabricPort(info(), facts, [&](const BoundPort& port) {
      if (port.bdf.empty())
        return MakeFinding(info(), port.port.name, Verdict::kNotApplicable, "NoPciDevice",
                           port.netdev + " sits on no PCI function of its own", "");
      if (!online) online = ReadCpuList(machine, std::string(kOnline));
      if (!online->ok()) return Unread(info(), port.port.name, online->status());
      auto finding = Judge(machine, port, **online);
      return finding.ok() ? *finding : Unread(info(), port.port.name, finding.status());
    });
  }

 private:
  Finding NotApplicable(const std::string& target, std::string reason, std::string message) const {
    return MakeFinding(info(), target, Verdict::kNotApplicable, std::move(reason), std::move(message), "");
  }

  Result<Finding> Judge(const Machine& machine, const BoundPort& port, const CpuList& online) const {
    const std::string& name = port.port.name;
    if (online.Count() == 1)
      return NotApplicable(name, "OneCpu", "this node has one CPU, which takes every interrupt");
    const std::string device = "/sys/bus/pci/devices/" + port.bdf;
    const auto node = machine.Get(device + "/numa_node");
    // A kernel without NUMA has no such file.
    if (!node.ok() && node.status().code() != Code::kNotFound) return node.status();
    RW_ASSIGN_OR_RETURN(const CpuList local, ReadCpuList(machine, device + "/local_cpulist"));
    Card card{port.bdf + " (" + port.netdev + ")",
              node.ok() && *node != "-1" ? "NUMA node " + *node : "no NUMA node told", local.Both(online)};
    card.place += ", CPUs " + card.near.Text();
    if (card.near.empty())
      return NotApplicable(name, "NoNearCpu",
                           "no CPU of the card's own NUMA node (" + node.value_or("?") + ") is online");
    const auto irqs = machine.List(device + "/msi_irqs");
    // The function itself is there, as its CPUs were read.
    if (irqs.status().code() == Code::kNotFound || (irqs.ok() && irqs->empty()))
      return NotApplicable(name, "NoMsiVectors", card.name + " has no message-signalled interrupts");
    if (!irqs.ok()) return irqs.status();
    std::vector<Vector> vectors;
    for (const std::string& irq : *irqs) {
      const auto number = ParseWhole(irq, 0, INT32_MAX);
      if (!number.ok()) return number.status().Within(device + "/msi_irqs");
      vectors.push_back({*number, {}, {}});
    }
    std::sort(vectors.begin(), vectors.end(), [](const Vector& a, const Vector& b) { return a.irq < b.irq; });

    Finding finding = MakeFinding(info(), name, Verdict::kCompliant, "", "", "");
    finding.evidence.push_back(card.name + ": " + card.place + ", " + std::to_string(vectors.size()) +
                               " vectors");
    if (card.near.Covers(online)) {
      finding.verdict = Verdict::kNotApplicable;
      finding.reason = "NoFarCpu";
      finding.message = "every CPU is as near to " + card.name + " as any other (" + card.place + ")";
    } else {
      bool away = false;
      for (Vector& vector : vectors) {
        RW_RETURN_IF_ERROR(ReadCpus(machine, vector));
        away = away || !card.near.Covers(*vector.cpus);
      }
      // Where a vector is costs a read, whose it is a listing; only the second tells which ones count. Of a
      // card that has none away, it does not matter.
      if (away) {
        for (Vector& vector : vectors) RW_RETURN_IF_ERROR(ReadHandler(machine, vector));
        std::erase_if(vectors, [](const Vector& vector) { return vector.handler.empty(); });
        JudgePlaces(card, vectors, finding);
        if (finding.verdict != Verdict::kCompliant) return finding;
      }
      if (finding.observed.empty()) finding.observed = "near";
    }
    RW_RETURN_IF_ERROR(JudgeSpread(machine, card, vectors, finding));
    return finding;
  }

  /// `used`: the completion vectors, all read.
  void JudgePlaces(const Card& card, const std::vector<Vector>& used, Finding& finding) const {
    std::vector<Vector> far, unclear;
    std::set<std::string> taken;  // the CPUs, while no vector has several
    bool one_each = true;
    for (const Vector& vector : used) {
      one_each = one_each && vector.cpus->Count() == 1 && taken.insert(vector.cpus->Text()).second;
      if (card.near.Covers(*vector.cpus)) continue;
      (card.near.Both(*vector.cpus).empty() ? far : unclear).push_back(vector);
    }
    const std::string all = std::to_string(used.size());
    if (far.empty() && unclear.empty()) return;
    if (far.empty()) {
      finding.verdict = Verdict::kUnknown;
      finding.reason = "IrqPlaceUnclear";
      finding.message = std::to_string(unclear.size()) + " of " + all + " completion vectors of " +
                        card.name + " may be delivered near the card or far from it (" + card.place +
                        "): " + Joined(Texts(unclear, 3), ", ");
      finding.fix = Fix(card);
      return;
    }
    // mlx5 gives each vector a CPU of its own, the near ones first; a card that has more vectors than its
    // node has CPUs goes on at the next node.
    if (one_each && used.size() - far.size() == card.near.Count()) {
      finding.observed = "near, as far as the node has CPUs";
      finding.evidence.push_back("each CPU of the node has one of the " + all +
                                 " completion vectors; the other " + std::to_string(far.size()) +
                                 " have a CPU each beyond it");
      return;
    }
    finding.verdict = Verdict::kDrifted;
    finding.reason = "IrqFarFromCard";
    finding.observed = std::to_string(far.size()) + " of " + all + " far";
    finding.message = std::to_string(far.size()) + " of " + all + " completion vectors of " + card.name +
                      " are delivered away from the card (" + card.place +
                      "): " + Joined(Texts(far, 3), ", ");
    finding.fix = Fix(card);
    for (std::string& line : Texts(far, 8)) finding.evidence.push_back(std::move(line));
  }

  /// Looks at vectors until two of the completion ones are on different CPUs.
  Status JudgeSpread(const Machine& machine, const Card& card, std::vector<Vector>& vectors,
                     Finding& finding) const {
    std::vector<Vector> used;
    for (Vector& vector : vectors) {
      if (vector.handler.empty()) RW_RETURN_IF_ERROR(ReadHandler(machine, vector));
      if (vector.handler.empty()) continue;
      RW_RETURN_IF_ERROR(ReadCpus(machine, vector));
      if (vector.cpus->Count() > 1 || (!used.empty() && *vector.cpus != *used.front().cpus)) {
        finding.evidence.push_back("its completion vectors are on more than one CPU");
        return Ok();
      }
      used.push_back(vector);
    }
    if (used.empty()) {
      if (finding.verdict == Verdict::kNotApplicable) return Ok();
      finding.verdict = Verdict::kUnknown;
      finding.reason = "NoChecksRun";
      finding.observed.clear();
      finding.message = "no driver has asked for a completion vector of " + card.name;
      finding.fix = "some drivers ask for them when the interface goes up: look at its link first";
      return Ok();
    }
    if (used.size() <= kFew || card.near.Count() == 1) {
      // Not which CPU: irqbalance moves them, and a report is sent when its text differs.
      finding.evidence.push_back(std::to_string(used.size()) + " of them for completions");
      return Ok();
    }
    finding.verdict = Verdict::kDrifted;
    finding.reason = "IrqsOnOneCpu";
    finding.observed = "all on CPU " + used.front().cpus->Text();
    finding.message = "all " + std::to_string(used.size()) + " completion vectors of " + card.name +
                      " are delivered on CPU " + used.front().cpus->Text() + ", though " +
                      std::to_string(card.near.Count()) + " are near the card (" + card.place +
                      "): " + Joined(Texts(used, 3), ", ");
    finding.fix = Fix(card);
    return Ok();
  }

  static std::string Fix(const Card& card) {
    return "let irqbalance place them by the card's node (`service.irqbalance: running`), or stop it and "
           "write one of the CPUs " +
           card.near.Text() +
           " to /proc/irq/N/smp_affinity_list of each; EIO there: a managed interrupt, which moves only when "
           "its driver places it anew";
  }
};

}  // namespace

std::unique_ptr<const Check> make_irq_affinity() { return std::make_unique<IrqAffinity>(); }

}  // namespace railwright
