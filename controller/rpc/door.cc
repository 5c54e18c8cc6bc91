#include "controller/rpc/door.h"

#include <algorithm>

#include "railwright/v1/access.pb.h"
#include "railwright/v1/admin.pb.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {
namespace {

/// Proven leaves and budgets that are remembered: more than members can be; beyond it the oldest knowledge
/// goes.
constexpr std::size_t kRemembered = 65'536;
constexpr std::chrono::seconds kTellAgain{10};

std::optional<Role> RoleOf(v1::Role role) {
  switch (role) {
    case v1::ROLE_VIEWER: return Role::kViewer;
    case v1::ROLE_OPERATOR: return Role::kOperator;
    case v1::ROLE_APPROVER: return Role::kApprover;
    case v1::ROLE_ADMIN: return Role::kAdmin;
    case v1::ROLE_NODE: return Role::kNode;
    default: return std::nullopt;  // not told, or of a newer .proto: nobody
  }
}

/// Every method of our services with its role, from their descriptors.
std::map<std::string, Role, std::less<>> Roles() {
  std::map<std::string, Role, std::less<>> roles;
  for (const auto* file : {v1::VersionRequest::descriptor()->file(), v1::Hello::descriptor()->file()})
    for (int s = 0; s < file->service_count(); ++s)
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto* method = file->service(s)->method(m);
        if (const auto role = RoleOf(method->options().GetExtension(v1::required_role)))
          roles.emplace(file->service(s)->full_name() + "/" + method->name(), *role);
      }
  return roles;
}

}  // namespace

std::optional<Role> Door::RoleFor(std::string_view method) {
  static const auto kRoles = Roles();
  const auto found = kRoles.find(method);
  return found == kRoles.end() ? std::nullopt : std::optional<Role>(found->second);
}

Status Door::JudgeChain(const std::vector<identity::Certificate>& chain) {
  const auto wall = clock_.WallNow();
  RW_ASSIGN_OR_RETURN(identity::Peer peer,
                      identity::Verify(chain, roots_(), {cluster_, identity::Purpose::kClient}, wall));
  RW_RETURN_IF_ERROR(judge_(peer).status());
  const std::lock_guard lock(mutex_);
  if (proven_.size() >= kRemembered) proven_.clear();
  proven_.insert_or_assign(chain.front().ToPem(), Proven{std::move(peer), chain.front().public_key().der()});
  return Ok();
}

Result<Door::Proven> Door::ProvenBy(const std::string& leaf_pem) const {
  const auto wall = clock_.WallNow();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = proven_.find(leaf_pem); found != proven_.end()) {
      if (found->second.peer.not_after > wall) return found->second;
      return Status(Code::kUnauthenticated,
                    "the certificate of " + found->second.peer.id.Uri() +
                        " has expired since the connection began; dial again with a new one");
    }
  }
  RW_ASSIGN_OR_RETURN(const identity::Certificate leaf, identity::Certificate::FromPem(leaf_pem));
  RW_ASSIGN_OR_RETURN(identity::Peer peer,
                      identity::Verify({leaf}, roots_(), {cluster_, identity::Purpose::kClient}, wall));
  return Proven{std::move(peer), leaf.public_key().der()};
}

Result<Caller> Door::CallerOf(const grpc::ServerContextBase& context) {
  const auto leaf = context.auth_context()->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  const std::string from = context.peer();
  if (leaf.empty()) {
    // Only the Unix socket is served without certificates, and the kernel lets root and the controller's user
    // in.
    if (!from.starts_with("unix:")) return Status(Code::kUnauthenticated, "no certificate was shown");
    Caller local;
    local.kind = Caller::Kind::kLocal;
    local.name = "local";
    local.from = "unix:";
    return local;
  }
  RW_ASSIGN_OR_RETURN(const Proven proven, ProvenBy(std::string(leaf.front().data(), leaf.front().size())));
  RW_ASSIGN_OR_RETURN(Caller caller, judge_(proven.peer));
  caller.from = from;
  caller.key = proven.key;
  caller.not_after = proven.peer.not_after;
  return caller;
}

Status Door::Spend(const Caller& caller) {
  if (caller.kind == Caller::Kind::kLocal) return Ok();
  const Budget& budget = caller.kind == Caller::Kind::kNode ? options_.node : options_.operators;
  const auto now = clock_.Now();
  const std::lock_guard lock(mutex_);
  if (spent_.size() >= kRemembered) spent_.clear();
  Spent& spent = spent_.try_emplace(caller.Text(), Spent{budget.burst, now}).first->second;
  const double passed = std::chrono::duration<double>(now - spent.at).count();
  spent.tokens = std::min(budget.burst, spent.tokens + std::max(0.0, passed) * budget.per_second);
  spent.at = now;
  if (spent.tokens < 1)
    return Status(Code::kResourceExhausted,
                  caller.Text() + " asks more often than it may; try again in some seconds");
  spent.tokens -= 1;
  return Ok();
}

Status Door::Refuse(const Caller& caller, std::string_view method, Status why) {
  bool tell = refused_ != nullptr;
  if (tell) {
    const auto now = clock_.Now();
    const std::lock_guard lock(mutex_);
    if (spent_.size() >= kRemembered) spent_.clear();
    Spent& spent = spent_.try_emplace(caller.Text(), Spent{options_.node.burst, now}).first->second;
    tell = spent.told == std::chrono::steady_clock::time_point{} || now - spent.told >= kTellAgain;
    if (tell) spent.told = now;
  }
  if (tell) refused_(caller, method, why);
  return why;
}

Status Door::Admit(const Caller& caller, std::string_view method) {
  const auto role = RoleFor(method);
  if (!role)
    return Refuse(caller, method, Status(Code::kPermissionDenied, std::string(method) + " is for nobody"));
  if (!caller.Has(*role))
    return Refuse(
        caller, method,
        Status(Code::kPermissionDenied, caller.Text() + " may not call " + std::string(method) +
                                            ": it needs the role " + std::string(Name(*role)) +
                                            "\nnext: an administrator gives roles with railctl token create "
                                            "--operator NAME --role ROLE"));
  if (Status spent = Spend(caller); !spent.ok()) return Refuse(caller, method, std::move(spent));
  return Ok();
}

Result<Caller> Door::Enter(const grpc::ServerContextBase& context, std::string_view method) {
  auto caller = CallerOf(context);
  if (!caller.ok()) {
    Caller nobody;
    nobody.from = context.peer();
    return Refuse(nobody, method, caller.status());
  }
  RW_RETURN_IF_ERROR(Admit(*caller, method));
  return caller;
}

}  // namespace railwright
