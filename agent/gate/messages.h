// What the loop and the session say to each other. They are in two processes; the gate carries it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "railwright/mailbox.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

/// What comes from the controller for the loop. The state's original bytes travel inside v1::DesiredState.
struct FromController {
  std::variant<v1::DesiredState, v1::Command, v1::PauseList, v1::ReportAck, v1::Welcome> body;
  std::uint64_t connection = 0;  ///< which connection it came over, from 1; a Welcome begins a new one
  std::string host = {};         ///< of a Welcome: the controller's address, "" over a Unix socket
};

/// How much may wait for the loop, which may be busy with a long pass. A controller has at most one state,
/// one list of pauses and one acknowledgement under way, and few commands; a dry run holds a whole state.
inline constexpr std::size_t kInboxMessages = 256;
inline constexpr std::size_t kInboxBytes = 16 << 20;
QueueBound<FromController> InboxBound(std::size_t messages = kInboxMessages, std::size_t bytes = kInboxBytes);

/// Puts a message where the loop finds it. A state or a list of pauses takes the place of an older one that
/// still waits there, a Welcome that of everything. False when there is no room for anything else.
bool PostToLoop(Queue<FromController>& inbox, FromController message);

/// What the loop hands out for the controller; it goes out in order. Kept by the loop until acknowledged.
struct ToController {
  std::variant<v1::Ack, v1::Nack, v1::Report, v1::Heartbeat, v1::CommandResult, v1::Catalog> body;
  /// The connection that it is meant for, as in FromController. When that one has ended it is dropped: what
  /// was built upon one connection's Welcome never leaks into the next.
  std::uint64_t connection = 0;
};

/// The answer to a command for which there is no room.
ToController BusyAnswer(const v1::Command& command, std::uint64_t connection);

}  // namespace railwright
