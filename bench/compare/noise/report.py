"""Makes one Markdown report of the measurements in a folder: shoal.tsv, peers.tsv, missing.txt. Needs Python alone.

  report.py FOLDER
"""
import pathlib
import sys

NAMES = {1.0: "1", 10.0: "10", 1e3: "1e3", 1e6: "1e6"}
PLAIN = list(NAMES)  # where the targets are set
FINE = 2.0**40
NAMES |= {FINE * scale: f"{name}·2^40" for scale, name in ((1.0, "1"), (10.0, "10"), (1e3, "1e3"))}
OURS = "Shoal, array"
RATIONAL = "GMP rationals, same bytes"
NAIVE = {"laplace": "naive s*log(U), mt19937_64", "gaussian": "naive std::normal_distribution, mt19937_64"}


def read(folder):
    rows = {}
    for name in ("shoal.tsv", "peers.tsv"):
        for line in (folder / name).read_text().splitlines():
            group, contestant, scale, value = line.split("\t", 3)
            try:
                number = float(value)
            except ValueError:
                number = value
            rows.setdefault(group, {}).setdefault(contestant, {})[float(scale)] = number
    return rows


def short(number):
    if not isinstance(number, float):
        return "–" if number is None else number.split(":")[0]
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def byte_times(rows, group):
    """Nanoseconds that the random bytes of one value take, by scale."""
    used = rows[f"{group}_bytes"]["Shoal"]
    return {scale: used[scale] * time for scale, time in rows[f"{group}_byte"]["Shoal"].items()}


def noise_tables(rows):
    for group, title in (("laplace", "Laplace"), ("gaussian", "Gaussian")):
        contestants = rows[group]
        print(f"## {title} noise: ns a value, and how many times faster Shoal's array is\n")
        lines = []
        for name, times in contestants.items():
            cells = []
            for scale in NAMES:
                time = times.get(scale)
                cell = short(time)
                if isinstance(time, float) and not name.startswith("Shoal"):
                    cell += f" ({short(time / contestants[OURS][scale])}x)"
                cells.append(cell)
            lines.append([name, *cells])
        used = rows[f"{group}_bytes"]["Shoal"]
        alone = byte_times(rows, group)
        lines.append(["random bytes that Shoal's array takes", *(short(used[scale]) for scale in NAMES)])
        lines.append(["ns for those bytes alone", *(short(alone[scale]) for scale in NAMES)])
        lines.append(["Shoal's array in such times",
                      *(short(contestants[OURS][scale] / alone[scale]) for scale in NAMES)])
        for name, times in rows[f"{group}_setup"].items():
            what = "ns to set up a new scale" if name == "Shoal" else "ns to set up exactly this scale"
            lines.append([what, *(short(times[scale]) for scale in NAMES)])
        table([f"scale ({title})", *NAMES.values()], lines)


def other_tables(rows):
    print("## Random bytes\n")
    table(["bytes a call", "GB/s"], [[f"{size:.0f}", short(1 / time)] for size, time in rows["bytes"]["Shoal"].items()])
    print("## Sums: ns a record, and how many times faster than the clamped sum of doubles\n")
    naive = rows["sum"]["clamped sum of doubles"]
    sizes = sorted(naive)
    table(["", *(f"{size:.0f} records" for size in sizes)],
          [[name, *(f"{short(times[size])} ({short(naive[size] / times[size])}x)" for size in sizes)]
           for name, times in rows["sum"].items()])


def targets(rows):
    """Name, the worst of the plain scales, the limit, and whether more is better."""
    for group, limit in (("laplace", 3.0), ("gaussian", 1.8)):
        ours = rows[group][OURS]
        rational = rows[group][RATIONAL]
        naive = rows[group][NAIVE[group]]
        alone = byte_times(rows, group)
        setup = rows[f"{group}_setup"]["Shoal"]
        yield f"{group}: times faster than GMP rationals", {s: rational[s] / ours[s] for s in PLAIN}, 250, True
        yield f"{group}: times faster than the naive sampler", {s: naive[s] / ours[s] for s in PLAIN}, limit, True
        yield f"{group}: times the cost of its bytes", {s: ours[s] / alone[s] for s in PLAIN}, 5, False
        yield f"{group}: us to set up a new scale", {s: setup[s] / 1000 for s in PLAIN}, 3, False
    naive = rows["sum"]["clamped sum of doubles"]
    exact = rows["sum"]["Shoal, exact, reals"]
    yield "exact sum: times faster than doubles", {s: naive[s] / exact[s] for s in naive}, 1, True


def target_table(rows):
    print("## Targets, at scales 1 to 1e6\n")
    lines = []
    for name, values, limit, more in targets(rows):
        worst_at = (min if more else max)(values, key=values.get)
        worst = values[worst_at]
        met = worst >= limit if more else worst <= limit
        where = NAMES.get(worst_at, f"{worst_at:.0f} records")
        bound = f"{'>=' if more else '<='} {limit:g}"
        lines.append([name, bound, f"{short(worst)} (at {where})", "met" if met else "missed"])
    table(["target", "limit", "worst", ""], lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = read(folder)
    print("# Noise: Shoal and its peers\n\nOne thread, processor time, the least of many short repetitions. "
          "Naive ones are quick to write and not safe for privacy.\n")
    noise_tables(rows)
    other_tables(rows)
    target_table(rows)
    for peer in (folder / "missing.txt").read_text().split():
        print(f"{peer}: does not install here")
    for peer, reasons in rows.get("missing", {}).items():
        print(f"{peer}: cannot be imported here ({', '.join(map(str, reasons.values()))})")


main()
