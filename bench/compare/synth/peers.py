"""AIM on private-pgm (the package mbi), as its authors' mechanisms/aim.py has it: one line of CSV a run, in the columns
of accuracy_synth.

  peers.py TABLE DOMAIN EPSILON DELTA RUNS [MEGABYTES [ITERATIONS]]

The table has a header and codes; the domain maps each column to its size. The error is the mean, over all marginals of
three columns, of the L1 distance of the normalised tables, not halved, computed from synthetic records.
"""
import itertools
import json
import math
import resource
import sys
import time

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np
import pandas as pd
from mbi import Dataset, Domain, LinearMeasurement, estimation, junction_tree


def rho_of(epsilon, delta):
    """The largest rho whose conversion (Canonne, Kamath, Steinke 2020) stays within epsilon at delta."""

    def smallest_delta(rho):
        low, high = 1.01, (epsilon + 1) / (2 * rho) + 2
        for _ in range(200):
            alpha = (low + high) / 2
            slope = (2 * alpha - 1) * rho - epsilon + math.log1p(-1 / alpha)
            low, high = (alpha, high) if slope < 0 else (low, alpha)
        return min(1.0, math.exp((alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha)) / (alpha - 1))

    low, high = 0.0, epsilon + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if smallest_delta(middle) <= delta else (low, middle)
    return low


def closure(workload):
    sets = {part for one in workload for size in range(1, len(one) + 1) for part in itertools.combinations(one, size)}
    return {one: sum(len(set(one) & set(other)) for other in workload) for one in sorted(sets, key=lambda s: (len(s), s))}


def drop_compiled_code():
    """Each model is compiled anew and stays; a process may hold some 65,000 mappings, and then jax ends with a fault."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        if sum(1 for _ in maps) > 30000:
            jax.clear_caches()


def fit(domain, measurements, start, iterations):
    drop_compiled_code()
    return estimation.MirrorDescent().estimate(domain, measurements, iters=iterations, warm_start=start)


def aim(data, workload, rho, megabytes, iterations, random):
    candidates = closure(workload)
    answers = {one: np.asarray(data.project(one).datavector()) for one in candidates}
    rounds = 16 * len(data.domain)
    sigma = math.sqrt(rounds / (1.8 * rho))
    epsilon = math.sqrt(0.8 * rho / rounds)
    measurements = []

    def measure(one):
        noisy = answers[one] + random.normal(0, sigma, answers[one].size)
        measurements.append(LinearMeasurement(noisy, one, stddev=sigma))

    for one in candidates:
        if len(one) == 1:
            measure(one)
    used = len(measurements) / (2 * sigma**2)
    model = fit(data.domain, measurements, None, iterations)
    last = False
    while not last:
        if rho - used < 2 * (0.5 / sigma**2 + epsilon**2 / 8):
            left = rho - used
            sigma, epsilon, last = math.sqrt(1 / (1.8 * left)), math.sqrt(0.8 * left), True
        used += 0.5 / sigma**2 + epsilon**2 / 8
        held = [m.clique for m in measurements]
        inside = set(closure(held))
        fitting = [one for one in candidates if one in inside or
                   junction_tree.hypothetical_model_size(data.domain, held + [one]) <= megabytes * used / rho]
        before = {one: np.asarray(model.project(one).datavector()) for one in fitting}
        penalty = math.sqrt(2 / math.pi) * sigma
        scores = np.array([candidates[one] * (np.abs(answers[one] - before[one]).sum() - penalty * answers[one].size)
                           for one in fitting])
        widest = max(candidates[one] for one in fitting)
        chosen = fitting[int(np.argmax(epsilon * scores / (2 * widest) + random.gumbel(size=len(fitting))))]
        measure(chosen)
        model = fit(data.domain, measurements, model, iterations)
        after = np.asarray(model.project(chosen).datavector())
        if np.abs(after - before[chosen]).sum() <= penalty * after.size:
            sigma, epsilon = sigma / 2, epsilon * 2
    return model, len(measurements)


def main():
    table, domain_file, epsilon, delta, runs = sys.argv[1:6]
    megabytes = float(sys.argv[6]) if len(sys.argv) > 6 else 1.0
    iterations = int(sys.argv[7]) if len(sys.argv) > 7 else 1000
    frame = pd.read_csv(table)
    with open(domain_file, encoding="utf-8") as file:
        sizes = json.load(file)
    domain = Domain(list(frame.columns), [sizes[name] for name in frame.columns])
    data = Dataset({name: frame[name].to_numpy() for name in frame.columns}, domain)
    workload = list(itertools.combinations(frame.columns, 3))
    rho = rho_of(float(epsilon), float(delta))
    print("method,epsilon,run,error,model_error,cpu_seconds,wall_seconds,peak_mb,rounds,model_cells")
    for run in range(int(runs)):
        cpu, wall = time.process_time(), time.monotonic()
        model, rounds = aim(data, workload, rho, megabytes, iterations, np.random.default_rng())
        records = model.synthetic_data(rows=len(frame))
        cpu, wall = time.process_time() - cpu, time.monotonic() - wall
        errors, model_errors = [], []
        for one in workload:
            truth = np.asarray(data.project(one).datavector()) / len(frame)
            made = np.asarray(records.project(one).datavector())
            expected = np.asarray(model.project(one).datavector())
            errors.append(np.abs(truth - made / made.sum()).sum())
            model_errors.append(np.abs(truth - expected / expected.sum()).sum())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"private-pgm aim,{epsilon},{run},{np.mean(errors):.5f},{np.mean(model_errors):.5f},{cpu:.2f},{wall:.2f},"
              f"{peak:.0f},{rounds},", flush=True)


if __name__ == "__main__":
    main()
