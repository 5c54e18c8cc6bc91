// A recorded machine on disk: the layout of README.md, "Snapshots".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::machine {

/// What a Machine answered, by path. Ordered, so that two recordings of one machine are the same files.
struct Recording {
  std::map<std::string, Result<std::string>, std::less<>> values;
  std::map<std::string, Result<std::vector<std::string>>, std::less<>> lists;
};

/// One component as a file name: `%`, a leading dot, control bytes and the whole name `@` are written as %XX.
std::string EncodeComponent(std::string_view component);
/// The reverse; anything not of that form is taken as it is.
std::string DecodeComponent(std::string_view name);
/// "/sys/a/.b" → "/sys/a/%2Eb".
std::string EncodePath(std::string_view path);

/// Writes below `directory`, which is there. `readme` becomes README.md. The file INCOMPLETE stands in it
/// until everything is written.
Status WriteRecording(const std::string& directory, const Recording& recording, const std::string& readme);
/// Makes `directory`, refuses one that holds anything (AlreadyExists), and puts the mark INCOMPLETE into it.
Status BeginRecording(const std::string& directory);

/// Reads single answers out of a snapshot.
class SnapshotTree {
 public:
  /// NotFound when `directory` is none; DataLoss when its recording never ended; InvalidArgument when it has
  /// none of the folders of a snapshot.
  static Result<SnapshotTree> Open(const std::string& directory);

  /// What Get answered; nullopt when it was not recorded.
  std::optional<Result<std::string>> Value(std::string_view path) const;
  /// What List answered; nullopt when it was not recorded.
  std::optional<Result<std::vector<std::string>>> List(std::string_view path) const;

 private:
  explicit SnapshotTree(std::string directory) : directory_(std::move(directory)) {}
  std::optional<std::string> Read(std::string_view kind, std::string_view path) const;
  std::optional<Status> Error(std::string_view kind, std::string_view path) const;

  std::string directory_;
};

/// "NotFound 2 /sys/x: No such file or directory" ⇄ Status.
std::string ErrorText(const Status& status);
Status ParseError(std::string_view text);

}  // namespace railwright::machine
