"""The jobs: errors on a stream of a few steps, one thing varied at a time."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.experiments.paper.continual.observing import CALIBRATIONS, begin, begin_cmco, errors_at, recovery_of
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of, seed_of
from sparsedp.experiments.paper.stream_scaling.costs import cost
from sparsedp.streams import Stream

PIECES = 8
"""Steps of the stream, and the S that CMCO is given: exactly what it needs."""

HEIGHT = 10_000_000
"""So high that no step is lost in the noise of any stream: what is measured is how the noise comes through."""

STREAMS = ("difference", "cmco", "cmco paper", "plain", "continual adaptive")
RARE = 0.01
"""The β of the counter's bound."""


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """Against T at t = T, against t within one horizon, against ε, against S; then the costs."""
    runs = effort.pick(smoke=3, quick=12, full=30)
    powers = effort.pick(smoke=(6, 8, 10), quick=(10, 11, 12, 13, 14, 15), full=(10, 11, 12, 13, 14, 15, 16, 17))
    further = effort.pick(smoke=(), quick=(16, 17, 18), full=(18, 19, 20))
    horizon = effort.pick(smoke=1024, quick=2**14, full=2**16)
    small = effort.pick(smoke=512, quick=4096, full=4096)
    epsilons = ("1", "0.1", "0.01", "0.001")
    sparsities = effort.pick(smoke=(2, 4, 8), quick=(2, 4, 8, 16, 32), full=(2, 4, 8, 16, 32, 64))
    usual = {"epsilon": "1", "pieces": PIECES, "runs": 2 * runs}
    every: list[Settings] = []
    for stream in STREAMS:
        for power in powers if stream in CALIBRATIONS else (*powers, *further):
            # As many runs as take about as long as those of the longest horizon: CMCO's errors scatter.
            repeated = min(4, 2 ** max(0, powers[-1] - power))
            every.append(_job("horizon", stream, 2**power, usual, runs=repeated * runs))
    for stream in STREAMS:
        for part in range(6, -1, -1):
            ticks = horizon >> part
            every.append(_job("time", stream, horizon, usual, ticks=ticks, runs=runs if ticks == horizon else 2 * runs))
        every += [_job("epsilon", stream, small, usual, epsilon=epsilon) for epsilon in epsilons]
    for stream in CALIBRATIONS:
        every += [_job("sparsity", stream, small, usual, pieces=pieces) for pieces in sparsities]
    longest = effort.pick(smoke=1024, quick=2**15, full=2**17)
    every.append({"part": "cost", "horizon": longest, "pieces": PIECES, "epsilon": "1", "runs": 3})
    return every


def _job(part: str, mechanism: str, horizon: int, usual: Settings, **varied: str | int) -> Settings:
    return {"part": part, "mechanism": mechanism, "horizon": horizon, "ticks": horizon, **usual, **varied}


def measure(settings: Settings) -> Found:
    """One job of one part: the errors after `ticks` ticks of a horizon, which is where the stream ends its steps."""
    if settings["part"] == "cost":
        return cost(settings, steps(settings["horizon"], settings["pieces"]))
    counts = steps(settings["ticks"], settings["pieces"])
    errors, beside = [], []
    for run in range(settings["runs"]):
        stream = _begin(settings, run)
        errors += errors_at(stream, counts, [counts.size], recovery_of(settings["mechanism"]))
        beside.append(_beside(settings["mechanism"], stream, counts))
    return {"errors": errors} | {name: [one[name] for one in beside] for name in beside[0]}


def steps(ticks: int, pieces: int) -> Integers:
    """Constant on `pieces` equal pieces, a power of two: at most so many Haar coefficients, however long it is."""
    heights = np.random.default_rng([2011, pieces]).integers(0, HEIGHT, pieces)
    return np.repeat(heights.astype(np.int64), ticks // pieces)


def _begin(settings: Settings, run: int) -> Stream:
    name, source = settings["mechanism"], noise_of(settings, run)
    asked = {"epsilon": settings["epsilon"], "horizon": settings["horizon"]}
    if name not in CALIBRATIONS:
        return begin(name, source=source, **asked)
    seed = seed_of(settings, "signs", run)
    return begin_cmco(name, sparsity=settings["pieces"], decoder="cosamp", seed=seed, source=source, **asked)


def _beside(name: str, stream: Stream, counts: Integers) -> Found:
    """Of CMCO ‖v − v*‖₂ with entries ±1/√k and k; of a counter how wrong its totals were, over all ticks."""
    if name in CALIBRATIONS:
        synopsis = stream.synopsis()
        noise = synopsis.values - synopsis.sensing.apply(counts)
        rows = synopsis.sensing.rows
        return {"noise": float(np.linalg.norm(noise)) / sqrt(rows), "rows": rows}
    if name == "difference":
        wrong = np.abs(stream.synopsis().values - np.cumsum(counts))
        return {"total": float(np.sqrt(np.mean(wrong**2.0))), "rare total": float(np.quantile(wrong, 1 - RARE))}
    return {}
