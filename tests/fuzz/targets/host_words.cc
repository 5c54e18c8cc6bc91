// Small texts of drivers, systemd and control groups: the first byte tells which parser.
#include "core/decode/driver_version.h"
#include "core/decode/mixed_value.h"
#include "core/decode/rdma_cgroup.h"
#include "core/decode/unit_name.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

void CheckDriver(std::string_view text) {
  const std::string ofed = OfedRelease(text);
  ALWAYS(ofed.empty() || (text.find(ofed) != std::string_view::npos && ofed.find('-') != std::string::npos),
         ofed);
  ALWAYS(ofed.find_first_not_of("0123456789.-") == std::string::npos, ofed);
  const NvidiaDriver nvidia = ParseNvidiaVersion(text);
  ALWAYS(nvidia.version.empty() || text.find(nvidia.version) != std::string_view::npos, nvidia.version);
  ALWAYS(UpstreamVersion(text).size() <= text.size(), text);
  (void)ParseKernelRelease(text);
}

void CheckLimits(std::string_view text) {
  if (const auto limits = ParseRdmaLimits(text); limits.ok()) {
    const std::string one = RdmaLimitsText(*limits);
    const auto again = ParseRdmaLimits(one);
    ALWAYS(again.ok() && RdmaLimitsText(*again) == one, one, text);
  } else {
    ALWAYS(limits.status().code() == Code::kInvalidArgument, limits.status().message());
  }
  const auto lines = DecodeRdmaMax("system.slice", text);
  ALWAYS(lines.ok() || lines.status().code() == Code::kDataLoss, lines.status().message());
}

void CheckUnit(std::string_view text) {
  const std::string full = FullUnitName(text);
  ALWAYS(FullUnitName(full) == full, full);
  ALWAYS(!IsUnitName(text) || full == text, full);
  if (const auto wish = UnitWish::Parse(text); wish.ok()) {
    const auto again = UnitWish::Parse(wish->Text());
    ALWAYS(again.ok() && again->Text() == wish->Text(), wish->Text());
  }
}

void CheckMixed(std::string_view text) {
  const std::vector<std::string> names{"a", "b", "c"};
  const auto values = ParseMixed(text, names);
  if (!values.ok()) {
    ALWAYS(values.status().code() == Code::kInvalidArgument, values.status().message());
    return;
  }
  ALWAYS(values->size() == names.size(), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::uint8_t kind = input.Byte();
  const std::string_view text = input.Rest();
  switch (kind % 4) {
    case 0: CheckDriver(text); break;
    case 1: CheckLimits(text); break;
    case 2: CheckUnit(text); break;
    default: CheckMixed(text); break;
  }
  return 0;
}
