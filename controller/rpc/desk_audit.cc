// The audit as operators read it: its newest rows, and the whole chain.
#include "controller/rpc/admin_desk.h"
#include "railwright/unix_time.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

// Texts are valid UTF-8 in the store; what somebody put there by hand must not break the answer.
void Fill(const audit::Row& row, v1::AuditEntry& entry) {
  entry.set_id(row.id);
  entry.set_at_unix_us(row.at_us);
  entry.set_who(ValidUtf8(row.who));
  entry.set_action(ValidUtf8(row.action));
  entry.set_subject(ValidUtf8(row.subject));
  entry.set_detail(ValidUtf8(row.detail));
  entry.set_from(ValidUtf8(row.from));
  entry.set_serial(ValidUtf8(row.serial));
  entry.set_outcome(ValidUtf8(row.outcome));
}

}  // namespace

Status AdminDesk::Audit(const v1::AuditRequest& request, v1::AuditResponse& response) const {
  RW_ASSIGN_OR_RETURN(const auto rows, store_.Audit(ListLimit(request.limit())));
  for (const AuditRow& row : rows) Fill(ToChain(row), *response.add_entries());
  return Ok();
}

Result<AdminDesk::AuditEvents> AdminDesk::AuditChain(std::int64_t from) const {
  RW_ASSIGN_OR_RETURN(const AuditPage page, store_.AuditChain(from, kAuditPage));
  AuditEvents answer{{}, page.next, page.last};
  for (const ChainedAudit& one : page.rows) {
    v1::AuditChainEvent& event = answer.events.emplace_back();
    Fill(one.row, *event.mutable_entry());
    event.set_hash(one.hash);
  }
  if (!page.last) return answer;
  v1::AuditHead& head = *answer.events.emplace_back().mutable_head();
  if (page.head) {
    head.set_id(page.head->id);
    head.set_hash(std::string(identity::Bytes(page.head->hash)));
  } else {
    head.set_unreadable(true);
  }
  return answer;
}

}  // namespace railwright
