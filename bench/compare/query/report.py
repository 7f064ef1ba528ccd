"""Makes one Markdown table of results.jsonl, truth.json and missing.txt in a folder. Needs Python alone.

  report.py FOLDER
"""
import json
import pathlib
import statistics
import sys

TASKS = {"t1": "T1, counts by public key", "t2": "T2, count, sum and mean by unknown key", "t3": "T3, three quartiles",
         "t4": "T4, counts after a join on the person", "t5": "T5, one of many small questions"}


def error(task, answer, truth):
    """Median over groups of the relative error of the first number; of quartiles, of all three, relative to the range."""
    if task == "t3":
        return statistics.median(abs(a - b) / 100 for a, b in zip(answer["all"], truth["all"]))
    both = [key for key in truth if key in answer]
    return statistics.median(abs(answer[k][0] - truth[k][0]) / truth[k][0] for k in both) if both else None


def cells(line, ours, truth):
    task = line["task"]
    if "refused" in line or "failed" in line:
        return [line.get("refused") and "refused: " + line["refused"] or "failed: " + line["failed"][:80]] + ["–"] * 6
    times = lambda name: f"{line[name] / ours[name]:.1f}x" if name in ours else "–"
    row = [f"{line['wall']:.2f} s ({times('wall')})", f"{line['processor']:.2f} s ({times('processor')})",
           f"{line['start']:.1f} s", f"{line['memory'] / 2**20:.0f} MB"]
    if task == "t5":
        return row + ["–"] * 3
    wrong = error(task, line["answer"], truth[task])
    shown = sum(key in line["answer"] for key in truth[task])
    held = "–" if line["contestant"].startswith("shoal") else "no intervals"
    if "covered" in line:
        held = f"{100 * line['covered'][0] / max(line['covered'][1], 1):.1f}% of {line['covered'][1]}"
    return row + ["–" if wrong is None else f"{100 * wrong:.2g}%", f"{shown} of {len(truth[task])}", held]


def main():
    folder = pathlib.Path(sys.argv[1])
    truth = json.loads((folder / "truth.json").read_text())
    lines = [json.loads(text) for text in (folder / "results.jsonl").read_text().splitlines()]
    head = ["", "wall (times Shoal's)", "processor", "start", "memory", "error", "groups shown", "intervals that hold"]
    for task, title in TASKS.items():
        mine = [line for line in lines if line["task"] == task]
        ours = next((line for line in mine if line["contestant"] == "shoal"), {})
        print(f"### {title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for line in mine:
            print("| " + " | ".join([line["contestant"]] + cells(line, ours, truth)) + " |")
        print()
    missing = (folder / "missing.txt").read_text().split()
    if missing:
        print("Did not install: " + ", ".join(missing) + ".")


main()
