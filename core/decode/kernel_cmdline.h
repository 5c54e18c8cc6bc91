// The kernel command line: what it holds, and whether it holds what a profile wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// One parameter: "iommu=pt", or the flag "quiet".
struct KernelParameter {
  std::string name;   ///< as written; the kernel takes - and _ as the same
  std::string value;  ///< without quotes
  bool has_value = false;
  std::string Text() const;
};

/// Splits on blanks; double quotes hold blanks together (kernel lib/cmdline.c next_arg). Stops at "--", after
/// which everything belongs to init.
std::vector<KernelParameter> ParseKernelCmdline(std::string_view text);

/// Parameters that must be there, or with "!" must not.
struct CmdlineWish {
  struct Item {
    bool present = true;
    KernelParameter parameter;
  };
  std::vector<Item> items;

  /// `iommu=pt intel_iommu=on !quiet`, divided by blanks, or by commas as a list arrives. Since values may
  /// hold commas (isolcpus=1,2), a comma divides only where a parameter with "=" or "!" follows, or none with
  /// "=" came before.
  static Result<CmdlineWish> Parse(std::string_view text);
  std::string Text() const;
  /// What of the wish the command line lacks: "iommu=pt is missing", "quiet is there"; empty = fulfilled. A
  /// parameter given twice counts with its last value, except for those that add up (console, hugepages …).
  std::vector<std::string> Missing(const std::vector<KernelParameter>& cmdline) const;
};

/// The value of `name` in a shell-like file (GRUB_CMDLINE_LINUX="…"), the last assignment, without its
/// quotes; "" when there is none.
std::string ShellAssignment(std::string_view text, std::string_view name);

}  // namespace railwright
