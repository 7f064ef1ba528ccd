"""Writes the rows that all contestants are asked about, and the plain answers to the tasks of peers.py.

  data.py ROWS FOLDER
"""
import json
import pathlib
import sys

import duckdb

rows, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
people = rows // 10
database = duckdb.connect()
database.execute("SET threads = 1")
database.execute("SELECT setseed(0.42)")
# Rows of a person fall as the square root of the rank; groups are of very different sizes.
database.execute(
    f"COPY (SELECT CAST(floor({people} * power(random(), 2)) AS BIGINT) AS user_id, CAST(floor(100 * power(random(), "
    f"1.5)) AS INTEGER) AS grp, random() * random() * 120 AS value FROM range({rows})) TO "
    f"'{folder}/events.parquet' (FORMAT parquet)")
database.execute(
    f"COPY (SELECT i AS user_id, ['north', 'east', 'south', 'west'][1 + i % 4] AS region FROM range({people}) t(i)) TO "
    f"'{folder}/people.parquet' (FORMAT parquet)")
events = f"'{folder}/events.parquet'"
# Nobody is in more than 3 groups: which groups count is then no matter of chance, and intervals can be checked.
database.execute(f"COPY (SELECT user_id, CAST(user_id % 33 * 3 + grp % 3 AS INTEGER) AS grp, value FROM {events}) TO "
                 f"'{folder}/narrow.parquet' (FORMAT parquet)")


def groups(sql):
    return {str(row[0]): list(row[1:]) for row in database.execute(sql).fetchall()}


value = "least(value, 100)"
truth = {
    "t1": groups(f"SELECT grp, count(*) FROM {events} GROUP BY grp"),
    "t2": groups(f"SELECT grp, count(*), sum({value}), avg({value}) FROM {events} GROUP BY grp"),
    "t3": groups("SELECT 'all', " + ", ".join(f"quantile_cont({value}, {q})" for q in (0.25, 0.5, 0.75)) + f" FROM {events}"),
    "t4": groups(f"SELECT region, count(*) FROM {events} JOIN '{folder}/people.parquet' USING (user_id) GROUP BY region"),
}
(folder / "truth.json").write_text(json.dumps(truth))
