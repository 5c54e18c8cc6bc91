-- Who may join and who has joined, and the audit as a chain of hashes.

-- Of a token's secret only its SHA-256 is here.
CREATE TABLE tokens (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  secret_digest BLOB NOT NULL,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  authority TEXT NOT NULL,
  origin TEXT NOT NULL,
  uses_left INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  expires_us INTEGER NOT NULL,
  by TEXT NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE members (
  position INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  uuid TEXT NOT NULL,
  key_digest BLOB NOT NULL,
  serial TEXT NOT NULL,
  not_after_us INTEGER NOT NULL,
  renewals INTEGER NOT NULL,
  authority TEXT NOT NULL,
  standing INTEGER NOT NULL,
  reason TEXT NOT NULL,
  by TEXT NOT NULL,
  changed_us INTEGER NOT NULL,
  digest BLOB NOT NULL,
  UNIQUE (kind, name)
) STRICT;
CREATE UNIQUE INDEX members_by_uuid ON members (uuid) WHERE uuid <> '';

-- `hash` chains the rows (core/audit). Those of before are copied and chained in code, in the same transaction,
-- which then drops audit_unchained.
ALTER TABLE audit RENAME TO audit_unchained;
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at_us INTEGER NOT NULL,
  who TEXT NOT NULL,
  origin TEXT NOT NULL,
  serial TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  outcome TEXT NOT NULL,
  hash BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;

-- The newest row's id and hash, so that rows cut off the end of the audit are missed.
CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last INTEGER NOT NULL,
  hash BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;
