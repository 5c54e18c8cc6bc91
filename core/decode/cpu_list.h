// Sets of processors as the kernel lists them: local_cpulist, cpu/online, smp_affinity_list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// Processors by the kernel's numbers, kept as ranges: two sockets with hyper-threads are four of them.
class CpuList {
 public:
  /// No kernel is built for as many (x86: 8192).
  static constexpr std::uint32_t kMost = 65536;

  /// "0-31,64-95", numbers 0…65535; "" is the empty set. InvalidArgument for what is no such list, and for
  /// the forms that the kernel reads but does not print ("all", "0-31:2/4").
  static Result<CpuList> Parse(std::string_view text);

  /// As the kernel prints it: in order, neighbours joined.
  std::string Text() const;
  std::uint32_t Count() const;
  bool empty() const { return ranges_.empty(); }
  /// Whether each processor of `other` is in this set; an empty `other` is covered by any.
  bool Covers(const CpuList& other) const;
  /// The processors that are in both.
  CpuList Both(const CpuList& other) const;

  friend bool operator==(const CpuList&, const CpuList&) = default;

 private:
  struct Range {
    std::uint32_t first = 0, last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<Range> ranges_;  // in order, a gap between each two
};

}  // namespace railwright
