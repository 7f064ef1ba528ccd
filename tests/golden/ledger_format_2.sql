-- A ledger of format 2, dumped from a file that the last version with that format wrote, under a policy of
-- replace_one: a count with Laplace noise, settled; a spend of epsilon 1 that was cancelled; one of rho 0.001, settled;
-- a smaller total; and a spend of epsilon 0.25 whose process died before an answer was stored.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE entry(
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  time TEXT NOT NULL,
  lineage TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('open', 'budget', 'reserve', 'resume', 'settle', 'cancel')),
  reservation INTEGER NOT NULL,
  request_key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  holder TEXT NOT NULL,
  body TEXT NOT NULL,
  epsilon_units INTEGER,
  rho_units INTEGER NOT NULL,
  epsilon_total INTEGER NOT NULL,
  rho_total INTEGER NOT NULL,
  unbounded_total INTEGER NOT NULL,
  hash TEXT NOT NULL,
  delta_units INTEGER,
  gaussian_units INTEGER,
  delta_total INTEGER,
  gaussian_total INTEGER,
  other_total INTEGER
) STRICT;
INSERT INTO entry VALUES(1,'2026-11-18T21:56:35Z','old-people','open',0,'','','','{"epsilon":10.0,"delta":1e-06,"failures":5e-07,"rule":"zcdp","neighbors":"replace_one","unit":"one row"}',0,0,0,0,0,'2d00d5f0171bc7181c24dae454af54407338ae28d19538d7f683f8f82ae61968',0,0,0,0,0);
INSERT INTO entry VALUES(2,'2026-11-18T21:56:35Z','old-people','reserve',2,'count','digest of count','979efa6e-9c53-445c-b130-f8d646bd349c:13459:75374#1','{"event":{"discrete_laplace":{"scale":2.0,"sensitivity":1.0,"replace_sensitivity":1.0}},"description":"SELECT COUNT(*) FROM people","policy":"policy","accountant":3}',500000000000,122459331201855,500000000000,122459331201855,0,'163e0a0b02e04596496813a475c2e383dbfe6df59baaa234eca0336530a53798',0,194620983237705,0,194620983237705,0);
INSERT INTO entry VALUES(3,'2026-11-18T21:56:35Z','old-people','settle',2,'count','digest of count','979efa6e-9c53-445c-b130-f8d646bd349c:13459:75374#1','{"digest":"5d1aa82fb9de7aee25129277d1c1e7bd251b8d265ffaef8ee6c1a166ea3831d0","answer":"{\"answer\": 1}"}',0,0,500000000000,122459331201855,0,'ab1dd1e0f8385668941d4966eb9764c1b824d78c73038177bff22385b1cfd4c6',0,0,0,194620983237705,0);
INSERT INTO entry VALUES(4,'2026-11-18T21:56:35Z','old-people','reserve',4,'cancelled','digest of cancelled','979efa6e-9c53-445c-b130-f8d646bd349c:13459:75374#2','{"event":{"pure":{"epsilon":1.0}},"description":"SELECT COUNT(*) FROM people","policy":"policy","accountant":3}',1000000000000,462117157260011,1500000000000,584576488461866,0,'2fe521e145af6cd50e30785d7930098f2196de964ce1a9eae48873f4f8964fe6',0,758955595371003,0,953576578608708,0);
INSERT INTO entry VALUES(5,'2026-11-18T21:56:35Z','old-people','cancel',4,'cancelled','digest of cancelled','979efa6e-9c53-445c-b130-f8d646bd349c:13459:75374#2','{}',0,0,500000000000,122459331201855,0,'ddcfcb6ddbb096307724fe2723af6e772c769b937fa1ce6c04345ff80621e7d2',0,0,0,194620983237705,0);
INSERT INTO entry VALUES(6,'2026-11-18T21:56:35Z','old-people','reserve',6,'gaussian','digest of gaussian','979efa6e-9c53-445c-b130-f8d646bd349c:13459:75374#3','{"event":{"zcdp":{"rho":0.001}},"description":"SELECT COUNT(*) FROM people","policy":"policy","accountant":3}',NULL,1000000000000,500000000000,123459331201855,1,'97d5359dc057814668eed3995c6918947e239f414936d69b55f52b155d9f184a',0,NULL,0,194620983237705,1);
INSERT INTO entry VALUES(7,'2026-11-18T21:56:35Z','old-people','settle',6,'gaussian','digest of gaussian','979efa6e-9c53-445c-b130-f8d646bd349c:13459:75374#3','{"digest":"6f5cca4a87524019d0bcb365216ae7befadcc78a616cf40737507be2045ce7d5","answer":"{\"answer\": 2}"}',0,0,500000000000,123459331201855,1,'dfaa8db75095499661a24313348aa8de48eafc76049c52ead64264e8a93ae222',0,0,0,194620983237705,1);
INSERT INTO entry VALUES(8,'2026-11-18T21:56:35Z','old-people','budget',0,'','','','{"epsilon":8.0,"delta":1e-06,"failures":5e-07,"rule":"zcdp","neighbors":"replace_one","unit":"one row"}',0,0,500000000000,123459331201855,1,'40e32f87af0a01a55f2e98a9ca17f6afc2e988a07c6204fec19bbd88f42d660b',0,0,0,194620983237705,1);
INSERT INTO entry VALUES(9,'2026-11-18T21:56:35Z','old-people','reserve',9,'open','digest of open','979efa6e-9c53-445c-b130-f8d646bd349c:13459:75374#4','{"event":{"pure":{"epsilon":0.25}},"description":"SELECT COUNT(*) FROM people","policy":"policy","accountant":3}',250000000000,31088250442900,750000000000,154547581644755,1,'41a14472c20bf97b56f5f65fbf4d8a07a39d5b8848bc58a89dae53732ced95dd',0,48978083547890,0,243599066785595,1);
CREATE UNIQUE INDEX entry_request ON entry(lineage, request_key) WHERE kind = 'reserve';
CREATE UNIQUE INDEX entry_close ON entry(reservation) WHERE kind IN ('settle', 'cancel');
CREATE INDEX entry_resume ON entry(reservation) WHERE kind = 'resume';
CREATE INDEX entry_account ON entry(lineage, seq) WHERE kind IN ('open', 'budget');
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
COMMIT;
PRAGMA application_id = 1397247809;
PRAGMA user_version = 2;
