"""A process that writes a stream as fast as it can, tells what it draws and what was acknowledged, and is killed.

Run as a program it takes orders, one JSON line each, and for each forks a writer and kills it, after a time that is
given in openings of a stream, so that slow disks and busy machines see the same kills. A fork of a warm process costs
milliseconds, where starting Python costs half a second. What the writer tells goes to a file of JSON lines: bytes that
were written outlive the process, however it ends; the last line may be cut short, so each begins with a new one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from durable_streams import KINDS, LOUD, raw_count

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.noise.samplers import SparsedpSampler
from sparsedp.noise.source import RandomSource
from sparsedp.streams import Stream
from sparsedp.streams._counters import CounterState
from sparsedp.streams._store import Published
from sparsedp.streams.durable._stream_file import StreamFile

Tell = Callable[[dict[str, Any]], None]

MOST_TICKS = 200
"""Of one writer: a fast one then waits to be killed, so that fifty of them stay within the horizon."""


@contextmanager
def tells_what_it_draws(tell: Tell) -> Iterator[None]:
    """Before every commit: the noises drawn for it, what it publishes, and the counters' state that it writes."""
    draw, commit = SparsedpSampler.add_noise, StreamFile.commit
    noises: list[int] = []

    def add_noise(self: SparsedpSampler, values: Ints, scale: Fraction, source: RandomSource) -> None:
        before = values.copy()
        draw(self, values, scale, source)
        noises.extend((values - before).ravel().tolist())

    def told_commit(self: StreamFile, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        state = [] if counter is None else [counter.count, counter.latest, counter.above.ravel()]
        tell(
            {
                "event": "draws",
                "first": self.ticks,
                "ticks": ticks,
                "noises": noises.copy(),
                "published": {name: entries.tolist() for name, entries in published.items()},
                "state": np.concatenate(state).tolist() if state else [],
            }
        )
        noises.clear()
        commit(self, ticks, published, counter, gap)

    SparsedpSampler.add_noise = add_noise  # type: ignore[method-assign]
    StreamFile.commit = told_commit  # type: ignore[method-assign]
    try:
        yield
    finally:
        SparsedpSampler.add_noise = draw  # type: ignore[method-assign]
        StreamFile.commit = commit  # type: ignore[method-assign]


def write(path: Path, kind: str, tell: Tell, chance: np.random.Generator) -> None:
    """Open the stream, deliver its last ticks again, then go on, tick after tick, until it is killed."""
    with tells_what_it_draws(tell):
        stream = sdp.open_stream(path, KINDS[kind](epsilon=LOUD))
        again = min(stream.ticks, 4)
        if again:
            _deliver(stream, stream.ticks - again, again, tell)
        enough = stream.ticks + MOST_TICKS
        while stream.ticks < enough:
            _deliver(stream, stream.ticks, int(chance.choice((1, 1, 1, 2, 5))), tell)
        signal.pause()


def _deliver(stream: Stream, first: int, count: int, tell: Tell) -> None:
    values = [raw_count(tick) for tick in range(first, first + count)]
    if count == 1:
        results = [stream.observe(values[0], at=first)]
    else:
        published = stream.observe_many(values, at=first)
        results = [None] * count if published is None else published.tolist()
    tell({"event": "acknowledged", "first": first, "results": results})


def _teller(file: int) -> Tell:
    def tell(record: dict[str, Any]) -> None:
        os.write(file, ("\n" + json.dumps(record) + "\n").encode())

    return tell


def _forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def _run(order: dict[str, Any], opening: float) -> None:
    def work() -> None:
        file = os.open(order["told"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        write(Path(order["path"]), order["kind"], _teller(file), np.random.default_rng(order["seed"]))

    child = _forked(work)
    time.sleep(order["openings"] * opening)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    print(json.dumps({"killed": os.WIFSIGNALED(status)}), flush=True)


def _warm(folder: Path, name: str) -> None:
    """Begin a stream of each kind, of no interest: everything is compiled and loaded afterwards."""
    for kind, make in KINDS.items():
        with sdp.open_stream(folder / f"{kind}-{name}", make(epsilon=LOUD)) as stream:
            stream.observe(1)
            stream.observe_many([1, 2, 3])


def _seconds_to_open(folder: Path) -> float:
    """How long a writer needs until it is at work."""
    started = time.perf_counter()
    os.waitpid(_forked(lambda: _warm(folder, "timed")), 0)
    return (time.perf_counter() - started) / len(KINDS)


if __name__ == "__main__":
    _warm(Path(sys.argv[1]), "warm")
    opening = _seconds_to_open(Path(sys.argv[1]))
    for line in sys.stdin:
        _run(json.loads(line), opening)
