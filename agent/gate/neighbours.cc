#include "agent/gate/neighbours.h"

#include <algorithm>
#include <utility>

#include "agent/gate/body.h"

namespace railwright::gate {

void Neighbours::Through(std::function<void(Frame)> send) {
  const std::lock_guard lock(mutex_);
  send_ = std::move(send);
}

Status Neighbours::Take(const Frame& heard) {
  RW_ASSIGN_OR_RETURN(PeerAnswer answer, ReadHeard(heard));
  const std::lock_guard lock(mutex_);
  const auto question = std::find_if(questions_.begin(), questions_.end(),
                                     [&](const auto& one) { return one.second.number == heard.connection; });
  if (question == questions_.end()) return Ok();  // of a question before the last
  std::erase_if(answer.answered, [&](const std::string& address) {
    const auto& asked = question->second.asked;
    return std::find(asked.begin(), asked.end(), address) == asked.end();
  });
  question->second.answered = std::move(answer.answered);
  question->second.obstacle = std::move(answer.obstacle);
  return Ok();
}

void Neighbours::Ask(const std::string& netdev, const std::vector<std::string>& addresses) {
  const std::lock_guard lock(mutex_);
  questions_[netdev] = {++number_, addresses, {}, {}};
  if (send_) send_(AskPeersFrame(number_, {netdev, addresses}));
}

std::vector<std::string> Neighbours::Answered(const std::string& netdev) {
  const std::lock_guard lock(mutex_);
  const auto question = questions_.find(netdev);
  return question == questions_.end() ? std::vector<std::string>() : question->second.answered;
}

std::string Neighbours::Obstacle(const std::string& netdev) const {
  const std::lock_guard lock(mutex_);
  const auto question = questions_.find(netdev);
  return question == questions_.end() ? std::string() : question->second.obstacle;
}

}  // namespace railwright::gate
