// What identifies a site, replaced: the same value by the same replacement, structure kept.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "agent/machine/ip_address.h"

namespace railwright::machine {

/// Addresses mapped so that structure survives: two addresses share exactly as many leading bits after the
/// mapping as before (so networks, subnets and who is in which stay), and lengths stay. Not a cipher: it
/// hides from a reader, and the seed is kept nowhere.
/// - IPv4: bits 8 to 23 are mapped; the last byte stays, so that .1 and .254 read as they are meant. Private,
///   shared and link-local ranges stay such; of public addresses the first byte is mapped as a whole.
/// - IPv6: bits up to 63 are mapped, fe80::/10, fc00::/7 and 2000::/3 stay such. The lower half stays when it
/// is
///   a small number; made of a MAC, it follows that MAC's replacement; else it is mapped as a whole.
/// - Loopback, unspecified, multicast and IPv4 netmasks stay.
class AddressMap {
 public:
  explicit AddressMap(std::uint64_t seed) : seed_(seed) {}
  /// With `length` ≥ 0 and no bit set beyond it, the result has none either: it is a network.
  IpAddress Map(const IpAddress& address, int length = -1);
  /// 02:00:00:xx:xx:xx, counted up. Zero, broadcast and multicast stay.
  std::array<std::uint8_t, 6> MapMac(const std::array<std::uint8_t, 6>& mac);

 private:
  std::array<std::uint8_t, 4> MapV4(std::array<std::uint8_t, 4> bytes) const;
  void MapInterfaceId(std::array<std::uint8_t, 16>& bytes);
  void FlipBits(std::uint8_t* bytes, int from, int to, std::uint64_t kind) const;

  std::uint64_t seed_;
  std::map<std::array<std::uint8_t, 6>, std::array<std::uint8_t, 6>> macs_;
};

/// Redacts what a Machine answered. Learn everything first, then ask: a serial number or a host name learned
/// at one path is replaced wherever it stands.
class Redactor {
 public:
  /// `host_name` is this host's own, "" when unknown.
  Redactor(std::uint64_t seed, std::string_view host_name);
  /// Takes in what `path` holds: serial numbers, names out of /etc/hosts and /etc/hostname.
  void Learn(std::string_view path, std::string_view text);
  /// The text that was read at `path`, redacted: MACs, GUIDs, UUIDs, addresses (also the hexadecimal ones of
  /// /proc/net/route and the like, by the same mapping), serial numbers, host names; below /file and in the
  /// kernel's command line also the values of passwords, tokens and keys, PEM bodies, and the user part of
  /// URLs.
  std::string Text(std::string_view path, std::string_view text);
  /// A path or name itself: host names, and MACs inside interface names.
  std::string Name(std::string_view name);

 private:
  std::string Replacement(std::map<std::string, std::string, std::less<>>& known, std::string_view value,
                          std::string_view prefix);
  void LearnHost(std::string_view name, std::string_view replacement);
  std::string WithoutSecrets(std::string_view text, bool lines);
  const std::pair<const std::string, std::string>* WordAt(std::string_view text) const;
  std::string WithoutWords(std::string_view text) const;
  std::string WithoutAddresses(std::string_view text, bool plain_numbers_too);
  bool TakeToken(std::string_view token, std::string_view after, std::string& out, IpAddress& mapped,
                 bool dotted_numbers);
  std::string MacText(std::string_view token, char separator);
  /// Whether `path` is one of the files of /proc/net that ProcNetText knows.
  static bool TakesWholeFile(std::string_view path);
  std::string ProcNetText(std::string_view path, std::string_view text);
  std::string HexLine(std::string_view name, std::string_view line);
  std::string TrieLine(std::string_view line, std::string_view rest);

  AddressMap addresses_;
  std::map<std::string, std::string, std::less<>> serials_, secrets_, guids_, uuids_;
  std::map<std::string, std::string, std::less<>> words_;  // host names and serial numbers
  std::string host_name_;
};

}  // namespace railwright::machine
