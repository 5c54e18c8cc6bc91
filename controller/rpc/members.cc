#include "controller/rpc/members.h"

#include <algorithm>
#include <utility>

#include "railwright/unix_time.h"

namespace railwright {
namespace {

v1::MemberKind ToWire(MemberKind kind) {
  return kind == MemberKind::kNode ? v1::MEMBER_KIND_NODE : v1::MEMBER_KIND_OPERATOR;
}

Result<MemberKind> FromWire(v1::MemberKind kind) {
  if (kind == v1::MEMBER_KIND_NODE) return MemberKind::kNode;
  if (kind == v1::MEMBER_KIND_OPERATOR) return MemberKind::kOperator;
  return Status(Code::kInvalidArgument, "neither a node nor an operator");
}

v1::Standing ToWire(Standing standing) {
  switch (standing) {
    case Standing::kActive: return v1::STANDING_ACTIVE;
    case Standing::kHeld: return v1::STANDING_HELD;
    case Standing::kEvicted: return v1::STANDING_EVICTED;
    case Standing::kBanned: return v1::STANDING_BANNED;
  }
  return v1::STANDING_UNSPECIFIED;
}

Result<Standing> FromWire(v1::Standing standing) {
  switch (standing) {
    case v1::STANDING_ACTIVE: return Standing::kActive;
    case v1::STANDING_HELD: return Standing::kHeld;
    case v1::STANDING_EVICTED: return Standing::kEvicted;
    case v1::STANDING_BANNED: return Standing::kBanned;
    default: return Status(Code::kInvalidArgument, "a standing that this controller does not know");
  }
}

template <class Wire>
void AddAuthority(const std::optional<identity::Authority>& authority, Wire& out) {
  if (!authority) return;
  out.mutable_roles()->Assign(authority->roles.begin(), authority->roles.end());
  out.set_scope(authority->scope);
}

v1::MemberInfo ToWire(const MemberRecord& member) {
  v1::MemberInfo out;
  out.set_kind(ToWire(member.kind));
  out.set_name(member.name);
  out.set_uuid(member.uuid);
  out.set_key(member.key.Text());
  out.set_serial(member.serial);
  out.set_not_after_unix_us(ToUnixMicros(member.not_after));
  out.set_renewals(member.renewals);
  out.set_standing(ToWire(member.standing));
  out.set_reason(member.reason);
  out.set_by(member.by);
  out.set_changed_unix_us(ToUnixMicros(member.changed));
  AddAuthority(member.authority, out);
  return out;
}

}  // namespace

template <class Response>
void Members::Post(Done<Response> done, std::function<Status(Response&)> work) {
  const bool posted = work_.Post([done, work = std::move(work)] {
    Response response;
    const Status status = work(response);
    done(status, std::move(response));
  });
  if (!posted) done(Status(Code::kUnavailable, "the controller is stopping"), {});
}

void Members::CreateToken(const Caller& by, const v1::CreateTokenRequest& request,
                          Done<v1::CreateTokenResponse> done) {
  Post<v1::CreateTokenResponse>(
      std::move(done), [this, by, request](v1::CreateTokenResponse& response) -> Status {
        if (options_.enrolment.empty())
          return Status(Code::kFailedPrecondition,
                        "nobody can join: this controller was started without --enrol HOST:PORT\nnext: "
                        "railwright-controller "
                        "serve … --enrol '[::]:7444'");
        Registry::TokenTerms terms;
        RW_ASSIGN_OR_RETURN(terms.kind, FromWire(request.kind()));
        terms.name = request.name();
        terms.from = request.from();
        if (request.uses() != 0) terms.uses = request.uses();
        if (request.ttl_s() != 0) terms.ttl = std::chrono::seconds(request.ttl_s());
        if (terms.kind == MemberKind::kOperator) {
          identity::Authority authority;
          authority.roles.assign(request.roles().begin(), request.roles().end());
          std::sort(authority.roles.begin(), authority.roles.end());
          authority.scope = request.scope().empty() ? "*" : request.scope();
          terms.authority = std::move(authority);
        }
        RW_ASSIGN_OR_RETURN(const identity::JoinToken token, registry_.CreateToken(terms, by));
        const std::string command =
            terms.kind == MemberKind::kNode ? "railwright-agent join " : "railctl login ";
        response.set_join_line(command + options_.enrolment + " --token " +
                               std::string(token.Text().Reveal()) + " --ca " + options_.ca.Text());
        response.set_id(token.id());
        RW_ASSIGN_OR_RETURN(const std::vector<TokenRecord> tokens, registry_.Tokens());
        for (const TokenRecord& one : tokens)
          if (one.token.id == token.id()) response.set_expires_unix_us(ToUnixMicros(one.expires));
        return Ok();
      });
}

void Members::Tokens(Done<v1::TokensResponse> done) {
  Post<v1::TokensResponse>(std::move(done), [this](v1::TokensResponse& response) -> Status {
    RW_ASSIGN_OR_RETURN(const std::vector<TokenRecord> tokens, registry_.Tokens());
    for (const TokenRecord& one : tokens) {
      v1::TokenInfo* info = response.add_tokens();
      info->set_id(one.token.id);
      info->set_kind(ToWire(one.kind));
      info->set_name(one.name);
      info->set_from(one.from);
      info->set_uses_left(one.uses_left);
      info->set_created_unix_us(ToUnixMicros(one.created));
      info->set_expires_unix_us(ToUnixMicros(one.expires));
      info->set_by(one.by);
      AddAuthority(one.authority, *info);
    }
    return Ok();
  });
}

void Members::DropToken(const Caller& by, const v1::DropTokenRequest& request,
                        Done<v1::DropTokenResponse> done) {
  Post<v1::DropTokenResponse>(std::move(done), [this, by, id = request.id()](v1::DropTokenResponse&) {
    return registry_.DropToken(id, by);
  });
}

void Members::List(Done<v1::MembersResponse> done) {
  Post<v1::MembersResponse>(std::move(done), [this](v1::MembersResponse& response) {
    for (const MemberRecord& member : registry_.Members()) *response.add_members() = ToWire(member);
    return Ok();
  });
}

void Members::SetStanding(const Caller& by, const v1::SetStandingRequest& request,
                          Done<v1::SetStandingResponse> done) {
  Post<v1::SetStandingResponse>(
      std::move(done), [this, by, request](v1::SetStandingResponse& response) -> Status {
        RW_ASSIGN_OR_RETURN(const MemberKind kind, FromWire(request.kind()));
        RW_ASSIGN_OR_RETURN(const Standing standing, FromWire(request.standing()));
        RW_RETURN_IF_ERROR(registry_.SetStanding(kind, request.name(), standing, request.reason(), by));
        for (const MemberRecord& member : registry_.Members())
          if (member.kind == kind && member.name == request.name())
            *response.mutable_member() = ToWire(member);
        return Ok();
      });
}

void Members::Renew(const Caller& caller, const v1::RenewRequest& request, Done<v1::RenewResponse> done) {
  Post<v1::RenewResponse>(
      std::move(done), [this, caller, renewals = request.renewals()](v1::RenewResponse& response) -> Status {
        RW_ASSIGN_OR_RETURN(const identity::PublicKey key, identity::PublicKey::FromDer(caller.key));
        const MemberKind kind =
            caller.kind == Caller::Kind::kNode ? MemberKind::kNode : MemberKind::kOperator;
        RW_ASSIGN_OR_RETURN(const Issued issued, registry_.Renew(kind, caller.name, key, renewals));
        response.set_chain_pem(issued.certificate.ToPem());
        response.set_roots_pem(options_.roots_pem);
        response.set_renewals(issued.member.renewals);
        return Ok();
      });
}

}  // namespace railwright
