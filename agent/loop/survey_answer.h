// The answer to Command.observe: everything that this node can read of itself, as a message.
#pragma once

#include <cstddef>
#include <string>

#include "railwright/machine.h"
#include "railwright/setting.h"
#include "railwright/state.h"
#include "railwright/v1/state.pb.h"

namespace railwright {

/// Bytes of one answer. The controller takes messages of 1 MiB (controller/rpc/rpc_server.cc); what stands
/// around the answer has a few bytes.
inline constexpr std::size_t kSurveyMost = 1000 << 10;

/// Reads every setting on the node and on the ports that `state` declares; never writes. When it declares
/// none, on those that could be fabric ports, which are then told as proposals. A value above
/// Reporter::kLongestText is cut and says so; values that find no room within `most` bytes are counted
/// instead (`left_out`).
v1::ObservedNode Survey(const Machine& machine, const Catalog& catalog, const DesiredState& state,
                        const std::string& node, std::size_t most = kSurveyMost);

}  // namespace railwright
