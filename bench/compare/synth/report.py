"""Makes a Markdown table of the CSV files of accuracy_synth and the peers in a folder. Needs Python alone.

  report.py FOLDER [--by-epsilon]    the second with a row a method, as plot_table takes it
"""
import collections
import csv
import pathlib
import statistics
import sys


def by_epsilon(groups):
    epsilons = sorted({epsilon for epsilon, _ in groups})
    print("| method | " + " | ".join(f"{epsilon:g}" for epsilon in epsilons) + " |\n|---" + "|---" * len(epsilons) + "|")
    for method in sorted({method for _, method in groups}):
        cells = []
        for epsilon in epsilons:
            errors = [float(row["error"]) for row in groups.get((epsilon, method), [])]
            spread = statistics.stdev(errors) / len(errors) ** 0.5 if len(errors) > 1 else 0
            cells.append(f"{statistics.mean(errors):.4f} +- {spread:.4f}" if errors else "")
        print(f"| {method} | " + " | ".join(cells) + " |")


def main():
    groups = collections.defaultdict(list)
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                groups[float(row["epsilon"]), row["method"]].append(row)
    if "--by-epsilon" in sys.argv:
        return by_epsilon(groups)
    seconds_of = {group: statistics.mean(float(row["cpu_seconds"]) for row in rows) for group, rows in groups.items()}
    print("| epsilon | method | runs | error | its standard error | processor time | of aim's | memory |\n" + "|---" * 8 + "|")
    for (epsilon, method), rows in sorted(groups.items()):
        errors = [float(row["error"]) for row in rows]
        seconds = seconds_of[epsilon, method]
        ratio = f"{seconds / seconds_of[epsilon, 'aim']:.2g}x" if (epsilon, "aim") in groups else ""
        memory = max(float(row["peak_mb"]) for row in rows)
        spread = f"{statistics.stdev(errors) / len(errors) ** 0.5:.4f}" if len(errors) > 1 else ""
        print(f"| {epsilon:g} | {method} | {len(rows)} | {statistics.mean(errors):.4f} | {spread} | {seconds:.1f} s | "
              f"{ratio} | {memory:.0f} MB |")


if __name__ == "__main__":
    main()
