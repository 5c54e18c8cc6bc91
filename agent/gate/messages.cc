#include "agent/gate/messages.h"

#include <utility>

namespace railwright {

QueueBound<FromController> InboxBound(std::size_t messages, std::size_t bytes) {
  return {messages, bytes, [](const FromController& message) {
            return std::visit([](const auto& body) { return body.ByteSizeLong(); }, message.body);
          }};
}

bool PostToLoop(Queue<FromController>& inbox, FromController message) {
  const bool begins_anew = std::holds_alternative<v1::Welcome>(message.body);
  const std::size_t kind = message.body.index();
  // A whole state, which makes an older one worthless; a Welcome begins anew.
  if (!begins_anew && !std::holds_alternative<v1::DesiredState>(message.body) &&
      !std::holds_alternative<v1::PauseList>(message.body))
    return inbox.Post(std::move(message));
  return inbox.PostNewest(std::move(message), [=](const FromController& older) {
    return begins_anew || older.body.index() == kind;
  });
}

ToController BusyAnswer(const v1::Command& command, std::uint64_t connection) {
  v1::CommandResult busy;
  busy.set_id(command.id());
  busy.set_error("this agent is busy and too much waits for it; try again later");
  return {std::move(busy), connection};
}

}  // namespace railwright
