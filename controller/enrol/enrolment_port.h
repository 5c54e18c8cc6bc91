// EnrolmentPort: where those ask who have no valid certificate yet, or no longer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "controller/enrol/answers.h"
#include "controller/enrol/connection.h"
#include "controller/enrol/peers.h"
#include "controller/identity/controller_identity.h"
#include "controller/identity/registry.h"
#include "core/identity/secret.h"
#include "core/identity/server_name.h"
#include "railwright/clock.h"
#include "railwright/result.h"

namespace railwright {

/// Listens only while the registry expects somebody. README.md has its bounds.
class EnrolmentPort {
 public:
  struct Terms {
    std::vector<identity::Endpoint> listen;       ///< IP addresses; port 0: a free one
    std::vector<identity::Endpoint> controllers;  ///< told to who joins: where agents are served
    /// Told as well: where this port is reached. None: the controller's names with the port of the first of
    /// `listen`.
    std::vector<identity::Endpoint> enrolment = {};
    std::chrono::milliseconds deadline{10'000};  ///< from accept to answer
    std::size_t most_connections = 64, most_of_one_peer = 8;
    Peers::Terms peers = {};
  };

  /// `registry` and `clock` outlive it.
  EnrolmentPort(Registry& registry, const Clock& clock, Terms terms);
  ~EnrolmentPort();
  EnrolmentPort(const EnrolmentPort&) = delete;
  EnrolmentPort& operator=(const EnrolmentPort&) = delete;

  /// What it shows and hands out; before Start, and again after each renewal of the controller's leaf.
  Status Show(const ControllerIdentity& identity);
  /// Binds each address once, so that one that is in use is told now; then listens whenever somebody is
  /// expected. AlreadyExists: in use. InvalidArgument: no IP address, or nothing in `controllers`.
  /// FailedPrecondition: nothing was shown.
  Status Start();
  /// Ends all connections; requests that are being looked at are finished first.
  void Stop();

  /// With the ports that were given for 0.
  std::vector<identity::Endpoint> bound() const { return terms_.listen; }
  bool listening() const { return listening_; }

 private:
  struct Job {
    std::uint64_t id;
    identity::Secret body;
    std::string address;
  };
  struct Answered {
    std::uint64_t id;
    EnrolmentOutcome outcome;
  };
  struct Shown {
    std::shared_ptr<ssl_ctx_st> tls;
    EnrolmentWorld world;
  };

  Result<int> Listen(const identity::Endpoint& at);
  Status OpenListeners();
  void CloseListeners();
  void Run();
  void OpenOrClose();
  void Accept(int listener);
  bool MakeRoom(const std::string& peer);
  void TakeAnswers();
  void Attend(std::uint64_t id, EnrolmentConnection& connection);
  void Expire();
  void Work();
  void Log(const EnrolmentOutcome& outcome, const std::string& address);
  std::shared_ptr<const Shown> shown() const;

  Registry& registry_;
  const Clock& clock_;
  Terms terms_;

  mutable std::mutex shown_mutex_;
  std::shared_ptr<const Shown> shown_;
  std::vector<identity::ServerName> names_;

  // The thread of the sockets.
  std::vector<int> listeners_;
  std::map<std::uint64_t, std::unique_ptr<EnrolmentConnection>> connections_;
  std::uint64_t next_id_ = 1;
  Peers peers_;
  int wake_ = -1, spare_ = -1;
  EnrolmentConnection::Time next_look_{}, next_complaint_{}, log_since_{};
  std::size_t logged_ = 0;
  std::thread thread_;
  std::atomic<bool> stopping_ = false, listening_ = false;

  std::mutex jobs_mutex_;
  std::condition_variable has_job_;
  std::deque<Job> jobs_;
  std::deque<Answered> answered_;
  bool no_more_jobs_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace railwright
