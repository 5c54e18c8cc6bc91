// Logins: by what name railctl speaks to which cluster. One folder a context, below the operator's home.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/identity.h"
#include "core/identity/key.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright::cli {

/// An operator's key and certificate for one cluster.
struct Login {
  std::string context;  ///< its name here: the cluster's, unless another was asked for
  identity::ClusterName cluster;
  std::string operator_name;
  identity::PrivateKey key;                  ///< key.pem, mode 0600
  std::vector<identity::Certificate> chain;  ///< chain.pem, leaf first
  std::vector<identity::Certificate> roots;  ///< roots.pem
  std::vector<identity::Endpoint> controllers, enrolment;
  std::uint64_t renewals = 0;
};

/// `directory` is made, with mode 0700, when something is written.
class Logins {
 public:
  explicit Logins(std::string directory) : directory_(std::move(directory)) {}

  /// `name`, or with "" the one in use. NotFound says which there are and how one is made. DataLoss names the
  /// file; FailedPrecondition: a key that others may read.
  Result<std::shared_ptr<const Login>> Load(const std::string& name) const;
  /// Whole or not at all; the certificate last. The first login becomes the one in use.
  Status Save(const Login& login) const;
  Status Use(const std::string& name) const;
  Status Remove(const std::string& name) const;
  /// Sorted. Empty when there is no folder.
  std::vector<std::string> Names() const;
  /// "" when none is.
  std::string InUse() const;
  const std::string& directory() const { return directory_; }

 private:
  std::string Folder(const std::string& name) const { return directory_ + "/contexts/" + name; }
  const std::string directory_;
};

}  // namespace railwright::cli
