"""How fast streams are, as ratios: to the noise they draw, and to a bare SQLite loop; and how the cost grows.

Exits with 1 when a ratio misses its target.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from side_by_side import least_times

# isort: split
import numpy as np
from rich.console import Console
from rich.table import Table

import sparsedp as sdp
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SystemSource
from sparsedp.streams import Stream

SIZES = (10**4, 10**5, 10**6, 10**7)
COUNTERS, COUNTED_TICKS = 640, 2048
DURABLE_TICKS, BATCH = 200, 10_000
REPEATS, DURABLE_REPEATS = 7, 25


def stream_and_sampler(size: int) -> tuple[float, float]:
    stream, source = sdp.ContinualAdaptive(epsilon="0.1"), SystemSource()
    counts, scale = np.arange(size) % 100, stream.noise_law.scale
    times: dict[str, tuple[object, float]] = least_times(
        {
            "stream": (lambda: stream.observe_many(counts), REPEATS),
            "sampler": (lambda: discrete_laplace(scale, size, source), REPEATS),
        }
    )
    return times["stream"][1], times["sampler"][1]


def against_the_sampler() -> tuple[Table, float]:
    """`observe_many` in memory against drawing the same noise and nothing else."""
    table = Table(title="ContinualAdaptive.observe_many in memory, and the sampler alone")
    for heading in ("ticks", "stream ns a tick", "sampler ns a value", "share of the sampler's throughput"):
        table.add_column(heading, justify="right")
    least = 1.0
    for size in SIZES:
        ours, alone = stream_and_sampler(size)
        share = alone / ours
        least = min(least, share)
        table.add_row(f"{size:,}", f"{1e9 * ours / size:.1f}", f"{1e9 * alone / size:.1f}", f"{share:.2f}")
    return table, least


def against_one_draw() -> tuple[Table, float]:
    """A tick of CMCO against one draw of a k-vector; amortised over ticks that begin 1, 2, 3, … segments."""
    stream = sdp.ContinualCompressive(epsilon="0.1", horizon=2**20, rows=COUNTERS, sparsity=32)
    scale, source = stream.noise_law.scale, SystemSource()
    stream.observe(1)
    batches = sdp.ContinualCompressive(epsilon="0.1", horizon=2**20, rows=COUNTERS, sparsity=32)
    batches.observe(1)
    many = np.ones(COUNTED_TICKS, np.int64)
    times = least_times(
        {
            "one by one": (lambda: [stream.observe(1) for _ in range(COUNTED_TICKS)], REPEATS),
            "many": (lambda: batches.observe_many(many), REPEATS),
            "draw": (lambda: [discrete_laplace(scale, COUNTERS, source) for _ in range(COUNTED_TICKS)], REPEATS),
        }
    )
    draw = times["draw"][1]
    table = Table(title=f"ContinualCompressive, k = {COUNTERS}: a tick over one draw of k noises")
    for heading in ("", "µs a tick", "over one draw"):
        table.add_column(heading, justify="right")
    for name in ("draw", "one by one", "many"):
        taken = times[name][1]
        table.add_row(name, f"{1e6 * taken / COUNTED_TICKS:.1f}", f"{taken / draw:.2f}")
    return table, times["one by one"][1] / draw


def bare_loop(path: Path, journal: str) -> Callable[[], None]:
    """An insert and a commit a tick, as plain as can be."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE counts (tick INTEGER PRIMARY KEY, count INTEGER)")
    ticks = iter(range(10**9))

    def run() -> None:
        for _ in range(DURABLE_TICKS):
            connection.execute("INSERT INTO counts VALUES (?, ?)", (next(ticks), 7))

    return run


def observe_loop(stream: Stream) -> Callable[[], None]:
    def run() -> None:
        for _ in range(DURABLE_TICKS):
            stream.observe(7)

    return run


def against_sqlite() -> tuple[Table, float, float]:
    """Durable streams against the bare loop with the same journal and the same promise, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        adaptive = sdp.open_stream(place / "a.stream", sdp.ContinualAdaptive(epsilon="0.1"))
        batches = sdp.open_stream(place / "b.stream", sdp.ContinualAdaptive(epsilon="0.1"))
        difference = sdp.open_stream(place / "d.stream", sdp.ContinualDifference(epsilon="0.1", horizon=2**20))
        many = np.full(BATCH, 7)
        times = least_times(
            {
                "bare SQLite loop, log (WAL)": (bare_loop(place / "wal.db", "WAL"), DURABLE_REPEATS),
                "bare SQLite loop, rollback journal": (bare_loop(place / "journal.db", "DELETE"), REPEATS),
                "ContinualAdaptive.observe": (observe_loop(adaptive), DURABLE_REPEATS),
                f"ContinualAdaptive.observe_many({BATCH:,})": (lambda: batches.observe_many(many), REPEATS),
                "ContinualDifference.observe, sealed": (observe_loop(difference), 3),
            }
        )
        for stream in (adaptive, batches, difference):
            stream.close()
    ticks = {name: BATCH if "many" in name else DURABLE_TICKS for name in times}
    seconds = {name: taken / ticks[name] for name, (_, taken) in times.items()}
    bare, single = seconds["bare SQLite loop, log (WAL)"], seconds["ContinualAdaptive.observe"]
    table = Table(title="On disk: every tick committed")
    for heading in ("", "µs a tick", "over the bare loop (WAL)"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, taken in seconds.items():
        table.add_row(name, f"{1e6 * taken:.1f}", f"{taken / bare:.3f}")
    return table, single / bare, single / seconds[f"ContinualAdaptive.observe_many({BATCH:,})"]


def main() -> int:
    console = Console(width=110)
    sampler, share = against_the_sampler()
    console.print(sampler)
    counters, draws = against_one_draw()
    console.print(counters)
    durable, loop, batch = against_sqlite()
    console.print(durable)
    verdicts = {
        "throughput over the sampler's, at worst": (share, share >= 0.5, "at least 0.5"),
        f"tick of {COUNTERS} counters over one draw": (draws, draws <= 4, "at most 4"),
        "durable tick over the bare loop": (loop, loop <= 2, "at most 2"),
        f"single durable tick over one of {BATCH:,}": (batch, batch >= 50, "at least 50"),
    }
    for name, (value, met, wanted) in verdicts.items():
        console.print(f"{'met' if met else 'MISSED'}: {name}: {value:.2f} ({wanted})")
    return 0 if all(met for _, met, _ in verdicts.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
