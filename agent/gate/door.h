// Door: where the privileged half gets its front from.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/files/descriptor.h"

namespace railwright::gate {

/// One thread uses it, the gate's.
class Door {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~Door() = default;

  /// To be polled for reading; -1: nothing to wait for.
  virtual int fd() const = 0;
  /// When Look is to be called though nothing is readable.
  virtual std::optional<Time> due() const = 0;
  /// Does what is due. The socket of a new front, when there is one; it takes the place of an older one.
  virtual std::optional<Descriptor> Look(Time now) = 0;
  /// The connection to the front has ended: it closed it, or (`misbehaved`) it was cut off.
  virtual void Lost(bool misbehaved, Time now) = 0;
  /// What happened to the front last: "ended by signal 9; it starts again in 200 ms". "" = nothing to say.
  virtual std::string text() const = 0;
  /// No front is wanted any more. One that was started here has `patience` to end by itself.
  virtual void Close(std::chrono::milliseconds patience) = 0;
};

/// How long to wait after the n-th failure in a row: first · 2ⁿ, at most `most`; none counts once a front has
/// held for `forgotten`.
struct Waits {
  std::chrono::milliseconds first{200}, most{10'000}, forgotten{60'000};
};

class Backoff {
 public:
  explicit Backoff(Waits waits) : waits_(waits) {}
  void Began(Door::Time now) { began_ = now; }
  std::chrono::milliseconds Failed(Door::Time now) {
    if (began_ && now - *began_ >= waits_.forgotten) failures_ = 0;
    began_.reset();
    std::chrono::milliseconds wait = waits_.first;
    for (int i = 0; i < failures_ && wait < waits_.most; ++i) wait *= 2;
    ++failures_;
    return wait < waits_.most ? wait : waits_.most;
  }

 private:
  const Waits waits_;
  int failures_ = 0;
  std::optional<Door::Time> began_;
};

}  // namespace railwright::gate
