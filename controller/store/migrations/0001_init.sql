-- Desired documents by generation, what the nodes last reported, their history, what is paused.
-- A column `digest` is the SHA-256 of the row's other columns, in the order of record.h; it is checked on read.
-- Rowid tables on purpose: rows of about 1 KiB spill out of a WITHOUT ROWID tree and cost three times as much.

-- A document's text is stored once however many generations hold it; its digest is that of the text alone.
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE generations (
  generation INTEGER PRIMARY KEY,
  created_us INTEGER NOT NULL,
  author TEXT NOT NULL,
  comment TEXT NOT NULL,
  rolled_back_from INTEGER NOT NULL,
  nodes INTEGER NOT NULL,
  settings INTEGER NOT NULL,
  restores BLOB NOT NULL,
  documents INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL REFERENCES generations (generation),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  text_id INTEGER NOT NULL REFERENCES texts (id),
  digest BLOB NOT NULL,
  UNIQUE (generation, position)
) STRICT;

CREATE TABLE reports (
  id INTEGER PRIMARY KEY,
  node TEXT NOT NULL UNIQUE,
  generation INTEGER NOT NULL,
  state_hash TEXT NOT NULL,
  verdict INTEGER NOT NULL,
  settled INTEGER NOT NULL,
  report_hash TEXT NOT NULL,
  at_us INTEGER NOT NULL,
  stored_change INTEGER NOT NULL,
  corrected INTEGER NOT NULL,
  agent_version TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  findings BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE changes (
  id INTEGER PRIMARY KEY,
  node TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at_us INTEGER NOT NULL,
  key TEXT NOT NULL,
  record BLOB NOT NULL,
  digest BLOB NOT NULL,
  UNIQUE (node, sequence)
) STRICT;
CREATE INDEX changes_by_time ON changes (at_us);

CREATE TABLE pauses (
  position INTEGER PRIMARY KEY,
  node TEXT NOT NULL,
  key TEXT NOT NULL,
  by TEXT NOT NULL,
  reason TEXT NOT NULL,
  digest BLOB NOT NULL
) STRICT;
