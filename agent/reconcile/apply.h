// Apply: journal, write, read back. The only caller of Setting::Apply.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/reconcile/observe.h"
#include "agent/reconcile/wish.h"
#include "railwright/journal.h"
#include "railwright/machine.h"

namespace railwright {

/// How one write ended.
struct Outcome {
  enum class Kind : std::uint8_t {
    kDone,    ///< read back as wanted
    kNotYet,  ///< taken, but reads back differently; the step stays open in the journal
    kFailed,  ///< `error` says why; what is there now stands in the sight
    kPaused,  ///< an operator stopped it before anything was written
  } kind = Kind::kFailed;
  Status error;
  bool touched = false;              ///< the machine was asked to change
  std::vector<std::string> written;  ///< paths that were written
};

class Writer {
 public:
  /// All outlive it. `paused_now` is asked immediately before each write; may be empty.
  Writer(Machine& machine, Journal& journal, std::function<bool(std::string_view)> paused_now)
      : machine_(machine), journal_(journal), paused_now_(std::move(paused_now)) {}

  /// Makes the wish so. `sight` holds what was just seen (it is journalled as the original, unless there is
  /// one) and then what was read back.
  Outcome Fulfil(const Wish& wish, Sight& sight);
  /// Makes it `before` again, exactly.
  Outcome PutBack(const Wish& wish, Sight& sight, const Observation& before);

  /// As PutBack, at the end of a try: neither a pause nor a journal that takes no writes stops it, since the
  /// promise to go back was journalled before the try began.
  Outcome EndTry(const Wish& wish, Sight& sight, const Observation& before);

  /// Ends a step in the journal; what the journal refuses now is tried again by RetryEnds.
  void End(const std::string& key, const std::string& target);
  /// Whether all ended steps are marked so.
  bool RetryEnds();

 private:
  enum class Promised : bool { kNo, kYes };
  Outcome Write(const Wish& wish, Sight& sight, const std::string& to, const Observation* exact,
                Promised promised = Promised::kNo);
  /// Ok, or why nothing may be written.
  Status Note(const Wish& wish, const Sight& sight, const std::string& to);

  Machine& machine_;
  Journal& journal_;
  std::function<bool(std::string_view)> paused_now_;
  std::vector<std::pair<std::string, std::string>> unended_;
};

}  // namespace railwright
