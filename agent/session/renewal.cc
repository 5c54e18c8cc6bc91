#include "agent/session/renewal.h"

#include <algorithm>
#include <random>

#include "agent/identity/identity_files.h"
#include "railwright/v1/agent.grpc.pb.h"

namespace railwright {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;

// A clock may be set, or the machine may sleep: the time is looked at again that often at least.
constexpr seconds kLookAgain{300};
constexpr seconds kFirstPause{30}, kMostPause{900};
constexpr seconds kAnswerWithin{20};

}  // namespace

system_clock::time_point RenewalTime(system_clock::time_point not_before, system_clock::time_point not_after,
                                     double chance) {
  const std::chrono::duration<double> life = not_after - not_before;
  const double share = 2.0 / 3 + (std::clamp(chance, 0.0, 1.0) - 0.5) * 0.2;
  return not_before + std::chrono::duration_cast<system_clock::duration>(life * share);
}

seconds RenewalPause(int failures, double chance) {
  const seconds most = std::min<seconds>(kMostPause, kFirstPause * (1LL << std::clamp(failures - 1, 0, 20)));
  return most / 2 +
         seconds(static_cast<std::int64_t>(std::clamp(chance, 0.0, 1.0) *
                                           static_cast<double>(most.count() - (most / 2).count())));
}

Renewal::Renewal(RenewalOptions options)
    : options_(std::move(options)),
      random_(options_.seed != 0 ? options_.seed : std::random_device{}()),
      thread_([this] { Run(); }) {}

Renewal::~Renewal() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Renewal::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const seconds wait = Look();
    lock.lock();
    changed_.wait_for(lock, wait, [this] { return stopping_; });
  }
}

seconds Renewal::Look() {
  std::mt19937_64 random(random_++);
  const double chance = std::uniform_real_distribution<double>(0, 1)(random);
  const auto now = system_clock::now();
  const auto me = LoadFrontIdentity(options_.state_dir);
  if (!me.ok() || me->chain.empty()) return kLookAgain;  // the session says so
  const identity::Certificate& leaf = me->chain.front();
  if (leaf.der() != leaf_) {
    leaf_ = leaf.der();
    due_ = RenewalTime(leaf.not_before(), leaf.not_after(), chance);
  }
  if (now < due_)
    return std::min<seconds>(kLookAgain, std::chrono::duration_cast<seconds>(due_ - now) + seconds(1));
  const bool ended = leaf.not_after() <= now;
  const Status status = ended && options_.recover ? options_.recover() : Renew();
  if (status.ok()) {
    failures_ = 0;
    options_.log("the certificate of this node was renewed");
    return seconds(1);  // looks at the new one
  }
  options_.log("the certificate of this node " + std::string(ended ? "has ended" : "is due") +
               " and could not be renewed: " + status.message());
  return RenewalPause(++failures_, chance);
}

Status Renewal::Renew() {
  RW_ASSIGN_OR_RETURN(const Way way, options_.way());
  RW_ASSIGN_OR_RETURN(const Address address, ParseAddress(way.controller));
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const auto stub =
      v1::AgentService::NewStub(grpc::CreateCustomChannel(address.Target(), way.credentials, arguments));
  RW_ASSIGN_OR_RETURN(FrontIdentity me, LoadFrontIdentity(options_.state_dir));
  grpc::ClientContext context;
  context.set_deadline(system_clock::now() + kAnswerWithin);
  v1::RenewRequest request;
  request.set_renewals(me.renewals);
  v1::RenewResponse response;
  const grpc::Status answered = stub->Renew(&context, request, &response);
  if (const Status refused = way.verdict->Last(); !refused.ok()) return refused;
  if (!answered.ok())
    return Status(
        answered.error_code() == grpc::StatusCode::UNAVAILABLE ? Code::kUnavailable : Code::kInternal,
        way.controller + ": " + answered.error_message());
  RW_ASSIGN_OR_RETURN(me.chain, identity::Certificate::ChainFromPem(response.chain_pem()));
  RW_ASSIGN_OR_RETURN(me.roots, identity::Certificate::ChainFromPem(response.roots_pem()));
  if (me.chain.front().public_key() != me.key.public_key())
    return Status(Code::kDataLoss, "the controller answered with a certificate for another key");
  RW_RETURN_IF_ERROR(
      identity::Verify(me.chain, me.roots, {me.cluster, identity::Purpose::kClient}, system_clock::now())
          .status());
  me.renewals = response.renewals();
  return SaveRenewed(options_.state_dir, me);
}

}  // namespace railwright
