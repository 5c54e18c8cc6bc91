#include "controller/enrol/answers.h"

#include "core/identity/request.h"
#include "railwright/utf8.h"

namespace railwright {

using identity::EnrolmentAnswer, identity::IssuedAnswer, identity::JoinRequest, identity::JudgedAnswer,
    identity::Party, identity::RecoverRequest, identity::RefusedAnswer, identity::WhyRequest;

namespace {

EnrolmentOutcome Refused(const Status& status, const std::string& what) {
  return {.frame = RefusedFrame(status),
          .failed = true,
          .issued = false,
          .log = what + " refused: " + status.message()};
}

EnrolmentOutcome Handed(const Issued& issued, const EnrolmentWorld& world, const std::string& what) {
  const MemberRecord& member = issued.member;
  const auto frame = identity::Encode(EnrolmentAnswer(
      IssuedAnswer{.party = member.kind == MemberKind::kNode ? Party::kNode : Party::kOperator,
                   .cluster = world.cluster,
                   .uuid = member.uuid,
                   .name = member.name,
                   .renewals = member.renewals,
                   .chain = {issued.certificate},
                   .roots = world.roots,
                   .signers = world.signers,
                   .controllers = world.controllers,
                   .enrolment = world.enrolment}));
  if (!frame.ok()) return Refused(frame.status(), what);
  return {.frame = *frame,
          .failed = false,
          .issued = true,
          .log = what + ": " + member.name + (member.uuid.empty() ? "" : " (" + member.uuid + ")") +
                 " has certificate " + std::to_string(member.renewals) + ", serial " + member.serial};
}

EnrolmentOutcome Answer(Registry& registry, const EnrolmentWorld& world, const Clock&,
                        const JoinRequest& request, const std::string& address) {
  const std::string what = "join of \"" + Brief(request.name) + "\" with token " + request.token.id() +
                           " (boot " + Brief(request.boot_id) + ", machine " +
                           identity::Hex(request.machine).substr(0, 16) + ")";
  const auto key = identity::ReadCertificateRequest(request.csr);
  if (!key.ok()) return Refused(key.status(), what);
  const auto issued = registry.Join(request.token, *key, request.name, address);
  if (!issued.ok()) return Refused(issued.status(), what);
  return Handed(*issued, world, what);
}

EnrolmentOutcome Answer(Registry& registry, const EnrolmentWorld& world, const Clock&,
                        const RecoverRequest& request, const std::string&) {
  const MemberKind kind = request.party == Party::kNode ? MemberKind::kNode : MemberKind::kOperator;
  const std::string what = "recovery of \"" + Brief(request.id) + "\"";
  const auto key = identity::ReadCertificateRequest(request.csr);
  if (!key.ok()) return Refused(key.status(), what);
  const auto member = registry.Find(kind, request.id);
  const auto issued = registry.Renew(kind, member.ok() ? member->name : request.id, *key, request.renewals);
  if (issued.ok()) return Handed(*issued, world, what);
  // A stranger is not told who has joined, nor with which key.
  if (!member.ok() || member->key != key->pin())
    return Refused(Status(Code::kUnauthenticated, "\"" + Brief(request.id) +
                                                      "\" has not joined with the key " + key->pin().Text() +
                                                      "; join with a new token (railctl token create)"),
                   what);
  return Refused(issued.status(), what);
}

EnrolmentOutcome Answer(Registry& registry, const EnrolmentWorld& world, const Clock& clock,
                        const WhyRequest& request, const std::string&) {
  const auto now = clock.WallNow();
  const auto peer = identity::Verify(request.chain, world.roots,
                                     {.cluster = world.cluster, .purpose = identity::Purpose::kClient}, now);
  const auto caller = peer.ok() ? registry.Judge(*peer) : Result<Caller>(peer.status());
  const auto frame = identity::Encode(EnrolmentAnswer(JudgedAnswer{
      .clock = now,
      .admitted = caller.ok(),
      .sentence = caller.ok() ? "it is known as " + caller->Text() : caller.status().message()}));
  if (!frame.ok()) return Refused(frame.status(), "question");
  return {.frame = *frame,
          .failed = false,
          .issued = false,
          .log = caller.ok() ? "" : "somebody asked why: " + caller.status().message()};
}

}  // namespace

std::string RefusedFrame(const Status& status) {
  const auto frame = identity::Encode(EnrolmentAnswer(
      RefusedAnswer{.code = status.code() == Code::kUnknown || status.ok() ? Code::kInternal : status.code(),
                    .sentence = status.message().empty() ? "refused" : status.message()}));
  return frame.ok() ? *frame : std::string();
}

EnrolmentOutcome AnswerEnrolment(Registry& registry, const EnrolmentWorld& world, const Clock& clock,
                                 std::string_view body, const std::string& address) {
  const auto request = identity::DecodeRequest(body);
  if (!request.ok()) return Refused(request.status(), "request");
  return std::visit([&](const auto& one) { return Answer(registry, world, clock, one, address); }, *request);
}

}  // namespace railwright
