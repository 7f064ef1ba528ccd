"""Peers of compare_learning, on the same rows: scikit-learn (not private) and diffprivlib.

  peers.py FOLDER TARGET    FOLDER as prepare.py makes it

Prints a line of JSON a contestant: seconds (processor time of fit, least of the repetitions) or error. Features are the
pipeline's: numbers over their upper bound, categories one-hot, rows scaled to norm 1, dense as both peers want them.
"""
import csv
import json
import pathlib
import sys
import time
import tomllib
import warnings

import numpy as np

REPETITIONS = 3
NEAR = 1e-10  # of the mean gradient; Shoal certifies about 5e-12


def stop(tolerance):
    return "its default stop" if tolerance == 1e-4 else f"stop at {tolerance:g}"


def features(folder, target):
    columns = tomllib.loads((folder / "policy.toml").read_text(encoding="utf-8"))["table"]["rows"]["column"]
    with open(folder / "train.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    parts = []
    for name, column in columns.items():
        if name == target:
            continue
        values = [row[name] for row in rows]
        if "bounds" in column:
            parts.append(np.array(values, dtype=float)[:, None] / column["bounds"][1])
        else:
            parts.append((np.array(values)[:, None] == np.array(column["categories"])[None, :]).astype(float))
    x = np.hstack(parts)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
    y = np.array([row[target] == columns[target]["categories"][1] for row in rows], dtype=int)
    return x, y


def measure(name, make):
    try:
        best = float("inf")
        for _ in range(REPETITIONS):
            fit = make()
            start = time.process_time()
            fit()
            best = min(best, time.process_time() - start)
        print(json.dumps({"contestant": name, "seconds": best}), flush=True)
    except Exception as failure:  # pylint: disable=broad-except
        print(json.dumps({"contestant": name, "error": str(failure)[:200]}), flush=True)


def main():
    warnings.simplefilter("ignore")
    x, y = features(pathlib.Path(sys.argv[1]), sys.argv[2])
    from sklearn.linear_model import LogisticRegression

    # By default they stop at a mean gradient of 1e-4, where the proof of objective perturbation does not begin to hold.
    for solver in ("lbfgs", "newton-cholesky"):
        for tolerance in (1e-4, NEAR):
            measure(f"scikit-learn {solver}, not private, {stop(tolerance)}",
                    lambda: lambda: LogisticRegression(solver=solver, max_iter=100000, C=1.0, tol=tolerance).fit(x, y))
    try:
        from diffprivlib.models import LogisticRegression as Private
    except ImportError as failure:
        print(json.dumps({"contestant": "diffprivlib", "error": str(failure)[:200]}))
        return
    for tolerance in (1e-4, NEAR):
        measure(f"diffprivlib, epsilon 1, {stop(tolerance)}",
                lambda: lambda: Private(epsilon=1.0, data_norm=1.0, C=1.0, max_iter=100000, fit_intercept=False,
                                        tol=tolerance).fit(x, y))


if __name__ == "__main__":
    main()
