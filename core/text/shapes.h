// The JSON shapes that scripts lean on, in one place for all programs: names are stable, additions are free.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "railwright/check.h"
#include "railwright/setting.h"
#include "railwright/state.h"

namespace railwright {

/// {code,key,target,desired,observed,verdict,reason,message,fix,mode,evidence[],origin{document,place}}
nlohmann::ordered_json ToJson(const Finding& finding);
/// {sequence,kind,key,target,from,to,by,noticed,ok,message,generation,at,at_unix_us,took_us}
nlohmann::ordered_json ToJson(const ChangeRecord& change);
/// {key,target,from,to,disruption,blast[],why,origin{},mode,refused,refused_message,next_boot}
nlohmann::ordered_json ToJson(const Step& step);
/// {node,key,by,reason}
nlohmann::ordered_json ToJson(const Pause& pause);

/// One node of a status.
struct NodeShape {
  std::string node;
  Generation generation;
  Verdict verdict = Verdict::kUnknown;
  bool unreachable = false;  ///< counted as unreachable, whatever its last verdict was
  std::optional<std::chrono::system_clock::time_point> last_seen;  ///< none: null
  std::vector<Finding> findings;
};

/// {generation, complete, summary{nodes,compliant,drifted,pending,unknown,unreachable},
///  nodes[]{name,generation,verdict,last_seen,findings[]}}. `complete`: every node answered and nothing is
/// Unknown. A node's further members may be added to nodes[i] by the caller, in the order given.
nlohmann::ordered_json StatusShape(Generation generation, const std::vector<NodeShape>& nodes);

/// {hash,
/// settings[]{key,help,why,targets,syntax,default,disruption,noticed{by,worst_ms},code,effect,interface,
/// source}, checks[]{key,help,why,noticed{},code,interface}}
nlohmann::ordered_json CatalogShape(const std::vector<const SettingInfo*>& settings,
                                    const std::vector<const CheckInfo*>& checks, const std::string& hash);

}  // namespace railwright
