-- The contents of a store of version 1. Never change it: stores in the field look like this.
PRAGMA application_id = 1381450580;
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

INSERT INTO generations VALUES (1,1796040000123456,'ann','first light',0,4,17,x'0101076770752d303031086c696e6b2e6d7475057261696c30',2,x'3507dc5bdffdcdd02503840b6c41e02d564fcf47beae25de4767fe9dda9450e9');
INSERT INTO texts VALUES (1,x'9c5479633b14bdd494203da784146f090eae554d198e76083fdb615d2d4268e2','kind: Cluster
name: pod-a
');
INSERT INTO documents VALUES (1,1,0,'Cluster','pod-a','site.yaml',1,1,x'c77853b48f20f945753a285b1e7f4c5bbe046214cdb87e2670bb75184d3985ed');
INSERT INTO texts VALUES (2,x'1d9429db123ceb68b7d8f9becc6281ca7486509e3d49118a1a9844d04a1bf656','kind: Profile
name: a
mode: observe
');
INSERT INTO documents VALUES (2,1,1,'Profile','a','site.yaml',9,2,x'3d8a016a2ffd4ab918c38a574f4b7de3602b0480a395c5a64989555c9865250d');
INSERT INTO generations VALUES (2,1796040000123456,'ann','first light',0,4,17,x'0101076770752d303031086c696e6b2e6d7475057261696c30',2,x'3bc8af29bb13e40f3e58981108ed52f24ba705f34a1df7181d68a5ec78bee68e');
INSERT INTO documents VALUES (3,2,0,'Cluster','pod-a','site.yaml',1,1,x'023b8bfa8db6539dde51bdeff159b19ce2b9af027b5038609341ddcb577562eb');
INSERT INTO texts VALUES (3,x'741195488d457b39a18e207261654a1dc913fc45bd6bf7769efe5df8d0dc948e','kind: Profile
name: a
');
INSERT INTO documents VALUES (4,2,1,'Profile','a','site.yaml',9,3,x'15eeda26b7fd1d663bb8472ad9e1119e5442e5ee492e559ffd3a2dcd5bbf5ab2');
INSERT INTO reports VALUES (1,'gpu-001',3,'abc',1,1,'h1',1796040000000000,1,2,'0.1.0','b',x'01010752572d31313031086c696e6b2e6d7475057261696c300434323030063135002030300100056772c3bc6e00021b2f72746e6c2f6c696e6b2f7261696c302f6d7475203d203135303000010950726f66696c652f610e736974652e79616d6c3a31323a33',x'3151bfa09b0f4c4b78bb633edd5f522716a42389688e4e81fc243c05a4e6d4ee');
INSERT INTO changes VALUES (1,'gpu-001',1,1796040001000000,'link.mtu',x'010101086c696e6b2e6d7475057261696c30043135303004343230300869705b343731315d056576656e74010003c0a48cb2d2af9803d209',x'3169fb3ecf752d28602d45969586ab57dc11bef8026d94e47cbd2c32f2a2ef9b');
INSERT INTO reports VALUES (2,'gpu-002',3,'abc',1,1,'h1',1796040000000000,1,2,'0.1.0','b',x'01010752572d31313031086c696e6b2e6d7475057261696c300434323030063135002030300100056772c3bc6e00021b2f72746e6c2f6c696e6b2f7261696c302f6d7475203d203135303000010950726f66696c652f610e736974652e79616d6c3a31323a33',x'b52a45c45bc00409784c26389491c06a3467cd7436f5f272668e397b145cc793');
INSERT INTO changes VALUES (2,'gpu-002',1,1796040001000000,'link.mtu',x'010101086c696e6b2e6d7475057261696c30043135303004343230300869705b343731315d056576656e74010003c0a48cb2d2af9803d209',x'46ae6865733d1a813c035be5684a7e49e8c8c000f677a4b6c6894ca70b943bc7');
INSERT INTO pauses VALUES (0,'gpu-001','link.mtu','ann','cable work',x'dbaf78bb4df770243b98efa7573502476e8886367dc1c5fbb42d8196492a7ce6');
PRAGMA user_version = 1;
