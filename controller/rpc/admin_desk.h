// AdminDesk: what operators ask and order, in messages but without gRPC. Reads come from the core's snapshot
// and the store; orders are parsed and resolved here, in a thread of their own, and handed to the core ready
// to be stored.
#pragma once

#include <functional>
#include <memory>

#include "controller/identity/caller.h"
#include "controller/rpc/fleet_core.h"
#include "controller/rpc/worker.h"

namespace railwright {

/// Where a streamed answer goes. Both may be called from any thread and never block.
template <class Event>
struct Sink {
  std::function<bool(Event)> tell;         ///< false: nobody listens any more
  std::function<void(const Status&)> end;  ///< once, last
};

class AdminDesk {
 public:
  /// `built_in`: how a generation spreads where no document says so; as FleetOptions::built_in.
  AdminDesk(FleetCore& core, Store& store, const CatalogDeclarations& catalog, const Clock& clock,
            RolloutPolicy built_in = {})
      : core_(core), store_(store), catalog_(catalog), clock_(clock), built_in_(std::move(built_in)) {}

  // Reads. They may take milliseconds (files, big fleets), so not in gRPC's threads: post them to reads().
  Worker& reads() { return reads_; }
  Status Version(const v1::VersionRequest& request, v1::VersionResponse& response) const;
  Status GetStatus(const v1::StatusRequest& request, v1::StatusResponse& response) const;
  Status Changes(const v1::ChangesRequest& request, v1::ChangesResponse& response) const;
  Status Generations(const v1::GenerationsRequest& request, v1::GenerationsResponse& response) const;
  Status Desired(const v1::DesiredRequest& request, v1::DesiredResponse& response) const;
  Status Why(const v1::WhyRequest& request, v1::WhyResponse& response) const;
  Status Audit(const v1::AuditRequest& request, v1::AuditResponse& response) const;
  /// At most kAuditPage rows from the id `from` on, oldest first, and where the next page begins; when there
  /// are no more (`last`), the store's head behind them.
  static constexpr std::size_t kAuditPage = 500;
  struct AuditEvents {
    std::vector<v1::AuditChainEvent> events;
    std::int64_t next = kAuditBegin;
    bool last = false;
  };
  Result<AuditEvents> AuditChain(std::int64_t from) const;

  // Orders: return at once.
  void Plan(v1::PlanRequest request, Sink<v1::PlanEvent> sink);
  void Observe(const v1::ObserveRequest& request, const Sink<v1::ObserveEvent>& sink);
  void Apply(const Caller& caller, v1::ApplyRequest request, Sink<v1::ApplyEvent> sink);
  void Rollback(const Caller& caller, v1::RollbackRequest request, Sink<v1::ApplyEvent> sink);
  void SetPause(const Caller& caller, const v1::SetPauseRequest& request,
                std::function<void(const Status&, v1::SetPauseResponse)> done);
  void ForgetNode(const Caller& caller, const v1::ForgetNodeRequest& request,
                  std::function<void(const Status&, v1::ForgetNodeResponse)> done);

  /// Whom the records name: an operator by his certificate, whatever he claims; root by what he says he is.
  static AuditRow ByLine(const Caller& caller, const std::string& claimed);
  /// Writes a row of the audit, in a thread of the desk.
  void Note(AuditRow row);
  /// Writes down that a call was not let in.
  void NoteRefused(const Caller& caller, std::string_view method, const Status& why);
  static std::string AuthorOf(const Caller& caller, const std::string& claimed);
  /// Who counts as one person where others must agree: root on this host is one, whatever he calls himself.
  static std::string PersonOf(const Caller& caller);
  void Rollouts(const v1::RolloutsRequest& request,
                std::function<void(const Status&, v1::RolloutsResponse)> done);
  void OrderRollout(const Caller& caller, const v1::OrderRolloutRequest& request,
                    std::function<void(const Status&, v1::OrderRolloutResponse)> done);
  void ApproveRollout(const Caller& caller, const v1::ApproveRolloutRequest& request,
                      std::function<void(const Status&, v1::OrderRolloutResponse)> done);
  void ResetBreaker(const Caller& caller, const v1::ResetBreakerRequest& request,
                    std::function<void(const Status&, v1::ResetBreakerResponse)> done);
  void StatementsToSign(const v1::StatementsToSignRequest& request, Sink<v1::StatementsToSignEvent> sink);
  void PutSignatures(const Caller& caller, const v1::PutSignaturesRequest& request,
                     std::function<void(const Status&, v1::PutSignaturesResponse)> done);

  /// Finishes what was begun. Before the core stops.
  void Stop();

  /// Checks the node names and ranges of a request against the fleet; the names themselves, none = all.
  Result<std::set<std::string>> NamesOf(
      const google::protobuf::RepeatedPtrField<std::string>& patterns) const;
  std::shared_ptr<const FleetView> view() const { return core_.view(); }
  const Clock& clock() const { return clock_; }

 private:
  /// A generation that could be stored now.
  struct Prepared {
    std::shared_ptr<const FleetState> base, next;
    DocumentChanges changes;
    std::vector<v1::ReleasedKey> released;
    bool unchanged = false;
  };
  struct ApplyJob;
  struct Refused {
    explicit Refused(Status why) : status(std::move(why)) {}
    Status status;
    std::vector<std::string> problems;  // when it is the documents that are refused
  };
  using Preparation = std::variant<Prepared, Refused>;

  Preparation Prepare(const google::protobuf::RepeatedPtrField<v1::SourceFile>& files, bool prune,
                      bool restore, bool allow_empty) const;
  Preparation PrepareRollback(const v1::RollbackRequest& request) const;
  /// Allows tries on the way to the controller, which makes a generation even of unchanged documents.
  static Preparation WithTry(Preparation preparation, std::uint32_t try_ms);
  std::shared_ptr<FleetState> NextState(const FleetView& view, std::vector<Document> documents,
                                        Resolved resolved, bool restore) const;
  static Refused Refuse(const std::vector<Problem>& problems);
  std::vector<std::string> SkewWarnings(const FleetView& view, const Resolved& resolved) const;
  void AskAgents(const Prepared& prepared, std::chrono::milliseconds timeout,
                 std::function<bool(const v1::PlanProgress&)> progress,
                 std::function<void(v1::PlanResult)> done);
  void Commit(std::shared_ptr<ApplyJob> job, Prepared prepared);
  void TellStored(const ApplyJob& job, std::uint64_t generation, bool unchanged);
  void RunApply(std::shared_ptr<ApplyJob> job);
  std::uint64_t SinceGeneration(const FleetView& view, const std::string& node,
                                const SettingSpec& spec) const;

  FleetCore& core_;
  Store& store_;
  const CatalogDeclarations& catalog_;
  const Clock& clock_;
  const RolloutPolicy built_in_;
  Worker reads_, orders_;
};

/// Rows of a list: 100 when nothing was asked, at most 10,000.
std::uint32_t ListLimit(std::uint32_t asked);
/// SHA-256 over what a plan promises: its base, its documents, and every answered node's steps.
std::string PlanHash(const FleetState& base, const FleetState& next, const v1::PlanResult& result);

}  // namespace railwright
