#include "agent/loop/node_agent.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/loop/status_file.h"
#include "core/files/whole_file.h"
#include "core/text/times.h"
#include "core/wire/wire.h"

namespace railwright {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr seconds kProbe{5};  // how often a state directory that takes no writes is tried again
/// Small packets pass where large ones do not. More than one packet of the largest MTU that Ethernet cards
/// take.
constexpr std::uint32_t kPadding = 16'384;
constexpr std::size_t kRecent = 20;  // changes that status.json shows

}  // namespace

ReconcilerOptions NodeAgent::Completed(ReconcilerOptions options, NodeAgent& agent) {
  options.paused_now = [&agent](std::string_view key) { return agent.PausedNow(key); };
  options.witnesses.peers = agent.parts_.peers;
  if (!agent.parts_.redial) return options;
  options.witnesses.connected = [&agent] { return agent.parts_.session_text() == "connected"; };
  options.witnesses.redial = [&agent] { agent.Redial(); };
  options.witnesses.confirmed_before = [&agent](const KeyTarget& what, const std::string& value) {
    return agent.confirmed_.Was(what, value);
  };
  options.witnesses.confirmed = [&agent](const std::map<KeyTarget, std::string>& values) {
    // What cannot be kept is asked for once more when there is no connection; nothing else depends on it.
    if (Status status = agent.confirmed_.Note(values); !status.ok()) agent.SetTrouble(std::move(status));
  };
  return options;
}

void NodeAgent::Redial() {
  dialling_anew_ = true;
  PublishHello();  // asks for a large Welcome, before anybody dials
  dialled_before_ = parts_.redial();
  parts_.log(LogLevel::kInfo, "a change is being tried: the controller is dialled anew");
}

NodeAgent::NodeAgent(NodeAgentOptions options, ReconcilerOptions reconciler, Parts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      machine_(parts_.machine, [this] { Meanwhile(); }),
      reconciler_(machine_, parts_.catalog, parts_.checks, parts_.journal, parts_.clock,
                  Completed(std::move(reconciler), *this), parts_.our_pids),
      changes_(parts_.state_dir.changes()),
      latch_(parts_.state_dir.taking_up(), options_.version),
      seal_(parts_.state_dir.directory(), parts_.trust),
      confirmed_(parts_.state_dir.confirmed()),
      local_pauses_(parts_.state_dir.local_pauses()),
      management_(options_.management_netdev, options_.controller, parts_.state_dir.management(),
                  parts_.route),
      started_at_(parts_.clock.WallNow()) {
  PublishHello();
}

NodeAgent::~NodeAgent() = default;

Status NodeAgent::Start() {
  Status status = TakeUp();
  started_ = status.ok();
  return status;
}

Status NodeAgent::TakeUp() {
  RW_RETURN_IF_ERROR(changes_.Open());
  if (changes_.damaged() > 0)
    parts_.log(LogLevel::kWarning, parts_.state_dir.changes() + ": " + std::to_string(changes_.damaged()) +
                                       " damaged lines were left out of the history");
  if (const auto text = ReadWhole(parts_.state_dir.pauses()); text.ok()) {
    auto pauses = ParsePauses(*text);
    if (!pauses.ok()) return pauses.status().Within(parts_.state_dir.pauses());
    controller_pauses_ = std::move(*pauses);
  } else if (text.status().code() != Code::kNotFound) {
    return text.status();
  }
  if (Status status = confirmed_.Load(); !status.ok()) parts_.log(LogLevel::kError, status.message());
  latch_.Open();
  local_pauses_.Look();
  ApplyPauses();
  if (Status status = management_.Start(); !status.ok())
    parts_.log(LogLevel::kError, status.Within("the last known way to the controller").message());
  LookAtManagement();
  RW_RETURN_IF_ERROR(reconciler_.Start());
  if (const Status& damage = seal_.Open(); !damage.ok())
    parts_.log(LogLevel::kError, damage.message() + ". Until then no new state is taken");
  const Status kept = TakeUpKept();
  PublishHello();
  return kept;
}

Status NodeAgent::Stop() {
  latch_.End();  // an end in good order is no death, wherever the pass was
  const Status status = reconciler_.Stop();
  if (Status kept = changes_.Append(reconciler_.TakeChanges()); !kept.ok())
    parts_.log(LogLevel::kError, kept.message());
  SendReport();
  if (Status written = WriteStatus(); !written.ok()) parts_.log(LogLevel::kError, written.message());
  return status;
}

void NodeAgent::Handle(FromController message) {
  if (auto* welcome = std::get_if<v1::Welcome>(&message.body)) return OnWelcome(*welcome, message);
  if (message.connection != connection_) return;  // of a connection that has ended
  if (auto* desired = std::get_if<v1::DesiredState>(&message.body)) return OnDesired(*desired);
  if (auto* command = std::get_if<v1::Command>(&message.body))
    return OnCommand(std::move(*command), message.connection);
  if (auto* pauses = std::get_if<v1::PauseList>(&message.body)) return OnPauses(*pauses);
  if (auto* ack = std::get_if<v1::ReportAck>(&message.body)) return OnReportAck(*ack);
}

void NodeAgent::OnWelcome(const v1::Welcome& welcome, const FromController& message) {
  connection_ = message.connection;
  management_.Reached(message.host);
  LookAtManagement();
  commands_.clear();
  const v1::HeldReport& held = welcome.held();
  reporter_.Connected(welcome.has_held() ? &held : nullptr,
                      held.agent_version() == options_.version && held.boot_id() == options_.boot_id);
  if (Status status = changes_.Adopt(welcome.stored_change()); !status.ok()) SetTrouble(std::move(status));
  if (DialledAnew()) reporter_.NeedFull();
  PublishHello();
  if (welcome.send_catalog()) Say(DescribeCatalog(parts_.catalog, parts_.checks));
  parts_.log(LogLevel::kInfo,
             "connected to " + options_.controller + " (controller " + welcome.version() + ")");
  for (const std::string& feature : welcome.missing())
    parts_.log(LogLevel::kWarning, "agent and controller differ: " + feature);
  status_stale_ = true;
}

void NodeAgent::OnPauses(const v1::PauseList& list) {
  std::vector<Pause> pauses;
  for (const v1::Pause& pause : list.pauses())
    if (pause.node().empty() || pause.node() == options_.node) pauses.push_back(FromWire(pause));
  if (pauses == controller_pauses_) return;
  controller_pauses_ = std::move(pauses);
  ApplyPauses();  // effective at once, whether or not it can be kept
  if (Status status = WriteWholeFile(parts_.state_dir.pauses(), FormatPauses(controller_pauses_));
      !status.ok())
    SetTrouble(std::move(status));
  parts_.log(LogLevel::kInfo,
             controller_pauses_.empty()
                 ? "the controller has ended all pauses"
                 : "the controller pauses enforcement (" + std::to_string(controller_pauses_.size()) + ")");
}

void NodeAgent::OnReportAck(const v1::ReportAck& ack) {
  changes_.Acknowledge(ack.stored_change());
  if (reporter_.Acknowledge(ack)) {
    PublishHello();
    if (DialledAnew()) {
      dialling_anew_ = false;
      PublishHello();
      reconciler_.ControllerAnswered();
    }
  }
  status_stale_ = true;
}

void NodeAgent::Notice(const std::vector<Hint>& hints) { reconciler_.Notice(hints); }

void NodeAgent::Refresh() { reconciler_.Refresh(); }

void NodeAgent::LookAtPauses() {
  if (!local_pauses_.Look() && !pauses_stale_) return;
  ApplyPauses();
  parts_.log(LogLevel::kInfo, local_pauses_.pauses().empty() ? "the pause on this node has ended"
                                                             : "enforcement is paused on this node: " +
                                                                   local_pauses_.pauses().front().reason);
}

void NodeAgent::ApplyPauses() {
  std::vector<Pause> all = controller_pauses_;
  for (Pause pause : local_pauses_.pauses()) {
    pause.node = options_.node;
    all.push_back(std::move(pause));
  }
  if (!trouble_.ok())
    all.push_back({options_.node, "", "railwright-agent",
                   trouble_.message() +
                       "; nothing is written to this machine until the state directory takes "
                       "writes again"});
  reconciler_.SetPauses(std::move(all));
  status_stale_ = true;
  pauses_stale_ = false;
}

// Between two writes of one Tick: a pause on this node is seen here at once, by one stat(). The reconciler is
// at work, so it gets the new list afterwards.
bool NodeAgent::PausedNow(std::string_view key) {
  if (local_pauses_.Look()) pauses_stale_ = true;
  if (!trouble_.ok()) return true;
  if (local_pauses_.pauses().empty()) return false;
  const auto match = parts_.catalog.Find(key);
  return Stops(local_pauses_.pauses(), key, match.ok() ? match->setting->info().key : key);
}

void NodeAgent::SetTrouble(Status trouble) {
  if (trouble.ok() == trouble_.ok() && trouble.message() == trouble_.message()) return;
  trouble_ = std::move(trouble);
  next_probe_ = parts_.clock.Now() + kProbe;
  if (trouble_.ok())
    parts_.log(LogLevel::kInfo, "the state directory takes writes again");
  else
    parts_.log(LogLevel::kError,
               trouble_.message() + "; nothing is written to this machine until that is over");
  ApplyPauses();
}

// Tries whether the state directory takes writes again, and brings it up to date.
void NodeAgent::WorkOnTrouble() {
  if (trouble_.ok() || parts_.clock.Now() < next_probe_) return;
  next_probe_ = parts_.clock.Now() + kProbe;
  const std::string probe = parts_.state_dir.directory() + "/probe";
  Status status = WriteWholeFile(probe, std::string(StateDir::kRoom, '\0'));
  ::unlink(probe.c_str());
  if (status.ok()) status = changes_.Flush();
  if (status.ok()) status = Keep();
  if (status.ok()) status = management_.Keep();
  if (status.ok()) status = WriteWholeFile(parts_.state_dir.pauses(), FormatPauses(controller_pauses_));
  const bool over = status.ok();
  SetTrouble(std::move(status));
  if (const auto again = over ? std::exchange(unraised_, {}) : std::nullopt) OnDesired(*again);
}

bool NodeAgent::Tick() {
  WorkOnTrouble();
  LookAtManagement();
  LookAtValidity();
  const bool changed = reconciler_.Tick();
  if (latch_.begun() && reconciler_.Report().state_hash == latch_.hash()) latch_.End();
  if (pauses_stale_) LookAtPauses();
  if (std::vector<ChangeRecord> fresh = reconciler_.TakeChanges(); !fresh.empty()) {
    for (const ChangeRecord& change : fresh) {
      LogChange(change);
      recent_.push_front(change);
      if (recent_.size() > kRecent) recent_.pop_back();
    }
    // Durable first: SendReport only ever sees what is.
    if (Status status = changes_.Append(std::move(fresh)); !status.ok()) SetTrouble(std::move(status));
  }
  if (changed) status_stale_ = true;
  RunCommands();
  SendReport();
  Beat();
  LookAtSession();
  const auto now = parts_.clock.Now();
  if (now >= status_written_ + kStatusAge) status_stale_ = true;
  if (status_stale_ && now >= next_status_) status_error_ = WriteStatus();
  if (Status error = std::exchange(status_error_, Ok()); !error.ok() && trouble_.ok())
    SetTrouble(std::move(error));
  return changed;
}

void NodeAgent::SendReport() {
  if (connection_ == 0) return;
  const std::string before = reporter_.acknowledged();
  if (auto report = reporter_.Next(Report(), changes_.pending(), parts_.clock.Now())) {
    if (DialledAnew()) report->set_padding(std::string(kPadding, '\0'));
    Say(*report);
  }
  if (reporter_.acknowledged() != before) PublishHello();  // held by the controller since an earlier life
}

void NodeAgent::Beat() {
  if (connection_ == 0 || parts_.clock.Now() < last_sent_ + options_.heartbeat) return;
  v1::Heartbeat beat;
  beat.set_report_hash8(HashPrefix8(reporter_.latest()));
  Say(beat);
}

void NodeAgent::LookAtSession() {
  std::string text = parts_.session_text();
  if (text == session_text_) return;
  session_text_ = std::move(text);
  status_stale_ = true;
  if (session_text_ != "connected") parts_.log(LogLevel::kWarning, session_text_);
}

// Before anything is written: a route may have moved the way to the controller to another interface.
void NodeAgent::LookAtManagement() {
  management_.Look();
  const Management& now = management_.management();
  reconciler_.SetManagement(now);
  if (Status status = trouble_.ok() ? management_.Keep() : Ok(); !status.ok()) SetTrouble(std::move(status));
  if (now == told_management_) return;
  told_management_ = now;
  status_stale_ = true;
  if (!now.unknown.empty())
    parts_.log(LogLevel::kWarning, "it is not known which interface leads to the controller (" + now.unknown +
                                       "); until it is, nothing is written that an interface could feel");
  else if (now.netdevs.empty())
    parts_.log(LogLevel::kInfo, "no interface leads to the controller: it is on this host");
  else
    parts_.log(LogLevel::kInfo,
               "left alone, since the controller is reached through it: " + management_.Text());
}

// Between two operations of a pass, which may take long.
void NodeAgent::Meanwhile() {
  if (parts_.at_work) parts_.at_work();
  if (!started_) return;
  LookAtSession();
  if (!status_stale_ || parts_.clock.Now() < next_status_) return;
  // What to do about an error is decided when the pass is over: the reconciler is at work.
  if (Status status = WriteStatus(); !status.ok()) status_error_ = std::move(status);
}

void NodeAgent::Send(ToController message) {
  last_sent_ = parts_.clock.Now();
  parts_.send(std::move(message));
}

Clock::Steady NodeAgent::NextDue() const {
  Clock::Steady due = reconciler_.NextDue();
  if (connection_ != 0) due = std::min(due, last_sent_ + options_.heartbeat);
  if (const auto resend = reporter_.NextDue()) due = std::min(due, *resend);
  if (!trouble_.ok()) due = std::min(due, next_probe_);
  if (status_stale_) due = std::min(due, next_status_);
  for (const Asked& asked : commands_) due = std::min(due, asked.deadline + milliseconds(1));
  return due;
}

std::vector<std::string> NodeAgent::WatchedPaths() const { return reconciler_.WatchedPaths(); }

bool NodeAgent::Ready() const { return state_.generation.value == 0 || reconciler_.Report().settled; }

std::string NodeAgent::Summary() const {
  const NodeReport& report = reconciler_.Report();
  const std::string what = state_.generation.value != 0 ? Of(state_.generation)
                           : given_up_.value != 0       ? Of(given_up_) + " is not taken up"
                                                        : "no desired state yet";
  return options_.node + ": " + (Ready() ? std::string(Name(report.verdict)) : "the first pass still runs") +
         ", " + what + ", " + parts_.session_text();
}

void NodeAgent::LogChange(const ChangeRecord& change) const {
  const std::string place = change.target.empty() ? change.key : change.key + " on " + change.target;
  const auto brief = [](const std::string& value) {
    constexpr std::size_t kMost = 120;
    return value.empty()           ? std::string("nothing")
           : value.size() <= kMost ? value
                                   : value.substr(0, kMost) + "…";
  };
  std::string line =
      std::string(Name(change.kind)) + ": " + place + ": " + brief(change.from) + " → " + brief(change.to);
  if (!change.by.empty()) line += ", by " + change.by;
  if (!change.noticed.empty()) line += ", noticed by " + change.noticed;
  if (change.took.count() > 0) line += ", took " + Took(change.took);
  if (!change.message.empty()) line += ": " + change.message;
  parts_.log(change.ok || change.kind == ChangeKind::kDrift ? LogLevel::kInfo : LogLevel::kWarning, line);
}

void NodeAgent::PublishHello() {
  const std::lock_guard lock(hello_mutex_);
  hello_.set_boot_id(options_.boot_id);
  hello_.set_catalog_hash(parts_.catalog.hash());
  hello_.set_state_hash(state_.hash);
  hello_.set_generation(state_.generation.value);
  hello_.set_report_hash(reporter_.acknowledged());
  hello_.set_statement(seal_.newest().generation);
  hello_.set_statement_digest(
      seal_.newest().generation == 0 ? std::string() : std::string(identity::Bytes(seal_.newest().digest)));
  hello_.set_pad_welcome(dialling_anew_ ? kPadding : 0);
}

v1::Hello NodeAgent::Hello() const {
  const std::lock_guard lock(hello_mutex_);
  return hello_;
}

}  // namespace railwright
