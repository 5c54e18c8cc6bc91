// One field of a port's PCI Express Device Control register; pcie.max_read_request and pcie.relaxed_ordering
// are fields of the same one.
#pragma once

#include <cerrno>
#include <string>

#include "agent/settings/pci_place.h"
#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {

/// The field's text as `/pci/<bdf>/devctl` shows it.
inline Result<Observation> ObserveDeviceControl(const Machine& machine, const Target& target,
                                                const std::string& field) {
  RW_ASSIGN_OR_RETURN(const PciPlace place, FindPciPlace(machine, target));
  if (const auto* none = std::get_if<Observation>(&place)) return *none;
  const std::string& bdf = std::get<std::string>(place);
  // The fields of a virtual function are reserved (PCI Express Base Specification, SR-IOV chapter).
  RW_ASSIGN_OR_RETURN(const bool is_virtual, IsVirtualFunction(machine, bdf));
  if (is_virtual)
    return Observation::NotApplicable(
        "VirtualFunction", bdf + " is a virtual function; what its physical function has counts for it");
  const std::string path = "/pci/" + bdf + "/devctl";
  const auto text = machine.Get(path);
  if (!text.ok() && text.status().code() == Code::kNotFound && text.status().error_number() == ENOENT)
    return Observation::NotApplicable(
        "NoPciExpress", target.port->netdev + " is no PCI Express function, so it has no such register");
  if (!text.ok()) return text.status();
  const auto fields = Fields::Parse(*text);
  if (!fields.ok()) return fields.status().Within(path);
  const std::string* value = fields->Find(field);
  if (value == nullptr)
    return Status(Code::kInternal, path + ": " + Quoted(*text) + " does not tell " + field);
  return Observation::Value(*value);
}

inline Status ApplyDeviceControl(Machine& machine, const Target& target, const std::string& field,
                                 std::string_view value) {
  RW_ASSIGN_OR_RETURN(const PciPlace place, FindPciPlace(machine, target));
  if (const auto* none = std::get_if<Observation>(&place))
    return Status(Code::kFailedPrecondition, none->message);
  return machine.Set("/pci/" + std::get<std::string>(place) + "/devctl", field + "=" + std::string(value));
}

}  // namespace railwright
