-- What was signed for each node: the newest complete envelope, and a statement that waits for signatures.
CREATE TABLE statements (
  node TEXT PRIMARY KEY,
  envelope BLOB NOT NULL,
  pending BLOB NOT NULL,
  signatures BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT;
