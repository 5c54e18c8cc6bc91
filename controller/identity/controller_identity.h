// ControllerIdentity: the keys and certificates that a controller keeps on its disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/envelope.h"
#include "core/identity/issuer.h"
#include "core/identity/key.h"
#include "core/identity/secret.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright {

/// `<state-dir>/identity/`, mode 0700:
///
///     ca.key          the CA's key, mode 0600
///     ca.pem          its certificate: the only root
///     controller.key  the controller's TLS key, mode 0600
///     controller.pem  its chain, leaf first, the CA last: a joining node compares the CA with its pin
///     signer.key      the Ed25519 key that signs desired states, mode 0600; it may be taken off this host
///     signers.pem     whose signatures nodes take (core/identity/signers.h)
///     names           by which names the controller is dialled, one a line; a change counts from the next
///                     renewal on, which it causes
///
/// A value, not for two threads at once; what is handed out stays as it was.
class ControllerIdentity {
 public:
  static constexpr const char* kFolder = "identity";

  /// Makes all of it, whole or not at all. AlreadyExists when there is one: a second CA would shut out every
  /// node. InvalidArgument: no names, or more than 32.
  static Result<ControllerIdentity> Make(const std::string& state_dir, const identity::ClusterName& cluster,
                                         const std::vector<identity::ServerName>& names, identity::Time now);
  /// NotFound says how one is made; FailedPrecondition: a key that others may read; DataLoss names the file
  /// that is damaged or does not fit the others.
  static Result<ControllerIdentity> Load(const std::string& state_dir);

  /// A new leaf for the same key when two thirds of the old one's life are over, when the clock stands before
  /// it, or when `names` has changed. True: there is a new one, on disk and here.
  Result<bool> RenewIfDue(identity::Time now);

  const identity::ClusterName& cluster() const { return issuer_->cluster(); }
  /// Lives as long as this or any copy of the pointer.
  const std::shared_ptr<const identity::Issuer>& issuer() const { return issuer_; }
  const identity::PrivateKey& key() const { return *key_; }
  /// The leaf, then the CA.
  const std::vector<identity::Certificate>& chain() const { return chain_; }
  std::vector<identity::Certificate> roots() const { return {issuer_->certificate()}; }
  std::string chain_pem() const { return identity::Certificate::ChainToPem(chain_); }
  std::string roots_pem() const { return issuer_->certificate().ToPem(); }
  Result<identity::Secret> key_pem() const { return key_->ToPem(); }
  /// What stands in a join line.
  const identity::Pin& ca_pin() const { return issuer_->certificate().pin(); }
  const identity::TrustedSigners& signers() const { return signers_; }
  /// Null where the key is kept off this host.
  const identity::PrivateKey* signer() const { return signer_.get(); }
  const std::vector<identity::ServerName>& names() const { return names_; }

  /// For those that read files themselves.
  std::string chain_file() const { return folder_ + "/controller.pem"; }
  std::string key_file() const { return folder_ + "/controller.key"; }
  std::string roots_file() const { return folder_ + "/ca.pem"; }

 private:
  ControllerIdentity() = default;

  std::string folder_;
  std::shared_ptr<const identity::Issuer> issuer_;
  std::shared_ptr<const identity::PrivateKey> key_, signer_;
  std::vector<identity::Certificate> chain_;
  identity::TrustedSigners signers_;
  std::vector<identity::ServerName> names_;
};

}  // namespace railwright
