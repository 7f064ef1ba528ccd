"""The authors' own AIM on the last private-pgm that computes with numpy: one line of CSV a run, in the columns of
accuracy_synth.

  numpy_peer.py CHECKOUT TABLE DOMAIN EPSILON DELTA RUNS [MEGABYTES [ITERATIONS]]

CHECKOUT is a folder with private-pgm at commit 41b5346; it is on no registry. Its mechanisms/aim.py runs as it is, with
modules that it imports replaced: autodp and matplotlib, which AIM does not use, and the identity matrix of hdmm, by
scipy's.
"""
import contextlib
import io
import itertools
import resource
import sys
import time
import types

import numpy as np
from scipy import sparse

checkout = sys.argv.pop(1)
for folder in ("", "/src", "/mechanisms"):
    sys.path.insert(0, checkout + folder)
for name in ("autodp", "autodp.privacy_calibrator", "matplotlib", "matplotlib.pyplot", "hdmm", "hdmm.matrix"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["autodp"].privacy_calibrator = sys.modules["autodp.privacy_calibrator"]
sys.modules["hdmm.matrix"].Identity = sparse.eye

from aim import AIM  # noqa: E402
from mbi import Dataset  # noqa: E402


def main():
    table, domain, epsilon, delta, runs = sys.argv[1:6]
    megabytes = float(sys.argv[6]) if len(sys.argv) > 6 else 1.0
    iterations = int(sys.argv[7]) if len(sys.argv) > 7 else 1000
    data = Dataset.load(table, domain)
    workload = [(one, 1.0) for one in itertools.combinations(data.domain, 3)]
    print("method,epsilon,run,error,model_error,cpu_seconds,wall_seconds,peak_mb,rounds,model_cells")
    for run in range(int(runs)):
        cpu, wall = time.process_time(), time.monotonic()
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            mechanism = AIM(float(epsilon), float(delta), prng=np.random, max_model_size=megabytes, max_iters=iterations)
            model, records = mechanism.run(data, workload, num_synth_rows=len(data.df))
        cpu, wall = time.process_time() - cpu, time.monotonic() - wall
        errors, model_errors = [], []
        for one, _ in workload:
            truth = data.project(one).datavector()
            for made, into in ((records, errors), (model, model_errors)):
                other = made.project(one).datavector()
                into.append(np.abs(truth / truth.sum() - other / other.sum()).sum())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"private-pgm aim,{epsilon},{run},{np.mean(errors):.5f},{np.mean(model_errors):.5f},{cpu:.2f},{wall:.2f},"
              f"{peak:.0f},,{model.size}", flush=True)


if __name__ == "__main__":
    main()
