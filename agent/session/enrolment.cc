#include "agent/session/enrolment.h"

#include <chrono>

#include "agent/identity/identity_files.h"
#include "core/enrol/preflight.h"

namespace railwright {

std::string WhyRefused(const std::string& state_dir) {
  const auto me = LoadFrontIdentity(state_dir);
  if (!me.ok()) return me.status().message();
  const enrol::PreflightTerms terms{{me->cluster, me->roots, me->enrolment}, me->chain, me->controllers};
  for (const enrol::PreflightStep& step : enrol::Preflight(terms, std::chrono::system_clock::now()))
    if (step.verdict == Verdict::kDrifted) return step.message;
  return {};
}

Status RecoverCertificate(const std::string& state_dir) {
  RW_ASSIGN_OR_RETURN(FrontIdentity me, LoadFrontIdentity(state_dir));
  RW_ASSIGN_OR_RETURN(identity::IssuedAnswer answer,
                      enrol::Recover({me.cluster, me.roots, me.enrolment}, identity::Party::kNode,
                                     me.uuid.text(), me.renewals, me.key, std::chrono::system_clock::now()));
  me.chain = std::move(answer.chain);
  me.roots = std::move(answer.roots);
  me.renewals = answer.renewals;
  return SaveRenewed(state_dir, me);
}

}  // namespace railwright
