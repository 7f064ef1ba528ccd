"""Peers that are called from Python, on the cases of cases.jsonl.

  peers.py CASES FOLDER    every peer on every case, each in a process of its own, 120 seconds at most; the virtual
                           environment of a package is FOLDER/package
  peers.py --one PEER      one case from the standard input

Each prints a line of JSON: case, contestant, and either error, or epsilon (what the peer would have one rely on; null
if infinite), seconds (processor time of the whole call: build, compose, epsilon; the least of several), first_seconds
(the first call, which loads what it needs) and repetitions. A peer with bounds adds lower and estimate.
"""
import contextlib
import functools
import importlib.util
import io
import json
import math
import pathlib
import subprocess
import sys
import time
import types
import warnings

PATIENCE_SECONDS = 120
MOST_REPETITIONS = 7
REPETITION_SECONDS = 40  # when these are used up there is no further repetition


class NotOffered(Exception):
    pass


def parts(event, count=1, rate=1.0):
    """The event as a list of (count, rate, kind, noise): noise is that of sensitivity 1, or the epsilon."""
    (kind, body), = event.items()
    if kind == "compose":
        return [part for one in body for part in parts(one, count, rate)]
    if kind == "repeat":
        return parts(body["event"], count * body["count"], rate)
    if kind == "poisson_sampled":
        return parts(body["event"], count, rate * body["rate"])
    if kind == "randomized_response":
        if body["categories"] != 2:
            raise NotOffered("more than two categories")
        return [(count, rate, kind, body["epsilon"])]
    noise = body["scale"] if kind == "laplace" else body["sigma"]
    return [(count, rate, kind, noise / body["sensitivity"])]


def chance_of_noise(epsilon):
    """That with which two-valued randomized response throws a fair coin instead."""
    return 2 / (1 + math.exp(epsilon))


def google_event(part):
    import dp_accounting as google

    count, rate, kind, noise = part
    if kind == "gaussian":
        event = google.GaussianDpEvent(noise)
    elif kind == "laplace":
        event = google.LaplaceDpEvent(noise)
    elif kind == "randomized_response":
        event = google.RandomizedResponseDpEvent(chance_of_noise(noise), 2)
    else:
        event = google.ZCDpEvent(1 / (2 * noise**2))
    if rate < 1:
        event = google.PoissonSampledDpEvent(rate, event)
    return google.SelfComposedDpEvent(event, count)


def google_accountant(kind, work, delta):
    import dp_accounting as google

    replaced = any(part[2] == "randomized_response" for part in work)
    relation = google.NeighboringRelation.REPLACE_ONE if replaced else google.NeighboringRelation.ADD_OR_REMOVE_ONE
    accountant = kind(neighboring_relation=relation)
    accountant.compose(google.ComposedDpEvent([google_event(part) for part in work]))
    return accountant.get_epsilon(delta)


def google_pld(work, delta):
    from dp_accounting.pld import pld_privacy_accountant, privacy_loss_distribution as pld

    if len(work) == 1 and work[0][1] == 1:
        # The accountant has no discrete Gaussian and takes a repeated randomized response for a single one.
        count, _, kind, noise = work[0]
        law = None
        if kind == "randomized_response":
            law = pld.from_randomized_response(chance_of_noise(noise), 2)
        elif kind == "discrete_gaussian":
            law = pld.from_discrete_gaussian_mechanism(noise)
        if law is not None:
            return law.self_compose(count).get_epsilon_for_delta(delta)
    return google_accountant(pld_privacy_accountant.PLDAccountant, work, delta)


def google_rdp(work, delta):
    from dp_accounting import rdp

    return google_accountant(rdp.RdpAccountant, work, delta)


def microsoft_prv(work, delta):
    import prv_accountant as prv

    def variable(rate, kind, noise):
        if kind == "gaussian":
            return prv.PoissonSubsampledGaussianMechanism(rate, noise) if rate < 1 else prv.GaussianMechanism(noise)
        if rate < 1 or kind == "discrete_gaussian":
            raise NotOffered(kind)
        return prv.LaplaceMechanism(1 / noise) if kind == "laplace" else prv.PureDPMechanism(noise)

    variables = [variable(*part[1:]) for part in work]
    counts = [part[0] for part in work]
    accountant = prv.PRVAccountant(variables, eps_error=0.01, delta_error=delta / 1000, max_self_compositions=counts)
    return accountant.compute_epsilon(delta, counts)


@functools.cache
def opacus_accountants():
    """Without torch, gigabytes that no accountant calls: they only name the type of an optimiser."""
    found = importlib.util.find_spec("opacus")
    if found is None:
        raise ImportError("no opacus")
    package = types.ModuleType("opacus")
    package.__path__ = list(found.submodule_search_locations)
    optimizers = types.ModuleType("opacus.optimizers")
    optimizers.DPOptimizer = object
    sys.modules |= {"opacus": package, "opacus.optimizers": optimizers}
    from opacus import accountants

    return accountants


def opacus(name, work, delta):
    if any(part[2] != "gaussian" for part in work):
        raise NotOffered("noise that is not Gaussian")
    accountant = getattr(opacus_accountants(), name)()
    accountant.history = [(noise, rate, count) for count, rate, _, noise in work]
    return accountant.get_epsilon(delta)


def autodp_rdp(work, delta):
    from autodp import mechanism_zoo as zoo, transformer_zoo

    def mechanism(index, rate, kind, noise):
        if kind == "gaussian":
            made = zoo.GaussianMechanism(noise, name=f"{kind}{index}")
        elif kind == "laplace":
            made = zoo.LaplaceMechanism(noise, name=f"{kind}{index}")
        elif kind == "discrete_gaussian":
            made = zoo.DiscreteGaussianMechanism(noise, name=f"{kind}{index}")
        else:
            made = zoo.RandresponseMechanism(1 - chance_of_noise(noise) / 2, name=f"{kind}{index}")
        if rate < 1:
            made = transformer_zoo.AmplificationBySampling()(made, rate, improved_bound_flag=kind == "gaussian")
        return made

    mechanisms = [mechanism(index, *part[1:]) for index, part in enumerate(work)]
    return transformer_zoo.Composition()(mechanisms, [part[0] for part in work]).get_approxDP(delta)


def autodp_fourier(work, delta):
    """Of the direction that costs more in all the cases: someone is removed."""
    from autodp import mechanism_zoo as zoo, transformer_zoo

    def mechanism(index, rate, kind, noise):
        options = {"phi_off": False, "RDP_off": True, "name": f"{kind}{index}"}
        if kind == "gaussian":
            made = zoo.GaussianMechanism(noise, approxDP_off=True, **options)
            if rate < 1:
                made = transformer_zoo.AmplificationBySampling_pld(neighboring="remove_only")(made, rate)
            return made
        if rate < 1 or kind == "discrete_gaussian":
            raise NotOffered(kind)
        if kind == "laplace":
            return zoo.LaplaceMechanism(noise, **options)
        return zoo.RandresponseMechanism(1 - chance_of_noise(noise) / 2, **options)

    mechanisms = [mechanism(index, *part[1:]) for index, part in enumerate(work)]
    return transformer_zoo.ComposeAFA()(mechanisms, [part[0] for part in work]).get_approxDP(delta)


PEERS = {  # the package, and the call
    "dp-accounting PLD": ("dp-accounting", google_pld),
    "dp-accounting RDP": ("dp-accounting", google_rdp),
    "prv-accountant": ("prv-accountant", microsoft_prv),
    "Opacus PRV": ("opacus", functools.partial(opacus, "PRVAccountant")),
    "Opacus RDP": ("opacus", functools.partial(opacus, "RDPAccountant")),
    "Opacus GDP": ("opacus", functools.partial(opacus, "GaussianAccountant")),
    "autodp RDP": ("autodp", autodp_rdp),
    "autodp Fourier": ("autodp", autodp_fourier),
}


def timed(work):
    start = time.process_time_ns()
    answer = work()
    return answer, (time.process_time_ns() - start) * 1e-9


def shown(number):
    number = float(number)
    if math.isnan(number):
        raise ValueError("the answer is not a number")
    return number if math.isfinite(number) else None


def measure(peer, case):
    call = functools.partial(PEERS[peer][1], parts(case["event"]), case["delta"])
    answer, first = timed(call)
    times = []
    while len(times) < MOST_REPETITIONS and first + sum(times) < REPETITION_SECONDS:
        times.append(timed(call)[1])
    result = {"seconds": min(times, default=first), "first_seconds": first, "repetitions": len(times)}
    if isinstance(answer, tuple):
        lower, estimate, answer = answer
        result |= {"lower": shown(lower), "estimate": shown(estimate)}
    return result | {"epsilon": shown(answer)}


def one(peer):
    case = json.loads(sys.stdin.readline())
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # some print as they go
            result = measure(peer, case)
    except NotOffered as missing:
        result = {"error": f"not offered: {missing}"}
    except Exception as error:  # whatever a peer throws, the others go on
        result = {"error": " ".join(f"{type(error).__name__}: {error}".split())[:120]}
    print(json.dumps(result))


def apart(python, peer, line):
    """The same in a process of its own, which may hang or die."""
    try:
        done = subprocess.run([python, __file__, "--one", peer], input=line, text=True, check=False,
                              timeout=PATIENCE_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(done.stdout) if done.returncode == 0 else {"error": f"died with status {done.returncode}"}
    except subprocess.TimeoutExpired:
        return {"error": "timeout"}


def main():
    if sys.argv[1] == "--one":
        one(sys.argv[2])
        return
    cases, folder = map(pathlib.Path, sys.argv[1:])
    for line in cases.read_text(encoding="utf-8").splitlines():
        for peer, (package, _) in PEERS.items():
            python = folder / package / "bin/python"
            if python.exists():
                heading = {"case": json.loads(line)["case"], "contestant": peer}
                print(json.dumps(heading | apart(python, peer, line)), flush=True)


main()
