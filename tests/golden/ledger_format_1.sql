-- A ledger of format 1, dumped from a file that the last version with that format wrote: three questions under a policy
-- of replace_one (a count and a sum with Laplace noise, a count with Gaussian noise), each settled. Each sensitivity is
-- the one under replace_one: 1 for the count, 200 for a sum within [-100, 100].
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
  hash TEXT NOT NULL
) STRICT;
INSERT INTO entry VALUES(1,'2026-11-16T03:34:29Z','old-people','open',0,'','','','{"epsilon":10.0,"delta":1e-06,"neighbors":"replace_one","unit":"one row"}',0,0,0,0,0,'ce29326bb73a35af21e5680be3e0ab1b21703aaf7e78b7ea59c06eb0592d4f01');
INSERT INTO entry VALUES(2,'2026-11-16T03:34:29Z','old-people','reserve',2,'cedeef54e96b177598a2a17f947d14d8','eda91331440f357ac09f373a7749c7373b8c0d8c281f0a5f8d6b38359ebb7844','76d1919d-a684-4090-8cc1-127397545298:25325:2346515#1','{"event":{"compose":[{"discrete_laplace":{"scale":2.0,"sensitivity":1.0}}]},"description":"SELECT COUNT(*) FROM people","policy":"52073495b51814c01638cd1fb52aa3fef3f6fce4ffcab4d352cca09ebbe7d130","accountant":1}',500000000000,122459331201855,500000000000,122459331201855,0,'a594d512487a47895cceda0606a4694441fea3a860bf2e18d0f148587a7e1cab');
INSERT INTO entry VALUES(3,'2026-11-16T03:34:29Z','old-people','settle',2,'cedeef54e96b177598a2a17f947d14d8','eda91331440f357ac09f373a7749c7373b8c0d8c281f0a5f8d6b38359ebb7844','76d1919d-a684-4090-8cc1-127397545298:25325:2346515#1','{"digest":"84fcd333a68337e5172677caff0cd8bade6a48f8c32b93f512f575e2f253b6e9","answer":"{\"columns\":[{\"name\":\"count\",\"aggregate\":\"count\",\"value\":4,\"lower\":0,\"upper\":10,\"noise\":[{\"statistic\":\"rows\",\"mechanism\":\"discrete_laplace\",\"scale\":2.0,\"sensitivity\":1.0,\"step\":1.0}]}],\"confidence\":0.95,\"cost\":{\"epsilon\":0.5,\"delta\":0.0,\"rho\":0.12245933120185501},\"privacy\":{\"unit\":\"one row\",\"neighbors\":\"replace_one\",\"statement\":\"0.5-differentially private for one row, exchanged for another (replace_one)\"},\"entry\":2,\"key\":\"cedeef54e96b177598a2a17f947d14d8\"}"}',0,0,500000000000,122459331201855,0,'edd5a57c6d8e1eb43b4b5feafc6a7806141509c22d8617098f09d3ba54ebdcd4');
INSERT INTO entry VALUES(4,'2026-11-16T03:34:29Z','old-people','reserve',4,'2f6e54254fd05c1695cab970ddd365f6','47677ccab964f73130691669df6b623bd991a9fecbd42785d19f40b017d53acc','76d1919d-a684-4090-8cc1-127397545298:25328:2346523#1','{"event":{"compose":[{"discrete_laplace":{"scale":400.0,"sensitivity":200.0}}]},"description":"SELECT SUM(age) FROM people","policy":"52073495b51814c01638cd1fb52aa3fef3f6fce4ffcab4d352cca09ebbe7d130","accountant":1}',500000000000,122459331201855,1000000000000,244918662403710,0,'73b193af375c6b034df20291f7816470b1ef17e27a7b1cf49d9e0793b683a306');
INSERT INTO entry VALUES(5,'2026-11-16T03:34:29Z','old-people','settle',4,'2f6e54254fd05c1695cab970ddd365f6','47677ccab964f73130691669df6b623bd991a9fecbd42785d19f40b017d53acc','76d1919d-a684-4090-8cc1-127397545298:25328:2346523#1','{"digest":"d3cac0ac1c21307cacda3e230a51436983895aec329c1faf49428031fdc79864","answer":"{\"columns\":[{\"name\":\"sum_age\",\"aggregate\":\"sum\",\"value\":127.0,\"lower\":-1071.0,\"upper\":1325.0,\"bounds\":[-100.0,100.0],\"noise\":[{\"statistic\":\"sum of age\",\"mechanism\":\"discrete_laplace\",\"scale\":400.0,\"sensitivity\":200.0,\"step\":1.0}]}],\"confidence\":0.95,\"cost\":{\"epsilon\":0.5,\"delta\":0.0,\"rho\":0.12245933120185501},\"privacy\":{\"unit\":\"one row\",\"neighbors\":\"replace_one\",\"statement\":\"0.5-differentially private for one row, exchanged for another (replace_one)\"},\"entry\":4,\"key\":\"2f6e54254fd05c1695cab970ddd365f6\"}"}',0,0,1000000000000,244918662403710,0,'5145f8c44fc9ea0bc070e173e2e187af89ef4f2700b06a1855df329503d62626');
INSERT INTO entry VALUES(6,'2026-11-16T03:34:29Z','old-people','reserve',6,'d641d3aff503afaa042337270224910d','3f8b92438e4bec04388defec1e818323cec2e7edfc0c98cd8f021fb6810a5b1a','76d1919d-a684-4090-8cc1-127397545298:25331:2346531#1','{"event":{"compose":[{"discrete_gaussian":{"sigma":9.598293344262977,"sensitivity":1.0}}]},"description":"SELECT COUNT(*) FROM people","policy":"52073495b51814c01638cd1fb52aa3fef3f6fce4ffcab4d352cca09ebbe7d130","accountant":1}',NULL,5427276736733,1000000000000,250345939140443,1,'8153678f4f2f864b7c55afada2aa2e55d7a32bc18b16fe35f13b8d7a22d8ce56');
INSERT INTO entry VALUES(7,'2026-11-16T03:34:29Z','old-people','settle',6,'d641d3aff503afaa042337270224910d','3f8b92438e4bec04388defec1e818323cec2e7edfc0c98cd8f021fb6810a5b1a','76d1919d-a684-4090-8cc1-127397545298:25331:2346531#1','{"digest":"be0c6f00562c3107313fa9e0106a50e0b2ed6cf77a051eeb56ffba18190fcdbf","answer":"{\"columns\":[{\"name\":\"count\",\"aggregate\":\"count\",\"value\":5,\"lower\":0,\"upper\":24,\"noise\":[{\"statistic\":\"rows\",\"mechanism\":\"discrete_gaussian\",\"scale\":9.598293344262977,\"sensitivity\":1.0,\"step\":1.0}]}],\"confidence\":0.95,\"cost\":{\"epsilon\":0.5,\"delta\":1e-07,\"rho\":0.005427276736733},\"privacy\":{\"unit\":\"one row\",\"neighbors\":\"replace_one\",\"statement\":\"(0.5, 1e-07)-differentially private for one row, exchanged for another (replace_one)\"},\"entry\":6,\"key\":\"d641d3aff503afaa042337270224910d\"}"}',0,0,1000000000000,250345939140443,1,'779dbf4b3a8db8401c4fdc35a7be3241f1b5e1d2011f2041fd43cb4c406a6da8');
CREATE UNIQUE INDEX entry_request ON entry(lineage, request_key) WHERE kind = 'reserve';
CREATE UNIQUE INDEX entry_close ON entry(reservation) WHERE kind IN ('settle', 'cancel');
CREATE INDEX entry_resume ON entry(reservation) WHERE kind = 'resume';
CREATE INDEX entry_account ON entry(lineage, seq) WHERE kind IN ('open', 'budget');
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
COMMIT;
PRAGMA application_id = 1397247809;
PRAGMA user_version = 1;
