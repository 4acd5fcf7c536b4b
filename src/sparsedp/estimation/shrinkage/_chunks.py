"""Work over many gaps or cells, cut into chunks for two threads: compiled kernels do not hold Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

CHUNK = 1 << 16
"""Gaps or cells in a chunk: a millisecond or two of work."""

THREADS = 2
"""No more than this, so that a release does not take a whole machine."""


class Chunks:
    """Runs a function of (start, stop) over chunks of 0 … size − 1.

    The chunks do not depend on how many threads there are, so nor does the result.
    """

    def __init__(self, pool: Executor | None) -> None:
        self._pool = pool

    def run(self, work: Callable[[int, int], T], size: int) -> list[T]:
        """The chunks' results, in order."""
        starts = range(0, size, CHUNK)
        stops = [min(start + CHUNK, size) for start in starts]
        if self._pool is None or len(stops) == 1:
            return [work(start, stop) for start, stop in zip(starts, stops, strict=True)]
        return list(self._pool.map(work, starts, stops))


@contextmanager
def chunks_of(size: int) -> Iterator[Chunks]:
    """For so many gaps or cells: threads are only started if there is more than one chunk, and more than one core."""
    threads = min(THREADS, _cores())
    if size <= CHUNK or threads == 1:
        yield Chunks(None)
    else:
        with ThreadPoolExecutor(threads, thread_name_prefix="shrinkage") as pool:
            yield Chunks(pool)


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
