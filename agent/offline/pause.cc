#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "agent/loop/pauses.h"
#include "agent/offline/commands.h"
#include "core/files/whole_file.h"
#include "railwright/catalog.h"

namespace railwright::offline {
namespace {

// Who asks: the user behind sudo, else the user.
std::string Who() {
  if (const char* sudo = std::getenv("SUDO_USER"); sudo != nullptr && *sudo != '\0') return sudo;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : "uid " + std::to_string(::getuid());
}

std::string What(const std::string& key) { return key.empty() ? "everything" : key; }

// The key in its one spelling, or the family as the catalogue writes it.
Result<std::string> KnownKey(const std::string& key) {
  if (key.empty()) return key;
  const CatalogDeclarations catalog;
  for (const SettingInfo* info : catalog.settings())
    if (info->key == key) return key;
  auto match = catalog.Find(key);
  if (!match.ok()) return match.status();
  return match->key;
}

}  // namespace

ExitCode PauseHere(const PauseOptions& options, const Console& console) {
  const auto key = KnownKey(options.key);
  if (!key.ok()) {
    console.Fail(key.status());
    return ExitCode::kUsage;
  }
  const auto state_dir = StateDir::Look(options.state_dir);
  if (!state_dir.ok()) return console.Fail(state_dir.status());
  // Two pauses at a time: the second one reads what the first one wrote.
  const int folder = ::open(options.state_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return console.Fail(FromErrno(errno, options.state_dir));
  ::flock(folder, LOCK_EX);

  const auto outcome = [&]() -> ExitCode {
    const std::string path = state_dir->local_pauses();
    std::vector<Pause> pauses;
    if (const auto text = ReadWhole(path); text.ok()) {
      auto parsed = ParsePauses(*text);
      // A damaged file stops everything already; a new pause or a full resume replaces it.
      if (!parsed.ok() && (!options.resume || !key->empty()))
        console.Note(path + " could not be understood and is replaced (" + parsed.status().message() + ")");
      if (parsed.ok()) pauses = std::move(*parsed);
    } else if (text.status().code() != Code::kNotFound) {
      return console.Fail(text.status());
    }
    const auto same = [&](const Pause& pause) { return pause.key == *key; };
    const bool was = std::any_of(pauses.begin(), pauses.end(), same);
    if (options.resume && key->empty())
      pauses.clear();
    else
      std::erase_if(pauses, same);
    if (!options.resume) pauses.push_back({"", *key, Who(), options.reason});

    if (pauses.empty()) {
      if (::unlink(path.c_str()) != 0 && errno != ENOENT) return console.Fail(FromErrno(errno, path));
    } else if (Status status = WriteWholeFile(path, FormatPauses(pauses)); !status.ok()) {
      return console.Fail(status);
    }
    if (options.resume && !key->empty() && !was)
      console.out << *key << " was not paused on this node\n";
    else if (options.resume)
      console.out << What(*key) << ": the pause on this node has ended\n";
    else
      console.out << What(*key) << ": paused on this node; end it with `railwright-agent pause --resume"
                  << (key->empty() ? "" : " " + *key) << "`\n";
    for (const Pause& pause : pauses)
      if (options.resume)
        console.out << "still paused: " << Printable(What(pause.key) + " by " + pause.by) << "\n";
    if (!state_dir->Holder())
      console.Note("no agent runs with " + options.state_dir + "; it will heed this when it starts");
    return ExitCode::kDone;
  }();
  ::close(folder);
  return outcome;
}

}  // namespace railwright::offline
