// FrontIdentity, NodeTrust: what `railwright-agent join` leaves in the state directory, for the two halves of
// the agent. What the half on the network needs it may read; what the privileged half believes it cannot
// write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/envelope.h"
#include "core/identity/identity.h"
#include "core/identity/key.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright {

/// `<state-dir>/front/`: the key and certificate by which this node speaks to its controller.
struct FrontIdentity {
  identity::ClusterName cluster;
  identity::NodeUuid uuid;
  std::string node;                             ///< its name in the inventory
  identity::PrivateKey key;                     ///< key.pem, mode 0600
  std::vector<identity::Certificate> chain;     ///< chain.pem, leaf first
  std::vector<identity::Certificate> roots;     ///< roots.pem
  std::vector<identity::Endpoint> controllers;  ///< where agents are served
  std::vector<identity::Endpoint> enrolment;    ///< where a certificate that has expired is renewed
  std::uint64_t renewals = 0;                   ///< shown with each renewal
};

/// `<state-dir>/trust/`: whose signed states this node takes.
struct NodeTrust {
  identity::ClusterName cluster;
  identity::NodeUuid uuid;
  std::string node;
  identity::TrustedSigners signers;
};

/// NotFound says that this node has not joined, and how it does: `railwright-agent join`. DataLoss names the
/// file that is damaged.
Result<FrontIdentity> LoadFrontIdentity(const std::string& state_dir);
Result<NodeTrust> LoadNodeTrust(const std::string& state_dir);

/// Each whole or not at all: written beside, synced, renamed; the key first and the certificate last. The
/// directories are made with mode 0700; `front` is given to `owner_uid` and `owner_gid`.
Status SaveFrontIdentity(const std::string& state_dir, const FrontIdentity& identity, unsigned owner_uid,
                         unsigned owner_gid);
/// Gives the folder of the front, and what is in it, to whoever the front runs as, and lets everybody pass
/// through the state directory (mode 0711); ok when there is none. Links are not followed.
Status GiveFront(const std::string& state_dir, unsigned owner_uid, unsigned owner_gid);
/// After a renewal: chain, roots, counter.
Status SaveRenewed(const std::string& state_dir, const FrontIdentity& identity);
Status SaveNodeTrust(const std::string& state_dir, const NodeTrust& trust);

}  // namespace railwright
