#include "railwright/result.h"

#include <cerrno>
#include <cstring>

namespace railwright {

std::string_view Name(Code code) {
  switch (code) {
    case Code::kOk: return "Ok";
    case Code::kUnknown: return "Unknown";
    case Code::kInvalidArgument: return "InvalidArgument";
    case Code::kDeadlineExceeded: return "DeadlineExceeded";
    case Code::kNotFound: return "NotFound";
    case Code::kAlreadyExists: return "AlreadyExists";
    case Code::kPermissionDenied: return "PermissionDenied";
    case Code::kResourceExhausted: return "ResourceExhausted";
    case Code::kFailedPrecondition: return "FailedPrecondition";
    case Code::kAborted: return "Aborted";
    case Code::kUnimplemented: return "Unimplemented";
    case Code::kInternal: return "Internal";
    case Code::kUnavailable: return "Unavailable";
    case Code::kDataLoss: return "DataLoss";
    case Code::kUnauthenticated: return "Unauthenticated";
  }
  return "Unknown";
}

std::string Status::ToString() const {
  if (ok()) return "Ok";
  return std::string(Name(code_)) + ": " + message_;
}

Status Status::Within(std::string_view prefix) const {
  if (ok()) return *this;
  return Status(code_, std::string(prefix) + ": " + message_, errno_);
}

Code CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENODEV:
    case ENXIO: return Code::kNotFound;
    case EOPNOTSUPP:
    case ENOSYS: return Code::kUnimplemented;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case EBUSY:
    case EAGAIN: return Code::kUnavailable;
    case EINVAL:
    case ERANGE: return Code::kInvalidArgument;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return Code::kResourceExhausted;
    case EEXIST: return Code::kAlreadyExists;
    case ETIMEDOUT: return Code::kDeadlineExceeded;
    default: return Code::kInternal;
  }
}

Status FromErrno(int error_number, std::string_view what, std::string_view kernel_says) {
  std::string message(what);
  message += ": ";
  message += std::strerror(error_number);
  if (!kernel_says.empty()) {
    message += ": ";
    message += kernel_says;
  }
  return Status(CodeOf(error_number), std::move(message), error_number);
}

}  // namespace railwright
