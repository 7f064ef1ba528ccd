"""diffprivlib on the data that accuracy_learning uses, as more lines of its table.

  peers.py FOLDER TARGET [SEEDS]    FOLDER as prepare.py makes it

Features as the pipeline has them: numbers scaled to [0, 1] by their bounds (missing: 1/2), categories one-hot, rows of
norm at most 1. Pure epsilon; its guarantee is for the exchange of a row (replace_one). Without intercept: with one, the
intercept is not regularised, which the proof of its rule asks for. Its other parameters are its defaults.
"""
import csv
import pathlib
import sys
import tomllib
import warnings

import numpy as np

EPSILONS = (0.01, 0.1, 1.0, 10.0)


def numbers(values, bounds):
    lower, upper = bounds
    found = np.array([float(value) if value else np.nan for value in values])
    return np.nan_to_num(np.clip((found - lower) / (upper - lower), 0, 1), nan=0.5)


def load(folder, target):
    columns = tomllib.loads((folder / "policy.toml").read_text(encoding="utf-8"))["table"]["rows"]["column"]
    rows = []
    for name in ("train.csv", "test.csv"):
        with open(folder / name, newline="", encoding="utf-8") as file:
            rows += list(csv.DictReader(file))
    parts = []
    for name, column in columns.items():
        if name == target:
            continue
        values = [row[name] for row in rows]
        if "bounds" in column:
            parts.append(numbers(values, column["bounds"])[:, None])
        else:
            parts.append((np.array(values)[:, None] == np.array(column["categories"])[None, :]).astype(float))
    x = np.hstack(parts)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
    goal = columns[target]
    if "bounds" in goal:
        return x, np.array([float(row[target]) for row in rows]), goal["bounds"]
    return x, np.array([goal["categories"].index(row[target]) for row in rows], dtype=int), None


def score(x, y, bounds, epsilon, order):
    from diffprivlib.models import LinearRegression, LogisticRegression

    cut = len(y) * 4 // 5
    train, test = order[:cut], order[cut:]
    if epsilon is None:
        from sklearn.linear_model import LogisticRegression as Plain

        model = Plain(C=100.0, fit_intercept=False, max_iter=1000)
        return 100 * np.mean(model.fit(x[train], y[train]).predict(x[test]) == y[test])
    if bounds is None:
        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, fit_intercept=False, max_iter=1000)
        return 100 * np.mean(model.fit(x[train], y[train]).predict(x[test]) == y[test])
    model = LinearRegression(epsilon=epsilon, bounds_X=(0, 1), bounds_y=tuple(bounds), fit_intercept=False)
    return np.sqrt(np.mean((model.fit(x[train], y[train]).predict(x[test]) - y[test]) ** 2))


def main():
    warnings.simplefilter("ignore")
    x, y, bounds = load(pathlib.Path(sys.argv[1]), sys.argv[2])
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    if bounds is None and len(set(y)) > 2:
        found = [score(x, y, None, None, np.random.default_rng(seed).permutation(len(y))) for seed in range(seeds)]
        cell = f"{np.mean(found):.2f} +- {np.std(found) / max(seeds - 1, 1) ** 0.5:.2f}"
        print("| scikit-learn, not private | " + " | ".join([cell] * len(EPSILONS)) + " |", flush=True)
    cells = []
    for epsilon in EPSILONS:
        found = [score(x, y, bounds, epsilon, np.random.default_rng(seed).permutation(len(y))) for seed in range(seeds)]
        cells.append(f"{np.mean(found):.2f} +- {np.std(found) / max(seeds - 1, 1) ** 0.5:.2f}")
    print("| diffprivlib, pure, replace_one | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
