#include "core/identity/openssl.h"

#include <openssl/err.h>

#include <string>

namespace railwright::identity {

ErrorScope::ErrorScope() { ERR_set_mark(); }
ErrorScope::~ErrorScope() { ERR_pop_to_mark(); }

Status ErrorScope::Failure(std::string_view what, Code code) const {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return Status(code, std::string(what) + " failed: " + (reason != nullptr ? reason : "no reason given"));
}

}  // namespace railwright::identity
