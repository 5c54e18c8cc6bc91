// Who set a value, since when, and what was seen. Pure.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "core/text/table.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// {node, key, generation, targets[]{target, value, since_generation,
/// layers[]{value,mode,precedence,won,origin},
///  finding{}|null, changes[]}}
nlohmann::ordered_json WhyJson(const v1::WhyRequest& asked, const v1::WhyResponse& answer);
std::string WhyText(const v1::WhyRequest& asked, const v1::WhyResponse& answer, const Terminal& terminal,
                    std::chrono::system_clock::time_point now);

}  // namespace railwright::cli
