// /etc/nccl.conf as NCCL reads it: one NAME=value a line, from the first character of the line to its end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// What a file says of one variable. NCCL (src/misc/param.cc) takes a line up to the first "=" as the name
/// and all that follows as the value, blanks and a CR included; `setenv(…, 0)` lets the first line of a name
/// win, and the process environment and ~/.nccl.conf win over this file.
struct NcclVariable {
  bool found = false;
  std::string value;          ///< of the first line
  int line = 0;               ///< its number, from 1
  std::vector<int> repeated;  ///< later lines of the same name, which NCCL ignores
  std::vector<int> unread;    ///< lines such as "NCCL_X = 1" or " NCCL_X=1", which NCCL does not take for it
};
NcclVariable FindNcclVariable(std::string_view text, std::string_view name);

/// The file with the variable set: the first line of that name replaced, later ones removed, or a line added
/// at the end. Every other byte is kept.
std::string WithNcclVariable(std::string_view text, std::string_view name, std::string_view value);
/// The file without any line of that name.
std::string WithoutNcclVariable(std::string_view text, std::string_view name);

/// NCCL_ followed by capital letters, digits and "_"; at most 200 characters.
bool IsNcclName(std::string_view name);
/// Checks the value of a variable: printable, not empty, at most 1023 bytes (NCCL's own buffer), and in range
/// for the variables of which NCCL's documentation gives one.
Result<std::string> CanonicalNcclValue(std::string_view name, std::string_view value);

}  // namespace railwright
