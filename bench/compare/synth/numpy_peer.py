"""The authors' own AIM and MST on the last private-pgm that computes with numpy: one line of CSV a run, in the columns of
accuracy_synth.

  numpy_peer.py CHECKOUT METHOD TABLE DOMAIN EPSILON DELTA RUNS [MEGABYTES [ITERATIONS]]

CHECKOUT is a folder with private-pgm at commit 41b5346; it is on no registry. Its mechanisms/aim.py and mst.py run as they
are, with modules that they import replaced: autodp and matplotlib, which are not used, and the identity matrix of hdmm, by
scipy's. The size of the model and the number of iterations are AIM's; MST has its own. METHOD is aim or mst; with
+compiled behind it fits and marginals are compiled (compiled_fit.py), for models that take many hours otherwise.
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

import mst  # noqa: E402
from aim import AIM  # noqa: E402
from mbi import CliqueVector, Dataset, Factor, FactoredInference, GraphicalModel  # noqa: E402
from scipy.cluster.hierarchy import DisjointSet  # noqa: E402


class GrowingSets(DisjointSet):
    """What mst.py takes scipy's class for: one that knows every element."""

    def __getitem__(self, element):
        self.add(element)
        return super().__getitem__(element)


mst.DisjointSet = GrowingSets


def synthesise(method, data, workload, epsilon, delta, megabytes, iterations):
    if method == "mst":
        return None, mst.MST(data, epsilon, delta)
    mechanism = AIM(epsilon, delta, prng=np.random, max_model_size=megabytes, max_iters=iterations)
    return mechanism.run(data, workload, num_synth_rows=len(data.df))


def main():
    name, table, domain, epsilon, delta, runs = sys.argv[1:7]
    method, _, way = name.partition("+")
    if way == "compiled":
        from compiled_fit import compile_fits
        compile_fits(FactoredInference, GraphicalModel, CliqueVector, Factor)
    megabytes = float(sys.argv[7]) if len(sys.argv) > 7 else 1.0
    iterations = int(sys.argv[8]) if len(sys.argv) > 8 else 1000
    data = Dataset.load(table, domain)
    workload = [(one, 1.0) for one in itertools.combinations(data.domain, 3)]
    print("method,epsilon,run,error,model_error,cpu_seconds,wall_seconds,peak_mb,rounds,model_cells")
    for run in range(int(runs)):
        cpu, wall = time.process_time(), time.monotonic()
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            model, records = synthesise(method, data, workload, float(epsilon), float(delta), megabytes, iterations)
        cpu, wall = time.process_time() - cpu, time.monotonic() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        def error(made):
            distances = []
            for one, _ in workload:
                truth, other = data.project(one).datavector(), made.project(one).datavector()
                distances.append(np.abs(truth / truth.sum() - other / other.sum()).sum())
            return f"{np.mean(distances):.5f}"

        print(f"private-pgm {name},{epsilon},{run},{error(records)},{error(model) if model else ''},{cpu:.2f},{wall:.2f},"
              f"{peak:.0f},,{model.size if model else ''}", flush=True)


if __name__ == "__main__":
    main()
