#include "tests/support/mlx5_machine.h"

#include <algorithm>
#include <cerrno>

#include "core/decode/pfc_storm.h"

namespace railwright {
namespace {

constexpr std::string_view kDcb = "/dcb/rail0/";
constexpr std::string_view kStorm = "/ethtool/rail0/pfc_storm_prevention";

}  // namespace

Mlx5Machine::Mlx5Machine() {
  Put("/sys/class/net/rail0/device/uevent", "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:18:00.0");
  Put(kStorm, "8000");
  Show();
}

void Mlx5Machine::Show() {
  const std::string port(kDcb);
  Put(port + "dcbx", dcb.mode.Text());
  Put(port + "pfc", dcb.pfc.Text());
  Put(port + "ets", dcb.ets.Text());
  Put(port + "maxrate", dcb.maxrate.Text());
  Put(port + "buffer", dcb.buffer.Text());
  Put(port + "app", AppTableText(dcb.apps));
}

Status Mlx5Machine::Set(std::string_view path, std::string_view value) {
  if (path == kStorm) return SetStorm(value);
  if (!path.starts_with(kDcb)) return FakeMachine::Set(path, value);
  const std::string_view leaf = path.substr(kDcb.size());
  dcb_writes.push_back(std::string(leaf) + ": " + std::string(value));
  // Errors that a test has asked for, and paths that are not there.
  const std::string before = Value(path);
  RW_RETURN_IF_ERROR(FakeMachine::Set(path, before));
  int answer = 0;
  if (leaf == "app") {
    RW_RETURN_IF_ERROR(ParseAppTable(value).status());
    answer = SetApps(value);
  } else {
    const auto changed = ChangedDcbText(leaf, before, value);
    if (!changed.ok()) return changed.status();
    answer = SetFields(leaf, *changed);
  }
  Show();
  if (answer == 0) return Ok();
  if (answer > 0) return Status(Code::kFailedPrecondition, std::string(path) + ": refused by the driver");
  return FromErrno(-answer, path, "answered in the payload");
}

Status Mlx5Machine::SetStorm(std::string_view value) {
  const auto milliseconds = ParsePfcStorm(value, 1, kPfcStormAuto - 1);
  if (!milliseconds.ok()) return milliseconds.status();
  const std::uint16_t kept = *milliseconds == kPfcStormAuto ? std::uint16_t{100} : *milliseconds;
  if (kept != kPfcStormOff && (kept < 80 || kept > 8000)) return FromErrno(EINVAL, kStorm);
  return FakeMachine::Set(kStorm, PfcStormText(kept));
}

int Mlx5Machine::SetFields(std::string_view leaf, std::string_view changed) {
  if (leaf == "dcbx") return dcb.SetDcbx(DcbxMode::Parse(changed).value().bits);
  if (leaf == "pfc") return dcb.SetPfc(DcbPfc::Parse(changed).value());
  if (leaf == "ets") return dcb.SetEts(DcbEts::Parse(changed).value());
  if (leaf == "maxrate") return dcb.SetMaxRate(DcbMaxRate::Parse(changed).value());
  return dcb.SetBuffer(DcbBuffer::Parse(changed).value());
}

// As the backend: additions first, then what is listed and not wanted.
int Mlx5Machine::SetApps(std::string_view value) {
  const std::vector<DcbApp> wanted = ParseAppTable(value).value();
  const auto holds = [](const std::vector<DcbApp>& table, const DcbApp& app) {
    return std::find(table.begin(), table.end(), app) != table.end();
  };
  for (const DcbApp& app : wanted)
    if (!holds(dcb.apps, app))
      if (const int answer = dcb.SetApp(app); answer != 0) return answer;
  for (const DcbApp& app : std::vector<DcbApp>(dcb.apps))
    if (!holds(wanted, app))
      if (const int answer = dcb.DeleteApp(app); answer != 0) return answer;
  return 0;
}

}  // namespace railwright
