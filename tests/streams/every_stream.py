"""Every stream class, ready to be made with any horizon and source: the laws run over all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import sparsedp as sdp
from sparsedp.arrays import Floats, Ints
from sparsedp.noise.source import RandomSource
from sparsedp.streams import Stream

Maker = Callable[[int, RandomSource], Stream]


def _compressive(horizon: int, source: RandomSource, calibration: str = "correct") -> Stream:
    return sdp.ContinualCompressive(
        epsilon="1e9", horizon=horizon, rows=24, sparsity=2, calibration=calibration, seed=5, source=source
    )


STREAMS: dict[str, Maker] = {
    "difference": lambda horizon, source: sdp.ContinualDifference(epsilon="1e9", horizon=horizon, source=source),
    "compressive": _compressive,
    "compressive, paper": lambda horizon, source: _compressive(horizon, source, "paper"),
    "adaptive": lambda horizon, source: sdp.ContinualAdaptive(epsilon="1e9", source=source),
    "adaptive, totals": lambda horizon, source: sdp.ContinualAdaptive(
        epsilon="1e9", totals="0.3", horizon=horizon, totals_every=min(4, 1 << horizon.bit_length() - 1), source=source
    ),
}
"""With so much budget that the recoveries, too, take the noise for what it is in a noiseless run: nothing."""


def exact_values(stream: Stream, counts: Ints) -> Ints:
    """What the synopsis must hold when there is no noise: Φ D, by the materialised Φ."""
    return np.asarray(stream.synopsis().sensing.materialize() @ counts, np.int64)


def recovered(stream: Stream) -> Floats:
    return stream.release().values
