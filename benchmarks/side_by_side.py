"""Timing that is fair to both sides: every library on one thread, the least of several runs, rivals in turn.

Import it before numpy: the libraries read how many threads they may use when they are loaded.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"

import sys  # noqa: E402
from collections.abc import Callable, Mapping  # noqa: E402
from time import perf_counter  # noqa: E402
from typing import TypeVar  # noqa: E402

T = TypeVar("T")

if "numpy" in sys.modules:
    raise ImportError("Import `side_by_side` before numpy: numpy has already chosen its threads.")


def least_times(calls: Mapping[str, tuple[Callable[[], T], int]]) -> dict[str, tuple[T, float]]:
    """The last value and the least time of each (call, repeats), in seconds.

    The calls take turns, so that a busy moment of the machine does not fall on one of them alone. Nothing is run
    untimed: of two or more repeats the first warms the caches.
    """
    best: dict[str, tuple[T, float]] = {}
    for turn in range(max(repeats for _, repeats in calls.values())):
        for name, (call, repeats) in calls.items():
            if turn < repeats:
                start = perf_counter()
                value = call()
                taken = perf_counter() - start
                best[name] = value, min(taken, best[name][1] if name in best else taken)
    return best


def least_time(call: Callable[[], object], repeats: int) -> float:
    """The least time of one call alone, in seconds."""
    return least_times({"call": (call, repeats)})["call"][1]
