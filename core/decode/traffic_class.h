// The traffic class that MLNX_OFED gives to all RDMA traffic of a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// What the driver's file shows.
struct TrafficClass {
  std::string global;              ///< "106"; "unset" when applications choose for themselves
  std::vector<std::string> rules;  ///< for some addresses only: "src_ip=10.0.0.1,tclass=104"
};

/// The file's text: `Global tclass=106`, then a line a rule; empty when nothing is set. Internal when a line
/// is neither.
Result<TrafficClass> ReadTrafficClass(std::string_view text);
/// 0…255, 0x00…0xff or `unset`; numbers become decimal.
Result<std::string> CanonicalTrafficClass(std::string_view value);
/// What is written for a canonical value: `unset` is a negative number.
std::string KernelTrafficClass(std::string_view canonical);

}  // namespace railwright
