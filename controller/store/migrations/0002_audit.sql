-- Who ordered what, and a row that Probe() overwrites to learn whether the disk takes writes again.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_us INTEGER NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE probe (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at_us INTEGER NOT NULL,
  pad BLOB NOT NULL
) STRICT;
