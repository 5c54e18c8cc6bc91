// Files of a snapshot: the text of a value, of an error and of a list, and the names of paths.
#include <algorithm>

#include "agent/machine/paths.h"
#include "agent/machine/snapshot_tree.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::machine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  fuzz::Input input(data, size);
  const std::string_view component = input.Line();
  const std::string encoded = EncodeComponent(component);
  ALWAYS(DecodeComponent(encoded) == component, component, encoded);
  ALWAYS(encoded.find('/') == std::string::npos && encoded.find('\0') == std::string::npos, encoded);
  ALWAYS(encoded != "." && encoded != ".." && encoded != "@", component, encoded);
  ALWAYS(DecodeComponent(component).size() <= component.size(), component);

  const std::string_view value = input.Part(), error = input.Part(), list = input.Rest();
  const Status status = ParseError(error);
  ALWAYS(!status.ok(), error);
  ALWAYS(ErrorText(status).find('\n') == std::string::npos, ErrorText(status));
  ALWAYS(ErrorText(ParseError(ErrorText(status))) == ErrorText(status), ErrorText(status), error);

  folder.Write("get/sys/x/@", value);
  folder.Write("err/sys/y/@", error);
  folder.Write("list/sys/@", list);
  const auto tree = SnapshotTree::Open(folder.path());
  ALWAYS(tree.ok(), tree.status().message());
  const auto read = tree->Value("/sys/x");
  ALWAYS(read && read->ok() && !(*read)->ends_with('\n') && value.starts_with(**read), value);
  ALWAYS(tree->Value("/sys/y") && tree->Value("/sys/y")->status() == status, error);
  ALWAYS(!tree->Value("/sys/z") && !tree->Value("/sys"), "never recorded");
  const auto names = tree->List("/sys");
  ALWAYS(names && names->ok(), list);
  ALWAYS(std::is_sorted((*names)->begin(), (*names)->end()), list);
  ALWAYS(std::adjacent_find((*names)->begin(), (*names)->end()) == (*names)->end(), list);
  return 0;
}
