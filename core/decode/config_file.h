// Configuration files that a profile may hold whole: which paths, and what must not stand in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// Checks a path's form: absolute, without "..", ".", "//", a "/" at the end, blanks or control characters,
/// at most 200 characters.
Status CheckConfigPath(std::string_view path);
/// Whether the list of this build allows the path.
bool IsKnownConfigPath(std::string_view path);
/// Whether no list may ever allow the path: what decides who may change this node (Railwright's own files
/// outside /etc/railwright/files.d) and what the host trusts or logs in with.
bool IsForbiddenConfigPath(std::string_view path);
/// The patterns of this build, for messages.
std::string KnownConfigPaths();

/// The whole content in its one form: at most 64 KiB, no NUL and no CR, ended by a line break; "" stands for
/// "no such file". InvalidArgument names the line of anything that would run a program: install/remove in
/// modprobe.d, RUN, PROGRAM and IMPORT{program} in udev rules, and sysctls outside the list of this build in
/// sysctl.d. Such a line would be a shell from the wire.
Result<std::string> CanonicalConfigText(std::string_view path, std::string_view text);

/// The greatest content, in bytes.
inline constexpr std::size_t kConfigTextLimit = 64 * 1024;

}  // namespace railwright
