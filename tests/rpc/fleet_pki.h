// FleetPki: the certificates of a test's fleet. One CA a process: making keys is what costs.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "controller/identity/caller.h"
#include "core/identity/digest.h"
#include "core/identity/verify.h"
#include "tests/support/test_ca.h"

namespace railwright {

class FleetPki {
 public:
  static FleetPki& Get() {
    static FleetPki pki;
    return pki;
  }
  const TestCa& ca() const { return ca_; }

  /// A node's UUID, always the same for a name.
  static std::string UuidOf(const std::string& node) {
    std::string hex = identity::Hex(Must(identity::Sha256(node)));
    for (const std::size_t at : {8, 13, 18, 23}) hex.insert(at, "-");
    return hex.substr(0, 36);
  }
  /// The same for each call: a node that dials again shows what it showed.
  Shown Node(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_[UuidOf(name)] = name;
    const auto found = nodes_.find(name);
    return found != nodes_.end() ? found->second : nodes_.emplace(name, ca_.Node(UuidOf(name))).first->second;
  }
  /// As a registry in which all of them have joined.
  Result<Caller> Judge(const identity::Peer& peer) {
    Caller caller;
    caller.serial = peer.serial;
    if (peer.id.party() == identity::Party::kOperator) {
      caller.kind = Caller::Kind::kOperator;
      caller.name = peer.id.name();
      caller.roles = peer.authority->roles;
      caller.scope = peer.authority->scope;
      return caller;
    }
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(peer.id.name());
    if (found == names_.end()) return Status(Code::kUnauthenticated, "no such node has joined");
    caller.kind = Caller::Kind::kNode;
    caller.uuid = peer.id.name();
    caller.name = found->second;
    return caller;
  }

 private:
  const TestCa ca_;
  std::mutex mutex_;
  std::map<std::string, std::string> names_;  // by UUID
  std::map<std::string, Shown> nodes_;
};

}  // namespace railwright
