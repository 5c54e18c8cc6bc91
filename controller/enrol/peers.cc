#include "controller/enrol/peers.h"

#include <algorithm>

#include "core/identity/digest.h"
#include "core/identity/server_name.h"

namespace railwright {
namespace {

constexpr std::chrono::minutes kRemembered{1};

}  // namespace

std::string Peers::Of(std::string_view address) {
  const auto name = identity::ServerName::Parse(address);
  if (!name.ok() || name->address().size() != 16) return std::string(address);
  return identity::Hex(std::string_view(name->address()).substr(0, 8));
}

void Peers::Forget(Time now) {
  forgot_ = now;
  std::erase_if(all_, [&](const auto& one) {
    const Account& account = one.second;
    return now - account.counted > kRemembered &&
           (account.failures.empty() || now - account.failures.back() > kRemembered);
  });
}

Peers::Account& Peers::At(const std::string& peer, Time now) {
  auto at = all_.find(peer);
  if (at == all_.end()) {
    // At most once a second: a flood of addresses must not make each of them look through all others.
    if (all_.size() >= kMost && now - forgot_ >= std::chrono::seconds(1)) Forget(now);
    at = all_.try_emplace(all_.size() >= kMost ? std::string() : peer).first;
    if (at->second.counted == Time{}) at->second = {terms_.accepts_at_once, now, {}};
  }
  Account& account = at->second;
  const double seconds = std::chrono::duration<double>(now - account.counted).count();
  account.allowance = std::min(terms_.accepts_at_once, account.allowance + seconds * terms_.accepts_a_second);
  account.counted = now;
  while (!account.failures.empty() && now - account.failures.front() > kRemembered)
    account.failures.pop_front();
  return account;
}

bool Peers::Admit(const std::string& peer, Time now) {
  Account& account = At(peer, now);
  if (account.allowance < 1) return false;
  account.allowance -= 1;
  return true;
}

void Peers::Failed(const std::string& peer, Time now) {
  Account& account = At(peer, now);
  account.failures.push_back(now);
  if (account.failures.size() > terms_.failures_a_minute) account.failures.pop_front();
}

std::chrono::milliseconds Peers::DelayOf(const std::string& peer, Time now) {
  return At(peer, now).failures.size() >= terms_.failures_a_minute ? terms_.delay
                                                                   : std::chrono::milliseconds{0};
}

}  // namespace railwright
