// Neighbours: asked through the front, since this half has no socket of the internet's families.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "agent/gate/frame.h"
#include "railwright/peer_probe.h"
#include "railwright/result.h"

namespace railwright::gate {

/// What the loop asks, and what the front says of it. The front may lie: that one answers who does not, or
/// that none does. It cannot name one that was not asked, nor answer an older question. Any thread.
class Neighbours final : public PeerProbe {
 public:
  /// Frames for the front go there; without a front they are lost, and nobody answers. For the gate; null
  /// ends it.
  void Through(std::function<void(Frame)> send);
  /// A kHeard of the front. InvalidArgument when it is none.
  Status Take(const Frame& heard);

  void Ask(const std::string& netdev, const std::vector<std::string>& addresses) override;
  std::vector<std::string> Answered(const std::string& netdev) override;
  std::string Obstacle(const std::string& netdev) const override;

 private:
  struct Question {
    std::uint64_t number = 0;
    std::vector<std::string> asked, answered;
    std::string obstacle;
  };

  mutable std::mutex mutex_;
  std::function<void(Frame)> send_;
  std::uint64_t number_ = 0;
  std::map<std::string, Question> questions_;  // by interface
};

}  // namespace railwright::gate
