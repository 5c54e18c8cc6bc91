// The two aliases of congestion control that operators copy from guides.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/decode/dcqcn.h"

namespace railwright {

/// `dcqcn.alpha` and `dcqcn.beta` are no registers of any card, and no vendor's page defines them. What they
/// are taken for is a choice, so the operator has to name it.
struct DcqcnAlias {
  std::string_view key;            ///< "dcqcn.alpha"
  std::string_view register_name;  ///< "initial_alpha_value"
  std::string_view example;        ///< the value that guides give it
};

inline constexpr std::string_view kDcqcnAliasProfileKey = "dcqcn.alias_profile";
inline constexpr std::string_view kDcqcnAliasProfile = "initial_alpha+ai_rate";
/// For messages: what has to stand beside an alias.
inline constexpr std::string_view kDcqcnAliasRule =
    "it counts only beside `dcqcn.alias_profile: initial_alpha+ai_rate` for the same ports";

std::span<const DcqcnAlias> DcqcnAliases();
/// nullptr when `key` is none; the alias profile itself is none.
const DcqcnAlias* FindDcqcnAlias(std::string_view key);
/// "dcqcn.initial_alpha_value".
std::string TargetKeyOf(const DcqcnAlias& alias);
const DcqcnRegister& TargetOf(const DcqcnAlias& alias);

/// What a value in the register's range does to a flow, beside what the card's default does: "the first cut
/// of a flow becomes 9.8 % (the card's default: 50.0 %)".
std::string EffectOf(const DcqcnAlias& alias, std::string_view canonical);
/// "200: the first cut …": EffectOf a value that guides name.
std::string ExampleOf(const DcqcnAlias& alias);
/// What the alias stands for, whatever its value, and why it is asked about: for explain.
std::string MeaningOf(const DcqcnAlias& alias);

}  // namespace railwright
