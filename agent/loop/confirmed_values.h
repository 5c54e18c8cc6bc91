// ConfirmedValues: which values on the way to the controller this node has been reached with.
#pragma once

#include <map>
#include <string>

#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright {

/// A value that touches the way to the controller is written without its confirmation only when it was
/// confirmed before, by whatever boot: who is not connected must not cut himself off for good. Of each
/// (key, target) the last one. One thread uses it.
class ConfirmedValues {
 public:
  /// Far above the settings of a node; what comes beyond is not remembered.
  static constexpr std::size_t kMost = 4096;

  explicit ConfirmedValues(std::string path) : path_(std::move(path)) {}
  /// DataLoss: the file is damaged; nothing is known then, which costs a wait and no more.
  Status Load();
  bool Was(const KeyTarget& what, const std::string& value) const;
  /// Durable when Ok. What is known already is not written again.
  Status Note(const std::map<KeyTarget, std::string>& values);

 private:
  const std::string path_;
  std::map<KeyTarget, std::string> values_;
};

}  // namespace railwright
