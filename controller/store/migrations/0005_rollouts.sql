-- How each generation spreads, which nodes of the newest one have been begun, and the breaker that only a person resets.
CREATE TABLE rollouts (
  generation INTEGER PRIMARY KEY,
  record BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE rollout_members (
  node TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  record BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE breaker (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  record BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;
