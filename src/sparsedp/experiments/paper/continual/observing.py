"""Streams by the names that the figures have for them, and their errors at chosen moments."""

from __future__ import annotations

from collections.abc import Sequence

from sparsedp.arrays import Integers
from sparsedp.experiments.metrics import cell_error
from sparsedp.noise.source import RandomSource
from sparsedp.streams import ContinualAdaptive, ContinualCompressive, ContinualDifference, Stream

CALIBRATIONS = {"cmco": "correct", "cmco paper": "paper"}
"""The two that take a sparsity and a decoder."""


def begin(mechanism: str, *, epsilon: str, horizon: int, source: RandomSource) -> Stream:
    """A stream that is not CMCO: "difference", "continual adaptive" or "plain", which differ in what is released."""
    if mechanism == "difference":
        return ContinualDifference(horizon=horizon, epsilon=epsilon, source=source)
    return ContinualAdaptive(epsilon=epsilon, source=source)


def begin_cmco(
    mechanism: str, *, epsilon: str, horizon: int, sparsity: int, decoder: str, seed: int, source: RandomSource
) -> ContinualCompressive:
    """CMCO with either calibration, in the Haar basis as in the paper."""
    return ContinualCompressive(
        horizon=horizon,
        sparsity=sparsity,
        recovery=decoder,
        calibration=CALIBRATIONS[mechanism],
        seed=seed,
        epsilon=epsilon,
        source=source,
    )


def recovery_of(mechanism: str) -> str | None:
    """How a stream is released: "plain" as it was published, every other as it was planned."""
    return "direct" if mechanism == "plain" else None


def errors_at(stream: Stream, counts: Integers, moments: Sequence[int], recovery: str | None = None) -> list[float]:
    """‖D_t − D*_t‖₂ of one run of the stream, at each of these numbers of ticks, in order."""
    errors, observed = [], 0
    for moment in moments:
        stream.observe_many(counts[observed:moment])
        observed = moment
        errors.append(cell_error(counts[:moment], stream.release(recovery).values))
    return errors
