// TLS as the enrolment port speaks it.
#pragma once

#include <memory>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/key.h"
#include "railwright/result.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace railwright {

/// TLS 1.3 alone, no resumption, no early data; shows `chain` whole (the CA last), asks for no certificate.
Result<std::shared_ptr<ssl_ctx_st>> EnrolmentTls(const std::vector<identity::Certificate>& chain,
                                                 const identity::PrivateKey& key);

}  // namespace railwright
