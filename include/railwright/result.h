// Status and Result<T>: errors that cannot be ignored and that keep the kernel's own words.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace railwright {

/// What a caller should do about an error; the numbers follow gRPC's canonical codes.
enum class Code : std::uint8_t {
  kOk = 0,
  kUnknown = 2,
  kInvalidArgument = 3,     ///< the request is wrong and will stay wrong (EINVAL, ERANGE)
  kDeadlineExceeded = 4,    ///< the answer did not come in time
  kNotFound = 5,            ///< the object is not there (ENOENT, ENODEV)
  kAlreadyExists = 6,       ///< EEXIST
  kPermissionDenied = 7,    ///< EPERM, EACCES
  kResourceExhausted = 8,   ///< disk full, too many (ENOSPC, EDQUOT, EMFILE)
  kFailedPrecondition = 9,  ///< not until the world is changed: a rule forbids it, a plan is stale
  kAborted = 10,            ///< retry the whole read-modify-write
  kUnimplemented = 12,      ///< this kernel, driver or build lacks it (EOPNOTSUPP)
  kInternal = 13,           ///< everything else
  kUnavailable = 14,        ///< retry this call (EBUSY, EAGAIN)
  kDataLoss = 15,           ///< what was stored is damaged
  kUnauthenticated = 16,    ///< nobody proved who they are: no certificate, a wrong one, a bad signature
};

/// The stable spelling of a code, for logs and machine output: "NotFound", "PermissionDenied" …
std::string_view Name(Code code);

/// Success, or a code with a sentence for a person and the errno it came from (0 when none).
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message, int error_number = 0)
      : code_(code), errno_(error_number), message_(std::move(message)) {
    assert(code != Code::kOk);
  }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  /// The errno behind it, or 0.
  int error_number() const { return errno_; }
  const std::string& message() const { return message_; }
  /// "NotFound: /sys/class/net/rail9: No such file or directory".
  std::string ToString() const;
  /// The same error with "prefix: " before its message; success stays success.
  Status Within(std::string_view prefix) const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  Code code_ = Code::kOk;
  int errno_ = 0;
  std::string message_;
};

inline Status Ok() { return {}; }

/// The canonical code of an errno: ENOENT/ENODEV/ENXIO → NotFound, EOPNOTSUPP/ENOSYS → Unimplemented,
/// EACCES/EPERM → PermissionDenied, EBUSY/EAGAIN → Unavailable, EINVAL/ERANGE → InvalidArgument,
/// ENOSPC/EDQUOT/EMFILE/ENFILE → ResourceExhausted, EEXIST → AlreadyExists, the rest Internal.
Code CodeOf(int error_number);
/// "<what>: <strerror>[: <kernel's own sentence>]" with the code of `error_number`.
Status FromErrno(int error_number, std::string_view what, std::string_view kernel_says = {});

/// A value or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT: implicit on purpose
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {  // NOLINT
    assert(!std::get<1>(state_).ok());
  }

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  /// By value, so that what a temporary held outlives it: `for (const auto& x : F().value())`.
  T value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  T value_or(T other) const& { return ok() ? value() : std::move(other); }
  /// Ok when there is a value.
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace railwright

/// Returns the status from the enclosing function when it is an error.
#define RW_RETURN_IF_ERROR(expr)                                    \
  do {                                                              \
    if (auto rw_status = (expr); !rw_status.ok()) return rw_status; \
  } while (false)

#define RW_CONCAT_INNER(a, b) a##b
#define RW_CONCAT(a, b) RW_CONCAT_INNER(a, b)
/// `RW_ASSIGN_OR_RETURN(auto x, F());` – binds the value, or returns the status.
#define RW_ASSIGN_OR_RETURN(lhs, expr)                                                        \
  auto RW_CONCAT(rw_result_, __LINE__) = (expr);                                              \
  if (!RW_CONCAT(rw_result_, __LINE__).ok()) return RW_CONCAT(rw_result_, __LINE__).status(); \
  lhs = std::move(*RW_CONCAT(rw_result_, __LINE__))
