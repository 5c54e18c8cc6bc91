#include "agent/gate/front_user.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <optional>

namespace railwright::gate {
namespace {

// Of nobody where no user database names it (user_namespaces(7): the overflow user).
constexpr uid_t kNobody = 65534;

std::optional<FrontUser> Find(const std::string& name) {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return FrontUser{entry.pw_uid, entry.pw_gid, name};
}

}  // namespace

Result<FrontUser> FindFrontUser(const std::string& asked) {
  const auto found = asked.empty() ? std::nullopt : Find(asked);
  if (!asked.empty() && !found)
    return Status(Code::kNotFound, "--front-user " + asked + ": there is no such user on this host");
  if (::geteuid() != 0) {
    if (found && found->uid != ::geteuid())
      return Status(Code::kPermissionDenied,
                    "--front-user " + asked + ": only root may start it as another user");
    return FrontUser{::geteuid(), ::getegid(), "this user"};
  }
  if (found) return *found;
  if (const auto own = Find(kFrontUser)) return *own;
  return Find("nobody").value_or(FrontUser{kNobody, kNobody, "nobody"});
}

}  // namespace railwright::gate
