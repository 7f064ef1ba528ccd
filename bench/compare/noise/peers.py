"""Peers that are called from Python, at the scales of compare_noise.cpp: each prints group, name, scale and nanoseconds
a value, separated by tabs. The time is processor time of this thread, the least of several repetitions. A peer that
cannot be imported says so and is left out; so is a scale that a peer refuses or would need seconds for."""
import signal
import time

SCALES = [1.0, 10.0, 1e3, 1e6, 2.0**40, 10 * 2.0**40, 1e3 * 2.0**40]
ROUNDS = 7
ROUND_SECONDS = 0.02
PATIENCE_SECONDS = 2.0
ARRAY = 10_000


def seconds(work, calls):
    start = time.thread_time_ns()
    for _ in range(calls):
        work()
    return (time.thread_time_ns() - start) * 1e-9


class TooSlow(Exception):
    pass


def give_up(*_):
    raise TooSlow


def measure(group, name, scale, values, make):
    """Prints the time of one value; `make` gives the work that draws `values` of them."""
    try:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS)
        work = make()
        seconds(work, 1)  # the first call loads what it needs
        once = seconds(work, 1)
        signal.setitimer(signal.ITIMER_REAL, 0)
        calls = max(1, int(ROUND_SECONDS / max(once, 1e-7)))
        best = min(seconds(work, calls) / calls for _ in range(ROUNDS))
        print(f"{group}\t{name}\t{scale!r}\t{best * 1e9 / values:.6g}", flush=True)
    except TooSlow:
        print(f"{group}\t{name}\t{scale!r}\ttoo slow", flush=True)
    except Exception as error:  # whatever a peer throws, the others go on
        reason = " ".join(str(error).split())[:60]
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(f"{group}\t{name}\t{scale!r}\trefused: {type(error).__name__} {reason}", flush=True)


def numpy_peers(scale):
    import numpy

    generator = numpy.random.default_rng(1)
    measure("laplace", "naive numpy Generator.laplace, array", scale, ARRAY,
            lambda: lambda: generator.laplace(0.0, scale, ARRAY))
    measure("gaussian", "naive numpy Generator.normal, array", scale, ARRAY,
            lambda: lambda: generator.normal(0.0, scale, ARRAY))


def opendp_peers(scale):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    zeros = [0] * ARRAY
    vector = dp.vector_domain(dp.atom_domain(T=int))
    atom = dp.atom_domain(T=int)

    def vector_work(make, metric):
        measurement = make(vector, metric, scale=scale)
        return lambda: measurement(zeros)

    def atom_work(make, metric):
        measurement = make(atom, metric, scale=scale)
        return lambda: measurement(0)

    measure("laplace", "OpenDP, vector of whole numbers", scale, ARRAY,
            lambda: vector_work(dp.m.make_laplace, dp.l1_distance(T=int)))
    measure("gaussian", "OpenDP, vector of whole numbers", scale, ARRAY,
            lambda: vector_work(dp.m.make_gaussian, dp.l2_distance(T=float)))
    measure("laplace", "OpenDP, one value a call", scale, 1,
            lambda: atom_work(dp.m.make_laplace, dp.absolute_distance(T=int)))
    measure("gaussian", "OpenDP, one value a call", scale, 1,
            lambda: atom_work(dp.m.make_gaussian, dp.absolute_distance(T=float)))


def diffprivlib_peers(scale):
    from diffprivlib import mechanisms

    laplace = mechanisms.Laplace(epsilon=1 / scale, sensitivity=1)
    measure("laplace", "diffprivlib Laplace (floating point), one value a call", scale, 1,
            lambda: lambda: laplace.randomise(0.0))

    def geometric():
        mechanism = mechanisms.Geometric(epsilon=1 / scale, sensitivity=1)
        return lambda: mechanism.randomise(0)

    def discrete_gaussian():
        mechanism = mechanisms.GaussianDiscrete(epsilon=0.5, delta=1e-5, sensitivity=1)
        mechanism._scale = scale  # it takes no scale, and to solve for one would not change the speed
        return lambda: mechanism.randomise(0)

    measure("laplace", "diffprivlib Geometric (floating point), one value a call", scale, 1, geometric)
    measure("gaussian", "diffprivlib GaussianDiscrete (floating point), one value a call", scale, 1,
            discrete_gaussian)


def pydp_peers(scale):
    from pydp.distributions import GaussianDistribution, LaplaceDistribution

    def laplace():
        return LaplaceDistribution(epsilon=1 / scale, sensitivity=1).sample

    def gaussian():
        return GaussianDistribution(scale).sample  # the parameter is the deviation, whatever it is called

    measure("laplace", "PyDP LaplaceDistribution, one value a call", scale, 1, laplace)
    measure("gaussian", "PyDP GaussianDistribution, one value a call", scale, 1, gaussian)


def main():
    signal.signal(signal.SIGALRM, give_up)
    for peers in (numpy_peers, opendp_peers, diffprivlib_peers, pydp_peers):
        try:
            for scale in SCALES:
                peers(scale)
        except ImportError as error:
            reason = " ".join(str(error).split())[:80]
            print(f"missing\t{peers.__name__.removesuffix('_peers')}\t0\t{reason}", flush=True)


main()
