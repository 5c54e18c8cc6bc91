// What settings need to be there before they can be looked at (Setting::Prepare): made at start, and made
// again where a read says that something is missing. It is removed behind our back by a `rmdir`, and it was
// never there for a device whose driver came later.
#include <algorithm>
#include <utility>

#include "agent/reconcile/loop.h"

namespace railwright {

Status Reconciler::Impl::Prepare(bool& made_any) {
  made_any = false;
  // What a life before this one, or a pass before this one, made and did not remove is ours still.
  std::vector<std::string> prepared = journal_.Prepared();
  std::erase_if(prepared, [&](const std::string& path) {
    return machine_.Get(path).status().code() == Code::kNotFound;
  });
  std::vector<std::pair<const Setting*, std::string>> fresh;
  prepare_errors_.clear();
  for (const auto& setting : catalog_.settings()) {
    auto made = setting->Prepare(machine_);
    if (!made.ok()) {
      // Told with the findings of that setting: the others do not depend on it.
      prepare_errors_[setting.get()] = made.status().ToString();
      continue;
    }
    for (std::string& path : *made) {
      if (std::find(prepared.begin(), prepared.end(), path) == prepared.end()) prepared.push_back(path);
      fresh.emplace_back(setting.get(), std::move(path));
    }
  }
  Status kept = journal_.RecordPrepared(prepared);
  if (kept.ok()) {
    made_any = !fresh.empty();
    return kept;
  }
  // What nobody remembers would stay there for ever.
  for (auto one = fresh.rbegin(); one != fresh.rend(); ++one) {
    const Status removed = machine_.Set(one->second, "");
    prepare_errors_[one->first] = one->second + ": " +
                                  (removed.ok() ? "made, and removed" : "made, and left") +
                                  ", since it could not be journalled: " + kept.message();
  }
  return kept;
}

bool Reconciler::Impl::PrepareWhereMissing() {
  if (!prepare_due_) return false;
  const auto missing = [](const Entry& entry) {
    return !entry.gone && entry.sight.looked && entry.sight.error.code() == Code::kNotFound;
  };
  if (std::none_of(entries_.begin(), entries_.end(), missing)) return false;
  prepare_due_ = false;
  bool made = false;
  const auto errors = prepare_errors_;
  // What was refused is told with the findings, and tried again as the findings are.
  [[maybe_unused]] const Status kept = Prepare(made);
  if (!made && errors == prepare_errors_) return false;
  for (Entry& entry : entries_) {
    if (!missing(entry)) continue;
    entry.reassess = true;
    Observe(entry);
  }
  return made;
}

}  // namespace railwright
