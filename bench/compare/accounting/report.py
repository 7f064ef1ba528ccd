"""Makes one Markdown report of the measurements in a folder: shoal.jsonl, peers.jsonl, missing.txt. Needs Python alone.

  report.py CASES FOLDER
"""
import json
import math
import pathlib
import sys

OURS = "Shoal"
# Peers that compose the law of the privacy loss itself, as Shoal does; the others bound it or guess at it more cheaply.
RIVALS = ("dp-accounting PLD", "prv-accountant", "Opacus PRV", "autodp Fourier")

WRONG = "**does not hold the truth**"


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read(cases, folder):
    """The cases by name, each with the answers by contestant, Shoal's first."""
    found = {case["case"]: case | {"answers": {OURS: {"error": "timeout or crash"}}} for case in cases}
    for row in read_lines(folder / "shoal.jsonl") + read_lines(folder / "peers.jsonl"):
        if "error" not in row:
            top = "upper" if row["contestant"] == OURS else "epsilon"
            row["epsilon"] = math.inf if row[top] is None else row[top]
        found[row["case"]]["answers"][row["contestant"]] = row
    return found


def seconds(time):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time * 1e6:.3g} us"


def times(ratio):
    return f"{ratio:.3g}x" if ratio < 1000 else f"{ratio:,.0f}x"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def error(case, epsilon):
    """How far above the truth, relatively; less than the truth is known is nothing."""
    relative = epsilon / case["truth"] - 1
    return 0.0 if abs(relative) <= case["truth_error"] else relative


def too_low(case, answer):
    return error(case, answer["epsilon"]) < 0


def holds_truth(case, answer):
    return error(case, answer["lower"]) <= 0 and not too_low(case, answer)


def gap(answer):
    """Between the bounds, relatively."""
    if math.isinf(answer["epsilon"]):
        return math.inf
    return (answer["epsilon"] - answer["lower"]) / answer["epsilon"] if answer["epsilon"] > 0 else 0.0


def note(case, name, answer):
    if name == OURS:
        return f"{answer['engine']}, gap {gap(answer):.1e}" + ("" if holds_truth(case, answer) else f", {WRONG}")
    said = ["**too low**"] if too_low(case, answer) else []
    if "lower" in answer:
        said.append(f"says [{answer['lower']:.6g}, {answer['epsilon']:.6g}]")
    if answer["repetitions"] == 0:
        said.append("first call alone")
    return ", ".join(said)


def case_table(case):
    print(f"## {case['case']}: delta {case['delta']:g}, {case['neighbors']}\n")
    print(f"Epsilon is {case['truth']:.12g}, known to {case['truth_error']:.0e}: {case['source']}.\n")
    ours = case["answers"][OURS]
    lines = []
    for name, answer in case["answers"].items():
        if "error" in answer:
            lines.append([name, "–", "–", "–", "–", answer["error"].replace("|", "/")])
            continue
        known = name != OURS and "error" not in ours
        faster = times(answer["seconds"] / ours["seconds"]) if known else "–"
        lines.append([name, f"{answer['epsilon']:.10g}", f"{error(case, answer['epsilon']):+.1e}",
                      seconds(answer["seconds"]), faster, note(case, name, answer)])
    table(["", "epsilon", "above the truth", "time", "Shoal is faster", ""], lines)


def fastest_rival(case):
    """Name and time of the fastest that composes losses, has an answer and does not promise too much."""
    able = {name: answer["seconds"] for name, answer in case["answers"].items()
            if name in RIVALS and "error" not in answer and math.isfinite(answer["epsilon"])
            and not too_low(case, answer)}
    return min(able.items(), key=lambda one: one[1], default=None)


def target_lines(case):
    """No target is met by a wrong answer, however narrow or quick."""
    name, ours = case["case"], case["answers"][OURS]
    failed = ours.get("error") or (None if holds_truth(case, ours) else WRONG)
    limit = f"<= {case['gap']:g}"
    if failed:
        yield [name, "gap", limit, failed, "missed"]
    else:
        yield [name, "gap", limit, f"{gap(ours):.1e}", "met" if gap(ours) <= case["gap"] else "missed"]
    if case["times_faster"] is None:
        return
    limit = f">= {case['times_faster']}x"
    rival = fastest_rival(case)
    if failed or rival is None:
        yield [name, "speed", limit, failed or "no such peer answers", "missed" if failed else "not measured"]
        return
    value = rival[1] / ours["seconds"]
    met = "met" if value >= case["times_faster"] else "missed"
    yield [name, f"speed, against {rival[0]}", limit, times(value), met]


def summary(cases):
    """All cases in one table: the time of each, and how many times faster Shoal is."""
    print("## All cases: time, and how many times faster Shoal is\n")
    names = list(dict.fromkeys(name for case in cases.values() for name in case["answers"]))
    lines = []
    for case in cases.values():
        ours = case["answers"][OURS]
        cells = []
        for name in names:
            answer = case["answers"].get(name, {"error": "–"})
            if "error" in answer:
                cells.append(answer["error"].split(":")[0])
                continue
            mark = "*" if too_low(case, answer) else ""
            ratio = f" ({times(answer['seconds'] / ours['seconds'])})" if name != OURS and "error" not in ours else ""
            cells.append(seconds(answer["seconds"]) + mark + ratio)
        lines.append([case["case"], *cells])
    table(["", *names], lines)
    print("\\* its epsilon is below the truth\n")


def main():
    folder = pathlib.Path(sys.argv[2])
    cases = read(read_lines(pathlib.Path(sys.argv[1])), folder)
    print("# Accounting: Shoal and its peers\n\nThe whole call, from the description of the plan to epsilon. Processor "
          "time of all threads, the least of\nseveral repetitions after a first call. A peer's epsilon is the one that "
          "it would have its user rely on.\n")
    summary(cases)
    for case in cases.values():
        case_table(case)
    print("## Targets\n\nSpeed is against the fastest peer that composes the law of the privacy loss and is not below "
          "the truth.\n")
    table(["case", "target", "limit", "here", ""], [line for case in cases.values() for line in target_lines(case)])
    for peer in (folder / "missing.txt").read_text().split():
        print(f"{peer}: does not install here")


main()
