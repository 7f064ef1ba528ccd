"""Makes three tables of codes for accuracy_synth, the same each time: NAME.csv and NAME-domain.json in FOLDER.

  made_tables.py FOLDER

few: four columns of 30 values, all the same in a row, of which three occur, in 2,000 rows. falling: columns of 40
values whose shares fall by a power, two alike in most rows and one that two others decide, in 20,000 rows. even:
columns of 10 to 30 values, all as frequent, two alike in every fifth row, in 5,000 rows. Needs Python alone.
"""
import json
import pathlib
import random
import sys


def falling(source, power):
    return source.choices(range(40), [(i + 1) ** -power for i in range(40)])[0]


def few_row(_, index):
    return [index % 3] * 4


def falling_row(source, _):
    a = falling(source, 1.5)
    b = a if source.random() < 0.7 else falling(source, 1.5)
    c = falling(source, 1.0)
    return [a, b, c, (a + c) % 7]


def even_row(source, _):
    a = source.randrange(20)
    b = source.randrange(20) if source.random() < 0.8 else a
    return [a, b, source.randrange(10), source.randrange(30)]


TABLES = {"few": ([30] * 4, 2000, few_row), "falling": ([40, 40, 40, 7], 20000, falling_row),
          "even": ([20, 20, 10, 30], 5000, even_row)}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (sizes, rows, make) in TABLES.items():
        source = random.Random(1)
        columns = [f"c{j}" for j in range(len(sizes))]
        lines = [",".join(columns)]
        lines += [",".join(map(str, make(source, index))) for index in range(rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        (folder / f"{name}-domain.json").write_text(json.dumps(dict(zip(columns, sizes))))


if __name__ == "__main__":
    main()
