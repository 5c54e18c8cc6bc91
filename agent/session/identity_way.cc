#include "agent/session/identity_way.h"

#include "agent/identity/identity_files.h"

namespace railwright {

Result<Way> IdentityWay::Next() {
  RW_ASSIGN_OR_RETURN(const FrontIdentity me, LoadFrontIdentity(state_dir_));
  if (me.controllers.empty())
    return Status(Code::kFailedPrecondition, "the identity in " + state_dir_ +
                                                 " names no controller; join again: railwright-agent join");
  const identity::Endpoint& controller = me.controllers[turn_++ % me.controllers.size()];
  RW_ASSIGN_OR_RETURN(const identity::Secret key, me.key.ToPem());
  Way way;
  way.controller = controller.Text();
  way.node = me.node;
  RW_ASSIGN_OR_RETURN(way.credentials,
                      tls::ClientCredentials({identity::Certificate::ChainToPem(me.chain),
                                              std::string(key.Reveal()),
                                              me.roots,
                                              {me.cluster, identity::Purpose::kServer, controller.host},
                                              [] { return std::chrono::system_clock::now(); }},
                                             way.verdict));
  return way;
}

}  // namespace railwright
