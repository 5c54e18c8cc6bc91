// grpc_status: the one place where our Status and gRPC's meet. The codes have the same numbers.
#pragma once

#include <grpcpp/support/status.h>

#include "controller/rpc/status_text.h"
#include "railwright/result.h"

namespace railwright {

inline grpc::Status ToGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), FitStatusText(status.message())};
}

}  // namespace railwright
