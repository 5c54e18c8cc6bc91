// FileJournal: the journal as one append-only file, one JSON line a record, synced before it is relied upon.
#pragma once

#include <memory>
#include <string>

#include "railwright/journal.h"

namespace railwright {

/// Opens or creates `path`. A torn last line (the machine died while writing) is dropped; any other damage is
/// DataLoss naming the line, and the file is left as it is. Compacts itself at open (temporary name, sync,
/// rename). ResourceExhausted when the disk is full: nothing may then be written to the machine.
Result<std::unique_ptr<Journal>> OpenFileJournal(const std::string& path);

}  // namespace railwright
