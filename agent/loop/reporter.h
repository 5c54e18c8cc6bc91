// Reporter: what to tell the controller next. Pure: messages in, messages out.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "railwright/clock.h"
#include "railwright/state.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

/// Says what the controller does not hold yet, and nothing else: a report that differs from the acknowledged
/// one in what it tells (ReportHash, generation, verdict, settled), or history. One report is under way at a
/// time; what happens meanwhile is merged into the next. A report is relied on only when its ReportAck has
/// come: until then it is sent again, over the next connection too. After an acknowledged report only
/// findings that differ from it are sent.
class Reporter {
 public:
  static constexpr std::size_t kMostChanges = 200;       ///< in one report
  static constexpr std::chrono::seconds kAckWithin{30};  ///< then the report is sent again
  static constexpr std::size_t kLongestText = 2048;      ///< of a value; longer ones are cut

  /// A new connection: nothing is under way on it. `held` is what its Welcome says that the controller holds;
  /// null: it does not say, so a report is sent whatever it holds. `same_agent`: that report came from this
  /// version and boot; else one is sent, since those are stored with it.
  void Connected(const v1::HeldReport* held = nullptr, bool same_agent = true);
  /// The next one is to be in full.
  void NeedFull();
  /// The report to send now, or none. `pending` is the history that is durable here and not yet stored there.
  std::optional<v1::Report> Next(const NodeReport& report, const std::deque<ChangeRecord>& pending,
                                 Clock::Steady now);
  /// False when it belongs to no report that is under way (it may still say need_full).
  bool Acknowledge(const v1::ReportAck& ack);
  /// Hash of the last report that the controller acknowledged; "" when there is none.
  const std::string& acknowledged() const { return acknowledged_hash_; }
  /// Hash of the last report that went out on this connection, acknowledged or not: what the controller has
  /// seen. Falls back to the acknowledged one.
  const std::string& latest() const { return under_way_ ? under_way_->hash : acknowledged_hash_; }
  /// When Next should be asked again though nothing happened.
  std::optional<Clock::Steady> NextDue() const;

 private:
  struct UnderWay {
    std::uint64_t sequence = 0;
    bool full = false;
    NodeReport report;
    std::string hash;
    Clock::Steady since;
  };
  void Adopt(NodeReport report, const v1::HeldReport& held);

  std::optional<NodeReport> acknowledged_;
  std::string acknowledged_hash_;
  std::optional<UnderWay> under_way_;
  std::optional<v1::HeldReport> held_;  // of a life before this one, to be compared with the first report
  std::uint64_t sequence_ = 0;
  std::uint64_t last_change_sent_ = 0;
  bool say_something_ = false;
};

/// A report as it may travel: values and evidence longer than Reporter::kLongestText are cut, with their
/// length and a fingerprint, so that two of them still differ. A report stays far below gRPC's limits.
NodeReport Shortened(const NodeReport& report);
std::string Shortened(const std::string& text);

}  // namespace railwright
