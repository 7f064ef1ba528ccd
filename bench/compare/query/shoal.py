"""Answers the tasks of peers.py with the shoal command, and prints lines of JSON as it does. Needs Python alone.

  shoal.py COMMAND FOLDER ROUNDS

Twice: on the file as the peers get it, and on what `shoal import` makes of it once, rows ordered by person; the import is
the start of the second. Each question is a process of its own, with everything an answer takes: policy, plan, ledger, sums,
noise; only the small ones of T5 are asked in one, as the peers do it. Which groups of a person count is drawn anew for each question, so intervals are checked on narrow.parquet, where nobody has too many: an
answer at a large epsilon, with next to no noise, tells what they should hold.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

COMMAND, FOLDER, ROUNDS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
SMALL = 5
POLICY = """
[dataset]
name = "events"
lineage = "events"
[privacy]
unit = "person"
neighbors = "add_remove"
[budget]
epsilon = 1000
delta = 1e-4
ledger = "events.ledger"
[query]
time_steps = 0
[table.events]
source = "EVENTS.parquet"
format = "parquet"
person_column = "user_id"
clustered = CLUSTERED
max_rows_per_person = 10
max_groups_per_person = 3
max_rows_per_group = 10
[table.events.column.user_id]
type = "integer"
[table.events.column.grp]
type = "integer"
CATEGORIES
[table.events.column.value]
type = "real"
bounds = [0, 100]
[table.people]
source = "people.parquet"
format = "parquet"
person_column = "user_id"
max_rows_per_person = 1
max_groups_per_person = 1
[table.people.column.user_id]
type = "integer"
[table.people.column.region]
type = "text"
categories = ["north", "east", "south", "west"]
"""
TASKS = {
    "t1": "SELECT grp, COUNT(*) AS n FROM events GROUP BY grp",
    "t2": "SELECT grp, COUNT(*) AS n, SUM(value) AS s, AVG(value) AS m FROM events GROUP BY grp",
    "t3": "SELECT PERCENTILE_CONT(value, 0.25) AS a, PERCENTILE_CONT(value, 0.5) AS b, PERCENTILE_CONT(value, 0.75) AS c "
          "FROM events",
    "t4": "SELECT region, COUNT(*) AS n FROM events JOIN people USING (user_id) GROUP BY region",
    "t5": "SELECT COUNT(*) AS n FROM events WHERE grp = {}",
}


def policy(task, events, clustered=False):
    path = FOLDER / f"{task}.toml"
    for pattern in ("events.ledger*", "*.parquet.shoal"):
        for old in FOLDER.glob(pattern):
            old.unlink()
    keys = "categories = [" + ", ".join(map(str, range(100))) + "]" if task == "t1" else ""
    text = POLICY.replace("CATEGORIES", keys).replace("EVENTS", events)
    path.write_text(text.replace("CLUSTERED", "true" if clustered else "false"))
    if (FOLDER / f"{events}.parquet").exists():
        subprocess.run([COMMAND, "import", path], check=True, capture_output=True)
    return path


def imported(events):
    """Seconds of writing a file again, ordered by person."""
    path, ordered = policy("import", events), FOLDER / f"{events}_ordered.parquet"
    ordered.unlink(missing_ok=True)
    begin = time.monotonic()
    subprocess.run([COMMAND, "import", path, "--table", "events", "--output", ordered], check=True, capture_output=True)
    return time.monotonic() - begin


def run(arguments, said=""):
    """Seconds, those of the processor, bytes and what it prints."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as errors:
        given.write(said)
        given.seek(0)
        process = subprocess.Popen([COMMAND, *arguments], stdin=given, stdout=subprocess.PIPE, stderr=errors, text=True)
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)  # of this one alone
        errors.seek(0)
        if status != 0:
            raise RuntimeError(errors.read().strip()[:300])
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text


def ask(path, sql, epsilon, key):
    wall, processor, memory, text = run(
        ["query", path, sql, "--epsilon", str(epsilon), "--format", "json", "--key", key])
    answer, cells = {}, {}
    for row in json.loads(text)["rows"]:
        keyed = "lower" not in row[0] and len(row) > 1
        name = str(row[0]["value"]) if keyed else "all"
        cells[name] = row[1:] if keyed else row
        answer[name] = [cell["value"] for cell in cells[name]]
    return wall, processor, memory, answer, cells


def ask_small(path, sql):
    """Some questions, each of its part of epsilon; for one of them, on average."""
    wall, processor, memory, _ = run(["shell", path, "--epsilon", str(1 / SMALL), "--no-history"],
                                     "".join(sql.format(i) + ";\n" for i in range(SMALL)))
    return wall / SMALL, processor / SMALL, memory


def covered(cells, exact):
    """How many intervals hold the exact value, and how many there are."""
    held = total = 0
    for name, row in cells.items():
        for cell, value in zip(row, exact.get(name, [])):
            if value is None or cell.get("value") is None:
                continue
            total += 1
            held += cell.get("lower", value) <= value <= cell.get("upper", value)
    return held, total


def answer_all(contestant, start, ending):
    for task, sql in TASKS.items():
        line = {"contestant": contestant, "task": task, "start": start}
        try:
            if task == "t5":
                # A policy each time, as an exact repeat of a question costs nothing.
                runs = [ask_small(policy(task, "events" + ending, ending != ""), sql) for _ in range(ROUNDS)]
            else:
                path = policy(task, "events" + ending, ending != "")
                runs = [ask(path, sql, 1, f"round-{i}") for i in range(ROUNDS)]
            line |= {"wall": min(r[0] for r in runs), "processor": min(r[1] for r in runs),
                     "memory": max(r[2] for r in runs), "answer": {} if task == "t5" else runs[0][3]}
            if task in ("t1", "t2", "t4"):
                path = policy(task, "narrow" + ending, ending != "")
                exact = ask(path, sql, 400, "exact")[3]
                counts = [covered(ask(path, sql, 1, f"round-{i}")[4], exact) for i in range(ROUNDS)]
                line["covered"] = [sum(count[0] for count in counts), sum(count[1] for count in counts)]
        except RuntimeError as failure:
            line["failed"] = str(failure)
        print(json.dumps(line), flush=True)


answer_all("shoal", 0.0, "")
seconds = imported("events")
imported("narrow")
answer_all("shoal, imported", seconds, "_ordered")
