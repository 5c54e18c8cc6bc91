// Passage: the front's side. Carries between its session and the privileged half, and decides nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "agent/gate/bell.h"
#include "agent/gate/connection.h"
#include "agent/gate/messages.h"
#include "railwright/peer_probe.h"
#include "railwright/result.h"

namespace railwright::gate {

/// Connects to the socket at which the privileged half listens.
Result<Descriptor> ConnectToGate(const std::string& path);

/// For one connection to the privileged half. One thread calls Open and Run; a session's threads use the
/// rest.
class Passage {
 public:
  /// What it carries for.
  struct Caller {
    std::function<void(ToController)> send;
    std::function<std::string()> text;
    std::function<std::uint64_t()> redial{};  ///< Session::Redial
    PeerProbe* neighbours = nullptr;          ///< null: nobody answers
  };
  enum class End : std::uint8_t { kSignal, kPrivilegedHalf };

  Passage(Descriptor socket, Bell bell);

  /// Exchanges versions, and gets the first Hello. `signals`: a signalfd, or another descriptor that becomes
  /// readable when this is to end; -1: none. Unavailable when the other half is gone, FailedPrecondition when
  /// it is of another version, Aborted for `signals`.
  Status Open(int signals, std::chrono::milliseconds within = std::chrono::seconds(10));
  /// Carries until `signals` is readable or the privileged half has ended; then no Hello is asked any more.
  /// An error when that half sends what it may not.
  Result<End> Run(int signals, const Caller& caller);

  /// For the session: where what it hears is put, what it calls when its text has changed, and the Hello as
  /// it is now. When the privileged half does not answer that within `patience`: as it was last.
  Queue<FromController>& inbox() { return inbox_; }
  void Ring() const { bell_.Ring(); }
  v1::Hello Hello(std::chrono::milliseconds patience = std::chrono::seconds(2));

 private:
  Status Wait(int signals, std::chrono::milliseconds longest);
  Status OnFrame(const Frame& frame, const Caller& caller);
  Status AskPeers(const Frame& frame, const Caller& caller);
  void HearPeers(const Caller& caller);
  void OnHello(const Frame& frame);
  Status Write(const std::function<std::string()>& text);
  void Close();

  const Bell bell_;
  Connection connection_;
  Queue<FromController> inbox_;
  std::deque<Frame> waiting_;  // taken from the inbox
  std::string told_text_;
  struct Asked {
    std::uint64_t question;
    std::size_t peers, told;  ///< how many were asked; how many answers were handed over
    std::chrono::steady_clock::time_point until;
  };
  std::map<std::string, Asked> asked_peers_;  // by interface; those that may still answer

  std::mutex mutex_;
  std::condition_variable answered_;
  bool closed_ = false, known_ = false, version_seen_ = false;
  std::uint64_t asked_ = 0, sent_ = 0, answer_ = 0;  // numbers of questions
  v1::Hello hello_;
};

}  // namespace railwright::gate
