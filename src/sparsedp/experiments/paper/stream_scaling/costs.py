"""What CMCO costs after t ticks: CPU seconds and memory of a release, seconds a tick, and the numbers it keeps."""

from __future__ import annotations

import gc
import tracemalloc
from time import process_time

from sparsedp.arrays import Integers
from sparsedp.experiments.paper.continual.observing import begin_cmco
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of, seed_of
from sparsedp.streams import ContinualCompressive
from sparsedp.streams.counters import counters_for
from sparsedp.streams.terms import checked_stream_terms


def cost(settings: Settings, counts: Integers) -> Found:
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
    terms = checked_stream_terms({"epsilon": settings["epsilon"]})
    state = counters_for(terms, counts.size, counters=stream.rows).state
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


def _warm_up(settings: Settings, counts: Integers) -> None:
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
