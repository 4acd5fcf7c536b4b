"""The jobs: errors on a stream of a few steps, one thing varied at a time; and what CMCO costs."""

from __future__ import annotations

import gc
import tracemalloc
from math import sqrt
from time import process_time

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.streams import ContinualCompressive, Stream
from studies.paper.continual.measuring import CALIBRATIONS, begin, begin_cmco, errors_at, recovery_of
from studies.paper.data import noise_of, seed_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- what CMCO costs after t ticks: CPU seconds and memory of a release, seconds a tick, and the numbers it keeps


def cost(settings: Settings, counts: Ints) -> Found:
    """At t = T/32 … T. Seconds are this machine's, the least of some releases; they alone differ from run to run."""
    stream = _stream(settings)
    _warm_up(settings, counts)
    moments = [counts.size >> part for part in range(5, -1, -1)]
    observing, releasing, memory, observed = [], [], [], 0
    for moment in moments:
        start = process_time()
        stream.observe_many(counts[observed:moment])
        observing.append((process_time() - start) / (moment - observed))
        observed = moment
        releasing.append(min(_seconds(stream) for _ in range(settings["runs"])))
        memory.append(_peak(stream))
    state = stream._counters.state
    return {
        "moments": moments,
        "observe_seconds": observing,
        "release_seconds": releasing,
        "release_bytes": memory,
        "state": state.count.size + state.above.size + state.latest.size,
        "rows": stream.rows,
        "levels": state.levels,
    }


def _stream(settings: Settings, horizon: int | None = None) -> ContinualCompressive:
    return begin_cmco(
        "cmco",
        epsilon=settings["epsilon"],
        horizon=horizon or settings["horizon"],
        sparsity=settings["pieces"],
        decoder="cosamp",
        seed=seed_of(settings, "signs"),
        source=noise_of(settings),
    )


def _warm_up(settings: Settings, counts: Ints) -> None:
    """Kernels are compiled, or fetched, at their first use."""
    stream = _stream(settings, 256)
    stream.observe_many(counts[:256])
    stream.release()


def _seconds(stream: ContinualCompressive) -> float:
    start = process_time()
    stream.release()
    return process_time() - start


def _peak(stream: ContinualCompressive) -> int:
    """Bytes that a release held at once, beside what was there before."""
    gc.collect()
    tracemalloc.start()
    try:
        stream.release()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---- the jobs

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


def steps(ticks: int, pieces: int) -> Ints:
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


def _beside(name: str, stream: Stream, counts: Ints) -> Found:
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
