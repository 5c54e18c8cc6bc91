// Values for every setting: the first line is a key, the rest its value.
#include "core/decode/values.h"
#include "railwright/setting.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

const Catalog& TheCatalog() {
  static const Catalog catalog = MakeCatalog();
  return catalog;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view key = input.Line();
  const std::string_view value = input.Rest();
  const auto match = TheCatalog().Find(key);
  if (!match.ok()) {
    ALWAYS(match.status().code() == Code::kNotFound, match.status().message());
    return 0;
  }
  const auto same = TheCatalog().Find(match->key);
  ALWAYS(same.ok() && same->key == match->key && same->setting == match->setting, match->key, key);
  const Setting& setting = *match->setting;
  ALWAYS(setting.CanonicalParam(match->param) == match->param, match->param, key);
  const auto canonical = setting.Canonical(match->param, value);
  if (!canonical.ok()) {
    ALWAYS(canonical.status().code() == Code::kInvalidArgument, canonical.status().ToString());
    ALWAYS(canonical.status().message().size() <= 4096, canonical.status().message());
    return 0;
  }
  ALWAYS(canonical->size() <= 2 * value.size() + 4096, *canonical, value);
  const auto again = setting.Canonical(match->param, *canonical);
  ALWAYS(again.ok() && *again == *canonical, *canonical, again.ok() ? *again : again.status().message());

  BoundPort port;
  port.port = {"rail0", PortRole::kFabric, "", "rail0", {"10.10.0.1/24", "fd00:10::1/64"}, {"10.10.0.254"}};
  port.netdev = "rail0";
  const NodeFacts facts{"gpu-001", {"10.10.0.0/16"}, {port}};
  const bool on_port = setting.TargetsOf(match->param) == TargetKind::kPort;
  Target target{on_port ? "rail0" : "", match->param, on_port ? &port : nullptr, &facts, ""};
  const auto desired = setting.Desired(target, *canonical);
  if (!desired.ok()) return 0;
  target.wish = *desired;
  (void)setting.DisruptionOf(target, "", *desired);
  (void)setting.Satisfied(target, *desired, Observation::Value(std::string(value)));
  (void)setting.Satisfied(target, *desired, Observation::Absent());
  return 0;
}
