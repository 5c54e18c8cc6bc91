// What programs print of values that anybody may have chosen: YAML, JSON, tables.
#include <nlohmann/json.hpp>

#include "core/spec/source_text.h"
#include "core/spec/yaml_tree.h"
#include "core/text/table.h"
#include "core/text/yaml.h"
#include "railwright/utf8.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using Json = nlohmann::ordered_json;

namespace {

// The strings of a value, keys included, in order.
void Strings(const Json& value, std::vector<std::string>& strings, int depth, bool& plain) {
  if (depth > 24) plain = false;
  if (!plain) return;
  if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      plain = plain && key.size() <= 512;
      strings.push_back(key);
      Strings(one, strings, depth + 1, plain);
    }
  } else if (value.is_array()) {
    for (const Json& one : value) Strings(one, strings, depth + 1, plain);
  } else if (value.is_string()) {
    strings.push_back(value.get<std::string>());
  }
}

void Strings(const spec::YamlNode& node, std::vector<std::string>& strings, std::vector<bool>& quoted) {
  if (node.kind == spec::YamlNode::Kind::kScalar) strings.push_back(node.text);
  for (const spec::YamlNode& item : node.items) Strings(item, strings, quoted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string valid = ValidUtf8(text);
  ALWAYS(ValidUtf8(valid) == valid && valid.size() <= 3 * size, text);
  const std::string printable = Printable(text);
  ALWAYS(printable.size() <= 8 * size, text);
  for (const char c : printable) ALWAYS(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, printable, text);
  ALWAYS(DisplayWidth(printable) <= 8 * size, printable);
  Table table({{"NAME"}, {"VALUE", false, 20}});
  table.Add({std::string(text), std::string(text)});
  for (const bool utf8 : {true, false})
    ALWAYS(table.Render({.colour = false, .utf8 = utf8, .width = 60}).find('\x1b') == std::string::npos,
           text);

  const Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return 0;
  bool plain = true;
  std::vector<std::string> strings, read;
  Strings(value, strings, 0, plain);
  if (!plain) return 0;
  const std::string yaml = ToYaml(value);
  ALWAYS(!yaml.empty() && yaml.back() == '\n', yaml);
  ALWAYS(Json::parse(ToJsonText(value)) == value, text);
  // Our own reader of YAML sees the same strings in the same order, where it takes the text at all.
  spec::Problems problems("y", yaml, 1);
  if (!spec::FindBadBytes(yaml, 1).message.empty()) return 0;
  const auto tree = spec::ParseYaml(yaml, 1, problems);
  if (!tree || problems.size() != 0) return 0;
  std::vector<bool> quoted;
  Strings(*tree, read, quoted);
  for (const std::string& one : strings) {
    bool found = false;
    for (const std::string& other : read) found = found || other == one;
    ALWAYS(found, one, yaml);
  }
  return 0;
}
