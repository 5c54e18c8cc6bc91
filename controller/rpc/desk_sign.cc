// Orders of the admin desk: what waits for signatures, and signatures.
#include <algorithm>

#include "controller/rpc/admin_desk.h"
#include "railwright/unix_time.h"

namespace railwright {
namespace {

constexpr int kStatementsAnEvent = 1000;   // some 300 bytes each
constexpr int kSignaturesAtOnce = 10'000;  // some 450 bytes each; below the limit of a message

void AddDocuments(const StoredGeneration& stored,
                  google::protobuf::RepeatedPtrField<v1::SourceFile>* documents) {
  for (const StoredDocument& one : stored.documents) {
    v1::SourceFile* file = documents->Add();
    file->set_name(one.file);
    file->set_text(one.text);
  }
}

}  // namespace

void AdminDesk::StatementsToSign(const v1::StatementsToSignRequest& request,
                                 Sink<v1::StatementsToSignEvent> sink) {
  UnsignedQuestion question;
  question.done = [this, wanted = request.generation(), sink](std::shared_ptr<const FleetState> state,
                                                              std::vector<Unsigned> waiting) {
    if (!state) return sink.end(Status(Code::kUnavailable, "the controller is stopping"));
    if (wanted != 0 && wanted != state->number())
      return sink.end(Status(Code::kFailedPrecondition,
                             "generation " + std::to_string(wanted) + " is not the present one, which is " +
                                 std::to_string(state->number()) + "; only that is signed for"));
    // The documents before it come from the disk: not in the core's thread.
    (void)reads_.Post([this, sink, state, waiting = std::move(waiting)] {
      v1::StatementsToSignEvent head;
      const StoredGeneration& stored = state->stored;
      head.set_generation(state->number());
      head.set_author(stored.author);
      head.set_comment(stored.comment);
      head.set_created_unix_us(ToUnixMicros(stored.created));
      head.set_try_ms(static_cast<std::uint32_t>(stored.try_for.count()));
      AddDocuments(stored, head.mutable_documents());
      for (const StoredDocument& one : stored.documents)
        head.add_lines(static_cast<std::uint32_t>(std::max(one.line, 1)));
      for (const auto& [node, what] : stored.restores) {
        v1::NodeRestore* restore = head.add_restores();
        restore->set_node(node);
        restore->mutable_what()->set_key(what.key);
        restore->mutable_what()->set_target(what.target);
      }
      const auto earlier = store_.Generations(2);
      if (earlier.ok() && earlier->size() == 2) {
        const auto before = store_.GetGeneration((*earlier)[1].generation);
        if (before.ok()) {
          head.set_before(before->generation.value);
          AddDocuments(*before, head.mutable_documents_before());
        }
      }
      if (!sink.tell(std::move(head))) return sink.end(Ok());
      v1::StatementsToSignEvent event;
      for (const Unsigned& one : waiting) {
        v1::StatementToSign* statement = event.add_statements();
        statement->set_node(one.node);
        statement->set_uuid(one.uuid);
        statement->set_statement(one.statement);
        statement->set_threshold(static_cast<std::uint32_t>(one.threshold));
        for (const identity::Pin& pin : one.signed_by) statement->add_signed_by(pin.Text());
        if (event.statements_size() < kStatementsAnEvent) continue;
        if (!sink.tell(std::move(event))) return sink.end(Ok());
        event.Clear();
      }
      event.set_last(true);
      (void)sink.tell(std::move(event));
      sink.end(Ok());
    });
  };
  core_.Ask(std::move(question));
}

void AdminDesk::PutSignatures(const Caller& caller, const v1::PutSignaturesRequest& request,
                              std::function<void(const Status&, v1::PutSignaturesResponse)> done) {
  if (request.signatures_size() > kSignaturesAtOnce)
    return done(Status(Code::kInvalidArgument,
                       "more than " + std::to_string(kSignaturesAtOnce) + " signatures at once"),
                {});
  SignatureOrder order;
  order.by = ByLine(caller, "");
  for (const v1::SignedStatement& one : request.signatures()) {
    const auto key = identity::Pin::Parse(one.key());
    if (!key.ok()) return done(key.status().Within("node " + one.node()), {});
    order.offers.push_back({one.node(), one.statement(), {*key, one.signature()}});
  }
  order.done = [done = std::move(done)](const Status& status, std::uint64_t taken) {
    v1::PutSignaturesResponse response;
    response.set_taken(taken);
    done(status, std::move(response));
  };
  core_.Sign(std::move(order));
}

}  // namespace railwright
