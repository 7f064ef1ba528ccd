"""Makes one data set ready: train.csv, test.csv and policy.toml in a folder. Needs Python alone.

  prepare.py NAME DATA FOLDER    NAME: adult; DATA: the folder with the public files

Public facts (bounds, categories, the drop of rows with "?") are written here by hand or, for lists of categories, taken
from all rows: they are the census bureau's, not learnt from anybody. The split is 80 / 20 by a fixed shuffle.
"""
import csv
import pathlib
import random
import sys

ADULT = ["age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship",
         "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income"]
ADULT_BOUNDS = {"age": 90, "fnlwgt": 1490400, "education_num": 16, "capital_gain": 99999, "capital_loss": 4356,
                "hours_per_week": 99}


def adult(data):
    rows = []
    for name in ("adult-train.csv", "adult-test.csv"):
        with open(data / name, newline="", encoding="utf-8") as file:
            for row in csv.reader(file, skipinitialspace=True):
                if len(row) == len(ADULT) and "?" not in row:
                    rows.append([field.strip().rstrip(".") for field in row])
    return ADULT, ADULT_BOUNDS, rows


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def quoted(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def policy(name, header, bounds, rows):
    lines = [f'[dataset]\nname = "{name}"\nlineage = "{name}-bench"\n',
             '[privacy]\nunit = "row"\nneighbors = "add_remove"\n',
             '[budget]\nepsilon = 1000\ndelta = 0.001\nledger = "bench.ledger"\n',
             '[table.rows]\nsource = "train.csv"\nformat = "csv"\n']
    for place, column in enumerate(header):
        lines.append(f"[table.rows.column.{quoted(column)}]")
        if column in bounds:
            lines.append(f'type = "real"\nbounds = [0, {bounds[column]}]\n')
        else:
            listed = ", ".join(quoted(value) for value in sorted({row[place] for row in rows}))
            lines.append(f'type = "text"\ncategories = [{listed}]\n')
    return "\n".join(lines)


def main():
    name, data, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    header, bounds, rows = {"adult": adult}[name](data)
    folder.mkdir(parents=True, exist_ok=True)
    random.Random(1).shuffle(rows)
    cut = len(rows) * 4 // 5
    write_csv(folder / "train.csv", header, rows[:cut])
    write_csv(folder / "test.csv", header, rows[cut:])
    (folder / "policy.toml").write_text(policy(name, header, bounds, rows), encoding="utf-8")
    print(f"{name}: {cut} rows to train, {len(rows) - cut} to test")


if __name__ == "__main__":
    main()
