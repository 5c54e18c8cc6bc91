// Who the front runs as.
#pragma once

#include <sys/types.h>

#include <string>

#include "railwright/result.h"

namespace railwright::gate {

/// The user that the package makes for the front.
inline constexpr const char* kFrontUser = "railwright-front";

struct FrontUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
};

/// `asked`: a user's name, "" = kFrontUser when there is one, else nobody. Without root the front runs as
/// whoever runs this; NotFound when there is no user `asked`, PermissionDenied when it is another than may be
/// had.
Result<FrontUser> FindFrontUser(const std::string& asked);

}  // namespace railwright::gate
