// A desired state off the wire: the bytes are checked against their hash before they are believed.
#include <set>

#include "core/wire/wire.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

// "link.mtu on rail0", for messages.
std::string Place(const std::string& key, const std::string& target) {
  return target.empty() ? Brief(key) + " on the node" : Brief(key) + " on " + Brief(target);
}

std::string Short(const std::string& hash) { return Brief(hash.substr(0, 12)); }

}  // namespace

Result<DesiredState> FromWire(const v1::DesiredState& message) {
  const std::string what = "desired state of generation " + std::to_string(message.generation());
  const std::string hash = StateHash(message.group(), message.overlay());
  if (hash.empty()) return Status(Code::kInternal, what + ": this host's OpenSSL gives no SHA-256");
  if (hash != message.hash())
    return Status(Code::kDataLoss, what + ": its bytes hash to " + Short(hash) + "…, but it says " +
                                       (message.hash().empty() ? "nothing" : Short(message.hash()) + "…") +
                                       "; it was damaged on the way or in store");
  v1::GroupPayload group;
  if (!group.ParseFromString(message.group()))
    return Status(Code::kInvalidArgument, what + ": the group payload (" +
                                              std::to_string(message.group().size()) +
                                              " bytes) is no GroupPayload");
  v1::NodeOverlay overlay;
  if (!overlay.ParseFromString(message.overlay()))
    return Status(
        Code::kInvalidArgument,
        what + ": the overlay (" + std::to_string(message.overlay().size()) + " bytes) is no NodeOverlay");
  if (message.generation() == 0) return Status(Code::kInvalidArgument, what + ": generations begin at 1");
  if (overlay.node().empty()) return Status(Code::kInvalidArgument, what + ": it names no node");

  DesiredState state;
  state.generation = Generation{message.generation()};
  state.hash = hash;
  state.node = overlay.node();
  state.cluster = group.cluster();
  state.subnets.assign(group.subnets().begin(), group.subnets().end());
  state.try_for = std::chrono::milliseconds(group.try_ms());
  for (const v1::RailPeer& peer : overlay.peers()) state.peers.push_back({peer.port(), peer.address()});

  std::set<std::string> ports;
  for (const v1::Port& port : overlay.ports()) {
    if (port.name().empty()) return Status(Code::kInvalidArgument, what + ": a port has no name");
    if (!ports.insert(port.name()).second)
      return Status(Code::kInvalidArgument, what + ": port " + Brief(port.name()) + " is declared twice");
    state.ports.push_back(FromWire(port));
  }
  std::set<KeyTarget> seen;
  for (const auto* settings : {&group.settings(), &overlay.settings()}) {
    for (const v1::SettingSpec& spec : *settings) {
      if (spec.key().empty()) return Status(Code::kInvalidArgument, what + ": a setting has no key");
      if (!seen.insert({spec.key(), spec.target()}).second)
        return Status(Code::kInvalidArgument, what + ": " + Place(spec.key(), spec.target()) +
                                                  " is set twice (" + Brief(spec.origin().place()) + ")");
      state.settings.push_back(FromWire(spec));
    }
  }
  for (const v1::KeyTarget& restore : overlay.restore()) {
    if (seen.contains({restore.key(), restore.target()}))
      return Status(Code::kInvalidArgument,
                    what + ": " + Place(restore.key(), restore.target()) + " is both set and to be restored");
    state.restore.push_back({restore.key(), restore.target()});
  }
  return state;
}

}  // namespace railwright
