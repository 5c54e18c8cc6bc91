// The profiles of templates/, as they were when this program was built: what they set, and why. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railwright::cli {

/// One value that a template gives, with the reason that stands above it in the file.
struct TemplateSetting {
  std::string key;
  std::string value;   ///< as written: "{fabric: [3]}"
  std::string reason;  ///< the comment above, on one line; holds for all keys up to the next comment or gap
};

struct Template {
  std::string name;   ///< of the profile, "roce-lossless-400g"
  std::string file;   ///< "roce-lossless-400g.yaml"
  std::string about;  ///< the comment at the head of the file
  std::string text;   ///< the whole file
  std::vector<TemplateSetting> settings;
};

/// Takes a template apart by its lines. It is one of ours, which a test has read as YAML; of another text it
/// makes what it can.
Template ReadTemplate(std::string_view file, std::string_view text);

/// All templates that are profiles, by name.
const std::vector<Template>& ShippedTemplates();

}  // namespace railwright::cli
