#include "core/decode/dcqcn_alias.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/decode/fields.h"

namespace railwright {
namespace {

constexpr std::array kAliases{
    DcqcnAlias{.key = "dcqcn.alpha", .register_name = "initial_alpha_value", .example = "200"},
    DcqcnAlias{.key = "dcqcn.beta", .register_name = "rpg_ai_rate", .example = "10"},
};

// A cut takes alpha / 2^rpg_gd of the rate, alpha in 1024ths, rpg_gd 11 unless it was changed.
std::string FirstCut(std::uint64_t alpha) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", static_cast<double>(alpha) * 100 / 2048);
  return text;
}

}  // namespace

std::span<const DcqcnAlias> DcqcnAliases() { return kAliases; }

const DcqcnAlias* FindDcqcnAlias(std::string_view key) {
  const auto* found =
      std::find_if(kAliases.begin(), kAliases.end(), [&](const DcqcnAlias& one) { return one.key == key; });
  return found == kAliases.end() ? nullptr : found;
}

std::string TargetKeyOf(const DcqcnAlias& alias) { return "dcqcn." + std::string(alias.register_name); }

const DcqcnRegister& TargetOf(const DcqcnAlias& alias) { return *FindDcqcnRegister(alias.register_name); }

std::string EffectOf(const DcqcnAlias& alias, std::string_view canonical) {
  const DcqcnRegister& target = TargetOf(alias);
  if (alias.key == "dcqcn.alpha")
    return "the first cut of a flow becomes " + FirstCut(ParseNumber(canonical).value_or(0)) +
           " of its rate (the card's default: " + FirstCut(ParseNumber(target.factory).value_or(0)) + ")";
  return "each step of additive increase becomes " + std::string(canonical) + " " + std::string(target.unit) +
         " (the card's default: " + std::string(target.factory) + ")";
}

std::string ExampleOf(const DcqcnAlias& alias) {
  return std::string(alias.example) + ": " + EffectOf(alias, alias.example);
}

std::string MeaningOf(const DcqcnAlias& alias) {
  const DcqcnRegister& target = TargetOf(alias);
  return std::string(alias.key) +
         " is no register of any card. Guides use it without saying which they mean; " +
         "here it stands for dcqcn." + std::string(alias.register_name) + " (" + std::string(target.what) +
         "; " + AllowedValues(target) + ", most cards come with " + std::string(target.factory) + "), and " +
         std::string(kDcqcnAliasRule) +
         ". It is expanded when documents are resolved: plans, findings and nodes name the register, and a "
         "profile that sets both is refused. It tunes little by itself: how soon flows are cut at all is "
         "decided by the switches' ECN thresholds.";
}

}  // namespace railwright
