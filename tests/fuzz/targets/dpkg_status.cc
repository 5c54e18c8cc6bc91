// /var/lib/dpkg/status, and the order of Debian versions.
#include <tuple>

#include "core/decode/dpkg_status.h"
#include "core/decode/package_wish.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  // The first line: three versions and a wish.
  fuzz::Input first(data, std::min(size, input.Line().size()));
  std::string_view line = first.Rest();
  std::string_view versions[3];
  for (std::string_view& one : versions) {
    one = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), one.size() + 1));
  }
  const auto [a, b, c] = std::tuple(versions[0], versions[1], versions[2]);
  ALWAYS(CompareDebianVersions(a, a) == 0, a);
  ALWAYS(Sign(CompareDebianVersions(a, b)) == -Sign(CompareDebianVersions(b, a)), a, b);
  if (CompareDebianVersions(a, b) <= 0 && CompareDebianVersions(b, c) <= 0)
    ALWAYS(CompareDebianVersions(a, c) <= 0, a, std::string(b) + " " + std::string(c));
  if (const auto wish = PackageWish::Parse(line); wish.ok()) {
    const auto again = PackageWish::Parse(wish->Text());
    ALWAYS(again.ok() && again->Text() == wish->Text(), wish->Text(), line);
    for (const std::string_view version : {a, b, std::string_view()})
      ALWAYS(wish->FulfilledBy(version, true) == again->FulfilledBy(version, true), wish->Text(), version);
  }

  const std::string_view text = input.Rest();
  const auto status = DpkgStatus::Decode(text);
  if (!status.ok()) {
    ALWAYS(status.status().code() == Code::kDataLoss, status.status().message());
    return 0;
  }
  for (const std::string& name : status->Names()) {
    const DebianPackage* package = status->Find(name);
    ALWAYS(package != nullptr, name, text);
    ALWAYS(!package->state.empty() && package->state != "not-installed", name, text);
  }
  return 0;
}
