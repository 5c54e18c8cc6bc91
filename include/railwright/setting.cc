#include "railwright/setting.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "railwright/explain.h"
#include "railwright/utf8.h"

namespace railwright {

TargetKind Setting::TargetsOf(std::string_view) const { return info().targets; }

std::string Setting::CanonicalParam(std::string_view param) const { return std::string(param); }

Result<std::string> Setting::Desired(const Target&, std::string_view canonical) const {
  return std::string(canonical);
}

bool Setting::Satisfied(const Target&, std::string_view desired, const Observation& observed) const {
  if (observed.kind == Observation::Kind::kAbsent) return desired.empty();
  return observed.kind == Observation::Kind::kValue && observed.value == desired;
}

std::string Setting::OnlyLookedAt(const Target&, std::string_view) const {
  if (info().effect != Effect::kObserveOnly) return {};
  return "this version reads " + info().key + " but does not write it";
}

Disruption Setting::DisruptionOf(const Target&, std::string_view, std::string_view) const {
  return info().disruption;
}

Result<std::string> Setting::AsWish(const Target&, const Observation& observed) const {
  return observed.value;
}

std::vector<std::string> Setting::BlastSet(const Target& target) const {
  if (target.port != nullptr && !target.port->netdev.empty()) return {target.port->netdev};
  return {};
}

std::optional<WritePlace> Setting::WritesTo(const Target&, std::string_view, const Observation&) const {
  return std::nullopt;
}

Result<std::vector<std::string>> Setting::Prepare(Machine&) const { return std::vector<std::string>{}; }

namespace {

// The fixed part before "<…>" of a family key; the whole key otherwise.
std::string_view FamilyPrefix(std::string_view key) {
  const auto open = key.find('<');
  return open == std::string_view::npos ? key : key.substr(0, open);
}

// FNV-1a, 64 bit (draft-eastlake-fnv): a fingerprint of the catalogue, not a secret.
std::uint64_t Fnv1a(std::uint64_t hash, std::string_view text) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return (hash ^ 0xff) * 0x100000001b3ULL;
}

}  // namespace

Catalog::Catalog(std::vector<std::unique_ptr<const Setting>> settings) : settings_(std::move(settings)) {
  std::sort(settings_.begin(), settings_.end(),
            [](const auto& a, const auto& b) { return a->info().key < b->info().key; });
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const auto& setting : settings_) {
    hash = Fnv1a(hash, setting->info().key);
    hash = Fnv1a(hash, setting->info().syntax);
    hash = Fnv1a(hash, setting->info().code);
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  hash_ = text;
}

Result<Catalog::Match> Catalog::Find(std::string_view key) const {
  for (const auto& setting : settings_) {
    const std::string& declared = setting->info().key;
    const std::string_view prefix = FamilyPrefix(declared);
    if (prefix.size() == declared.size()) {
      if (key == declared) return Match{setting.get(), {}, declared};
    } else if (key.size() > prefix.size() && key.starts_with(prefix)) {
      std::string param = setting->CanonicalParam(key.substr(prefix.size()));
      std::string full = std::string(prefix) + param;
      return Match{setting.get(), std::move(param), std::move(full)};
    }
  }
  std::vector<std::string_view> known;
  for (const auto& setting : settings_) known.push_back(setting->info().key);
  constexpr std::size_t kLongestKey = 253;  // none is longer, and comparing costs its length
  std::string message = "unknown setting \"" + Brief(key) + "\"";
  if (const auto near = Nearest(key.substr(0, kLongestKey), known); !near.empty())
    message += "; did you mean \"" + std::string(near) + "\"?";
  return Status(Code::kNotFound, std::move(message));
}

}  // namespace railwright
