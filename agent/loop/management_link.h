// ManagementLink: which interface leads to the controller, and must not be disturbed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/reconcile/reconciler.h"
#include "railwright/result.h"

namespace railwright {

/// As told on the command line; else as the kernel's route to the controller says now, together with the
/// interface through which it was reached last: a link that has gone makes the kernel name another, by which
/// the controller need not be reachable. What is known is kept in a file, for a life that begins without a
/// controller. One thread uses it.
class ManagementLink {
 public:
  /// The interface towards an IP address now, "" for loopback (NetdevTowards). Must answer at once.
  using Route = std::function<Result<std::string>(const std::string& host)>;

  /// `told`: of --management-netdev, "" = none; then nothing is asked or kept. `controller`: as dialled; a
  /// Unix socket or loopback needs no interface. A host's name is not looked up: who answered is (Reached).
  ManagementLink(std::string told, const std::string& controller, std::string path, Route route);

  /// Reads the file and asks the kernel. An error says why the file cannot be read: it is as none.
  Status Start();
  /// The controller has answered from `host` ("": over a Unix socket); an address that was dialled as a
  /// number stays what it is.
  void Reached(const std::string& host);
  /// Asks the kernel again. To be called before each pass.
  void Look();
  const Management& management() const { return management_; }
  /// "eno1, rail0", "" when there is none to name, "unknown".
  std::string Text() const;
  /// Writes what is known when the file does not say so yet; durable when Ok.
  Status Keep();

 private:
  void Decide();

  const std::string told_, path_;
  const Route route_;
  bool local_ = false;
  bool by_name_ = false;
  std::string host_;                  // "" = not known: only a name, and never reached
  std::optional<std::string> now_;    // the route's last answer
  std::vector<std::string> reached_;  // when it was reached last, or as the file said
  std::string error_;                 // why there is no answer
  std::vector<std::string> kept_;     // in the file
  Management management_;
};

}  // namespace railwright
