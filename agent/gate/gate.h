// Gate: the privileged half's side. Stands where the session stood before it went into a process of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "agent/gate/door.h"
#include "agent/gate/messages.h"
#include "agent/gate/neighbours.h"
#include "railwright/result.h"

namespace railwright::gate {

struct GateOptions {
  /// Frames for the front that may wait; more means that it does not read: it is cut off.
  std::size_t queue_frames = 1024;
  std::size_t queue_bytes = std::size_t{32} << 20;
  /// For how long a frame that has begun may stand still, in either direction.
  std::chrono::milliseconds stuck{15'000};
  /// For how long a front that has come may say nothing.
  std::chrono::milliseconds version_within{5'000};
  /// What no controller sends: more frames than these at once and then a second end the connection, more
  /// commands are answered as busy.
  double frames_at_once = 1024, frames_a_second = 200;
  double commands_at_once = 64, commands_a_second = 10;
  /// For what was said last to go out when the gate goes, and for the front to end then.
  std::chrono::milliseconds goodbye{500}, front_ends_within{1'200};
};

/// The front may lie about anything that is not signed; it cannot end, hold up or fill this process. Owns one
/// thread. What the front passes on is posted to `inbox` by PostToLoop's rules, under connection numbers that
/// are given here: they go on over all fronts, so that nothing of an older front belongs to a newer one.
/// `hello` is asked in that thread. `on_state` is called there after each change of StateText.
class Gate {
 public:
  struct Parts {
    std::function<v1::Hello()> hello;
    Queue<FromController>& inbox;
    std::function<void()> on_state{};
    /// A line about a front that came or was cut off; in the gate's thread.
    std::function<void(const std::string&)> told{};
    /// Asked through the front; outlives the gate. Null: what the front says of neighbours is dropped.
    Neighbours* neighbours = nullptr;
  };
  Gate(GateOptions options, std::unique_ptr<Door> door, Parts parts);
  ~Gate();  ///< what was sent before goes out first, if it can; a front that was started here ends
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// To be called once.
  Status Start();
  /// Never blocks. Dropped when it is meant for another connection than the last.
  void Send(ToController message);
  /// Lets the front dial anew, to see whether the way to the controller works. Connections above the number
  /// that is returned were dialled after this call; also those of a front that comes later.
  std::uint64_t Redial();
  /// What the front says of its session: "connected", "refused: <sentence>", "connecting: <last error>".
  /// Without a front: "connecting: …" and why.
  std::string StateText() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace railwright::gate
