#include "core/enrol/ask.h"

#include <algorithm>
#include <functional>

#include "core/identity/request.h"
#include "core/identity/verify.h"
#include "railwright/utf8.h"

namespace railwright::enrol {

using identity::Certificate, identity::ClusterName, identity::Endpoint, identity::EnrolmentAnswer,
    identity::IssuedAnswer, identity::JudgedAnswer, identity::Party, identity::PrivateKey,
    identity::RefusedAnswer, identity::Time;

namespace {

// The cluster is not known before the first connection: it is the one that the pinned CA is of.
Status JudgeByPin(const std::vector<Certificate>& chain, const identity::Pin& pin, const Endpoint& at,
                  Time now) {
  const auto ca = identity::PinnedCa(chain, pin);
  if (!ca.ok())
    return ca.status().Within(at.Text() + " is not the controller of this line, and was told nothing");
  const auto cluster = ca->uris().size() == 1 ? identity::ParseTrustDomainUri(ca->uris().front())
                                              : Result<ClusterName>(Status(Code::kUnauthenticated, "no URI"));
  if (!cluster.ok())
    return Status(Code::kUnauthenticated, at.Text() + ": the CA with this pin is not of a cluster");
  return identity::Verify(chain, {*ca},
                          {.cluster = *cluster, .purpose = identity::Purpose::kServer, .dialled = at.host},
                          now)
      .status()
      .Within(at.Text());
}

Status JudgeByRoots(const std::vector<Certificate>& chain, const Known& known, const Endpoint& at, Time now) {
  return identity::Verify(
             chain, known.roots,
             {.cluster = known.cluster, .purpose = identity::Purpose::kServer, .dialled = at.host}, now)
      .status()
      .Within(at.Text());
}

Status NotWhatWasAsked(const Endpoint& at) {
  return Status(Code::kUnauthenticated, at.Text() + " answered something else than was asked");
}

Result<EnrolmentAnswer> Read(const Endpoint& at, const std::string& body) {
  auto answer = identity::DecodeAnswer(body);
  if (!answer.ok()) return answer.status().Within(at.Text());
  if (const auto* refused = std::get_if<RefusedAnswer>(&*answer))
    return Status(refused->code, Brief(refused->sentence, 1024));
  return answer;
}

Result<IssuedAnswer> ReadIssued(const Endpoint& at, const std::string& body, Party party,
                                const PrivateKey& key, Time now) {
  RW_ASSIGN_OR_RETURN(auto answer, Read(at, body));
  auto* issued = std::get_if<IssuedAnswer>(&answer);
  if (issued == nullptr) return NotWhatWasAsked(at);
  const auto peer = identity::Verify(
      issued->chain, issued->roots, {.cluster = issued->cluster, .purpose = identity::Purpose::kClient}, now);
  if (!peer.ok()) return peer.status().Within(at.Text() + " gave a certificate that does not hold");
  if (peer->pin != key.public_key().pin() || peer->id.party() != issued->party ||
      peer->id.name() != (issued->party == Party::kNode ? issued->uuid : issued->name))
    return NotWhatWasAsked(at);
  if (party != Party::kController && party != issued->party) return NotWhatWasAsked(at);
  return std::move(*issued);
}

// The endpoints in turn, until one answers.
template <class T>
Result<T> FromAny(const std::vector<Endpoint>& endpoints,
                  const std::function<Result<T>(const Endpoint&)>& ask) {
  Result<T> last = Status(Code::kFailedPrecondition, "no enrolment port is known");
  for (const Endpoint& at : endpoints) {
    last = ask(at);
    if (last.ok() || last.status().code() != Code::kUnavailable) return last;
  }
  return last;
}

}  // namespace

Result<IssuedAnswer> Join(const identity::JoinLine& line, const Newcomer& newcomer, const PrivateKey& key,
                          Time now, std::chrono::milliseconds deadline) {
  RW_ASSIGN_OR_RETURN(auto csr, identity::MakeCertificateRequest(key));
  const identity::Secret token = line.token.Text();
  RW_ASSIGN_OR_RETURN(auto copy, identity::JoinToken::Parse(token.Reveal()));
  RW_ASSIGN_OR_RETURN(const identity::Secret frame,
                      identity::Encode(identity::JoinRequest{.token = std::move(copy),
                                                             .name = newcomer.name,
                                                             .boot_id = newcomer.boot_id,
                                                             .machine = newcomer.machine,
                                                             .csr = std::move(csr)}));
  const auto judge = [&](const std::vector<Certificate>& chain) {
    return JudgeByPin(chain, line.ca, line.controller, now);
  };
  RW_ASSIGN_OR_RETURN(const auto body, Exchange(line.controller, judge, frame.Reveal(), deadline));
  // kController: of either party, as the token says.
  RW_ASSIGN_OR_RETURN(auto issued, ReadIssued(line.controller, body, Party::kController, key, now));
  const bool pinned = std::any_of(issued.roots.begin(), issued.roots.end(),
                                  [&](const Certificate& root) { return root.pin() == line.ca; });
  if (!pinned)
    return Status(Code::kUnauthenticated,
                  line.controller.Text() + " gave roots that the pinned CA is not among");
  return issued;
}

Result<IssuedAnswer> Recover(const Known& known, Party party, const std::string& id, std::uint64_t renewals,
                             const PrivateKey& key, Time now, std::chrono::milliseconds deadline) {
  RW_ASSIGN_OR_RETURN(auto csr, identity::MakeCertificateRequest(key));
  RW_ASSIGN_OR_RETURN(const auto frame,
                      identity::Encode(identity::RecoverRequest{
                          .party = party, .id = id, .renewals = renewals, .csr = std::move(csr)}));
  return FromAny<IssuedAnswer>(known.enrolment, [&](const Endpoint& at) -> Result<IssuedAnswer> {
    const auto judge = [&](const std::vector<Certificate>& chain) {
      return JudgeByRoots(chain, known, at, now);
    };
    RW_ASSIGN_OR_RETURN(const auto body, Exchange(at, judge, frame, deadline));
    return ReadIssued(at, body, party, key, now);
  });
}

Result<IssuedAnswer> RecoverByPin(const Endpoint& at, const identity::Pin& ca, Party party,
                                  const std::string& id, std::uint64_t renewals, const PrivateKey& key,
                                  Time now, std::chrono::milliseconds deadline) {
  RW_ASSIGN_OR_RETURN(auto csr, identity::MakeCertificateRequest(key));
  RW_ASSIGN_OR_RETURN(const auto frame,
                      identity::Encode(identity::RecoverRequest{
                          .party = party, .id = id, .renewals = renewals, .csr = std::move(csr)}));
  const auto judge = [&](const std::vector<Certificate>& chain) { return JudgeByPin(chain, ca, at, now); };
  RW_ASSIGN_OR_RETURN(const auto body, Exchange(at, judge, frame, deadline));
  return ReadIssued(at, body, party, key, now);
}

Result<JudgedAnswer> Why(const Known& known, const std::vector<Certificate>& chain, Time now,
                         std::chrono::milliseconds deadline) {
  RW_ASSIGN_OR_RETURN(const auto frame, identity::Encode(identity::WhyRequest{.chain = chain, .clock = now}));
  return FromAny<JudgedAnswer>(known.enrolment, [&](const Endpoint& at) -> Result<JudgedAnswer> {
    const auto judge = [&](const std::vector<Certificate>& shown) {
      const Certificate& leaf = shown.front();
      const Time within = std::clamp(now, leaf.not_before(),
                                     std::max(leaf.not_before(), leaf.not_after() - std::chrono::seconds(1)));
      return JudgeByRoots(shown, known, at, within);
    };
    RW_ASSIGN_OR_RETURN(const auto body, Exchange(at, judge, frame, deadline));
    RW_ASSIGN_OR_RETURN(auto answer, Read(at, body));
    auto* judged = std::get_if<JudgedAnswer>(&answer);
    if (judged == nullptr) return NotWhatWasAsked(at);
    return std::move(*judged);
  });
}

}  // namespace railwright::enrol
