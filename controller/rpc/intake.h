// intake: what an agent says, made small before anything keeps it. An agent is another program on another
// machine: of another version, broken, or hostile. That texts are valid UTF-8 protobuf has checked; they are
// cut between characters, so they stay so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "railwright/v1/agent.pb.h"

namespace railwright {

/// Bytes of what says who an agent is: its version, boot id, features, and of every hash (SHA-256 in hex has
/// 64).
inline constexpr std::size_t kIdentityMost = 256;
/// Bytes of any other text: keys, targets, values, sentences, lines of evidence. Agents cut theirs to 2 KiB
/// (agent/loop/reporter.h), so this cuts nothing that one of ours says.
inline constexpr std::size_t kTextMost = 4096;
/// Bytes of the values of a dry run's step, which agents do not cut: a `file.<path>` is a whole file.
inline constexpr std::size_t kStepValueMost = 64 << 10;
/// Texts of one list: features, lines of evidence (agents send 65 of them), what a step disturbs.
inline constexpr int kListMost = 256;
/// Values of one answer to `observe`: those of some 16 ports and 200 keys are 4,000.
inline constexpr int kObservedValuesMost = 20'000;
/// Ports of one answer to `observe`.
inline constexpr int kObservedPortsMost = 256;
/// Numbers (generations, sequences) above this are taken as this: 2^53, up to which readers of JSON are
/// exact, and far from where adding one would overflow.
inline constexpr std::uint64_t kNumberMost = std::uint64_t{1} << 53;

/// Cuts every text, list and number of `message` to the limits above, also those of fields that a later
/// version adds. A text that was cut says so at its end: "… [70000 bytes]".
void Bound(v1::AgentMessage& message);

}  // namespace railwright
