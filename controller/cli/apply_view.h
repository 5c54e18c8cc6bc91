// What an apply or a rollback has come to: gathers events, shows whom it waits for, judges the end. Pure.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/text/exit_code.h"
#include "core/text/table.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

class ApplyProgress {
 public:
  /// `wait` false: the outcome of the nodes is not asked for.
  explicit ApplyProgress(bool wait) : wait_(wait) {}

  void Add(const v1::ApplyEvent& event);

  /// "generation 42, wave 1 of 3: 2 of 4 nodes settled; waiting for gpu-[003-004]"
  std::string Live() const;
  std::uint64_t generation() const { return generation_; }
  bool finished() const { return finished_; }
  bool unchanged() const { return unchanged_; }

  /// 1 a write failed on a node, or a node refused the generation · 2 a node is not as declared · 3 a node is
  /// unreachable or Unknown, or a newer generation took over · 6 its rollout does not go on by itself · 7 the
  /// wait ended before all had settled · 0.
  ExitCode exit() const;
  nlohmann::ordered_json ToJson() const;
  /// A line a node (over 16 nodes: a line for all that have the same outcome), then the sentence that says
  /// what is in force, what goes on, and how to undo it.
  std::string Table(const Terminal& terminal) const;

 private:
  struct Row {
    std::string node;
    Cell verdict;
    std::string changed;
    std::string what;
  };
  std::vector<Row> Rows(const Terminal& terminal) const;
  std::string Sentence(const Terminal& terminal) const;
  bool CanUndo() const;
  std::string FollowBy() const;
  static bool Failed(const v1::NodeOutcome& outcome);

  bool wait_;
  std::uint64_t generation_ = 0;
  std::uint64_t superseded_by_ = 0;
  std::uint32_t nodes_ = 0;
  std::string rollout_;  // "wave 1 of 3", as it was told last
  std::string stopped_;  // why its rollout does not go on by itself
  bool finished_ = false, unchanged_ = false, timed_out_ = false;
  std::vector<std::string> waiting_, unreachable_;
  std::map<std::string, v1::NodeOutcome> done_;
};

}  // namespace railwright::cli
