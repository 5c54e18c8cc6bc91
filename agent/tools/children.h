// Which processes are ours: what RunTool started, for telling our own doing from a stranger's.
#pragma once

namespace railwright {

/// A tool with this pid has been started.
void NoteStarted(int pid);
/// It has ended; for one more minute IsOurTool still knows it, since hints come late.
void NoteEnded(int pid);

}  // namespace railwright
