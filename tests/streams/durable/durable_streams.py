"""The streams that a file can hold, once each, for every law that all of them must keep."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from typing import Any

import sparsedp as sdp
from sparsedp.streams import Stream

LOUD = Fraction(1, 2**45)
"""An ε whose noise has some fifty bits: no noise, count or total of it is found in a file by chance."""

HORIZON = 2**14

KINDS: dict[str, Callable[..., Stream]] = {
    "adaptive": sdp.ContinualAdaptive,
    "difference": lambda *, horizon=HORIZON, **terms: sdp.ContinualDifference(horizon=horizon, **terms),
    "totals": lambda *, horizon=HORIZON, **terms: sdp.ContinualAdaptive(
        totals="0.3", totals_every=4, horizon=horizon, **terms
    ),
    "compressive": lambda *, horizon=HORIZON, **terms: sdp.ContinualCompressive(
        horizon=horizon, rows=5, seed=7, **terms
    ),
}

COUNTERS = [name for name in KINDS if name != "adaptive"]


@cache
def raw_count(tick: int) -> int:
    """The exact count of a tick in tests that look for it: 62 bits that depend on the tick alone."""
    return int.from_bytes(blake2b(f"tick {tick}".encode(), digest_size=8).digest(), "big") >> 2


def kept(stream: Stream) -> dict[str, Any]:
    """All that a stream remembers, as plain numbers."""
    state = stream._state
    published = {name: stream._store.log(name, 0, _length(stream, name)).tolist() for name in stream._logs}
    parts = () if state is None else (state.count, state.latest, state.above)
    return {"ticks": stream.ticks, "published": published, "counters": [part.tolist() for part in parts]}


def numbers_of(things: object) -> set[int]:
    """Every integer in nested lists and dictionaries, such as those of `kept`."""
    if isinstance(things, dict):
        things = list(things.values())
    if isinstance(things, list | tuple):
        return set().union(*map(numbers_of, things))
    return {things} if isinstance(things, int) else set()


def _length(stream: Stream, log: str) -> int:
    state = stream._state
    return stream.ticks // state.every if log == "total" and state is not None else stream.ticks
