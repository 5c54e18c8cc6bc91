// The operator's YAML: documents or problems, and every place lies in the text.
#include <algorithm>

#include "core/decode/values.h"
#include "core/spec/loader.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const int first_line = 1 + (input.Byte() - '0') % 8;
  if (first_line < 1) return 0;
  const std::string_view text = input.Rest();
  const Loaded loaded = LoadDocuments("f.yaml", text, first_line);
  const auto lines = Lines(text);
  const int last_line = first_line + static_cast<int>(lines.size());
  ALWAYS(!loaded.documents.empty() || !loaded.problems.empty(), text);
  ALWAYS(loaded.problems.size() <= kMostProblems + 1, text);
  for (const Problem& problem : loaded.problems) {
    ALWAYS(!problem.message.empty() && problem.message.size() <= 4096, problem.message, text);
    ALWAYS(problem.file == "f.yaml", text);
    if (problem.line == 0) continue;
    ALWAYS(problem.line >= first_line && problem.line <= last_line && problem.column >= 1, problem.ToString(),
           text);
    const auto index = static_cast<std::size_t>(problem.line - first_line);
    const std::size_t width = index < lines.size() ? lines[index].size() : 0;
    ALWAYS(static_cast<std::size_t>(problem.column) <= width + 1, problem.ToString(), text);
    ALWAYS(problem.excerpt.size() <= 2048, problem.excerpt, text);
  }
  for (const Document& document : loaded.documents) {
    ALWAYS(document.line >= first_line && document.line <= last_line, document.id(), text);
    ALWAYS(text.find(document.text) != std::string_view::npos, document.text, text);
    // A stored document is read again at its place, and is the same.
    const Loaded again = LoadDocuments("f.yaml", document.text, document.line);
    ALWAYS(again.documents.size() == 1 && again.documents[0].id() == document.id(), document.text, text);
    const auto bytes = [](const Document& one) {
      return std::visit([](const auto& body) { return body.SerializeAsString(); }, one.body);
    };
    if (loaded.problems.empty()) {
      ALWAYS(again.problems.empty(), document.text, text);
      const auto* profile = std::get_if<v1::Profile>(&document.body);
      if (profile == nullptr)  // maps of protobuf have no order of their own
        ALWAYS(bytes(again.documents[0]) == bytes(document), document.text, text);
    }
  }
  return 0;
}
