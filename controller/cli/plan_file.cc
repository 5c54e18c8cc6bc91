#include "controller/cli/plan_file.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/files/whole_file.h"
#include "core/text/yaml.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kKind = "railwright/plan/v1";
constexpr std::string_view kKindStem = "railwright/plan/";

Status Wrong(const std::string& path, const std::string& what) {
  return {Code::kInvalidArgument,
          path + ": " + what + "\nnext: make it again with railctl plan -f FILE --out " + path};
}

}  // namespace

Status WritePlanFile(const std::string& path, const PlanFile& plan) {
  Json sources = Json::array();
  for (const v1::SourceFile& source : plan.sources)
    sources.push_back({{"name", source.name()}, {"text", source.text()}});
  Json json = {{"kind", kKind},
               {"plan_id", plan.plan_id},
               {"plan_hash", plan.plan_hash},
               {"base_generation", plan.base_generation},
               {"created", plan.created},
               {"controller", plan.controller},
               {"summary", plan.summary},
               {"prune", plan.prune},
               {"restore", plan.restore},
               {"allow_empty", plan.allow_empty},
               {"sources", std::move(sources)}};
  if (plan.try_for.count() > 0) json["try_ms"] = plan.try_for.count();
  return WriteWholeFile(path, ToJsonText(json));
}

Result<PlanFile> ReadPlanFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return FromErrno(errno, path);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return FromErrno(errno, path);
  const Json json = Json::parse(text.str(), nullptr, false);
  if (json.is_discarded() || !json.is_object()) return Wrong(path, "is no saved plan (not a JSON object)");
  const auto kind = json.find("kind");
  if (kind == json.end() || !kind->is_string()) return Wrong(path, "is no saved plan (it has no kind)");
  if (*kind != kKind) {
    const std::string found = kind->get<std::string>();
    if (found.starts_with(kKindStem)) return Wrong(path, "is a plan of another version (" + found + ")");
    return Wrong(path, "is no saved plan (its kind is \"" + found + "\")");
  }
  PlanFile plan;
  try {
    plan.plan_id = json.at("plan_id").get<std::string>();
    plan.plan_hash = json.at("plan_hash").get<std::string>();
    const Json& base = json.at("base_generation");
    if (!base.is_number_unsigned()) return Wrong(path, "is damaged: its base_generation is no whole number");
    plan.base_generation = base.get<std::uint64_t>();
    plan.created = json.value("created", "");
    plan.controller = json.value("controller", "");
    plan.summary = json.value("summary", "");
    plan.prune = json.value("prune", false);
    plan.restore = json.value("restore", false);
    plan.allow_empty = json.value("allow_empty", false);
    plan.try_for = std::chrono::milliseconds(json.value("try_ms", std::int64_t{0}));
    for (const Json& one : json.at("sources")) {
      v1::SourceFile source;
      source.set_name(one.at("name").get<std::string>());
      source.set_text(one.at("text").get<std::string>());
      plan.sources.push_back(std::move(source));
    }
  } catch (const nlohmann::json::exception& error) {
    return Wrong(path, std::string("is damaged: ") + error.what());
  }
  if (plan.plan_hash.empty() || plan.sources.empty()) return Wrong(path, "is damaged: it holds no plan");
  return plan;
}

}  // namespace railwright::cli
