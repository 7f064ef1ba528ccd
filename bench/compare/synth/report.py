"""Makes a Markdown table of the CSV files of accuracy_synth and peers.py in a folder. Needs Python alone.

  report.py FOLDER
"""
import collections
import csv
import pathlib
import statistics
import sys


def main():
    groups = collections.defaultdict(list)
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                groups[float(row["epsilon"]), row["method"]].append(row)
    print("| epsilon | method | runs | error | spread | processor time | memory |\n|---|---|---|---|---|---|---|")
    for (epsilon, method), rows in sorted(groups.items()):
        errors = [float(row["error"]) for row in rows]
        seconds = statistics.mean(float(row["cpu_seconds"]) for row in rows)
        memory = max(float(row["peak_mb"]) for row in rows)
        spread = f"{statistics.stdev(errors):.4f}" if len(errors) > 1 else ""
        print(f"| {epsilon:g} | {method} | {len(rows)} | {statistics.mean(errors):.4f} | {spread} | {seconds:.1f} s | "
              f"{memory:.0f} MB |")


if __name__ == "__main__":
    main()
