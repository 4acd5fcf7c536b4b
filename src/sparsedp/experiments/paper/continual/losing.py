"""What CMCO's publications tell apart, and how large its noise is beside that of a single publication.

A stream of one tick is the smallest there is: it publishes once, and the likelihood of what it publishes has no
hidden noises in it. So the ratio of the likelihoods without and with a record is exact, and an attack that goes by it
is the best there can be. For longer streams see `streams/compressive.md` and `streams/counter.md`.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy import stats

from sparsedp.arrays import Floats, Integers
from sparsedp.experiments.paper.continual.observing import CALIBRATIONS
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of, seed_of
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.noise.source import RandomSource
from sparsedp.streams import ContinualCompressive, ContinualDifference, Stream

CONFIDENCE = 0.999
FAR = 1000
"""Noise that is larger than any shift; it is rare, but the guarantee is for every view."""


def loss(settings: Settings) -> Found:
    """Streams of one tick, 0 or 1: the exact loss at the worst view, the loss that runs prove, and what is stated."""
    without, with_one = (_views(settings, count) for count in (0, 1))
    stream, signs = _stream(settings, noise_of(settings)), _signs(settings)
    scale = float(stream.noise_law.scale)
    stated = stream.spent.epsilon
    return {
        "worst": float(log_ratio(FAR * signs, signs, scale)),
        "stated": 0.0 if stated is None else float(stated),
        "measured": least_loss(log_ratio(without, signs, scale), log_ratio(with_one, signs, scale)),
        "measurable": least_loss(np.zeros(settings["runs"]), np.ones(settings["runs"])),
    }


def noise(settings: Settings) -> Found:
    """Standard deviations on a sample, entries ±1/√k: of CMCO at t = T, and of Algorithm 1 on the same T cells."""
    horizon, sparsity, epsilon = settings["horizon"], settings["sparsity"], settings["epsilon"]
    found: Found = {}
    for mechanism, calibration in CALIBRATIONS.items():
        stream = ContinualCompressive(
            horizon=horizon,
            sparsity=sparsity,
            recovery="cosamp",
            calibration=calibration,
            seed=0,
            epsilon=epsilon,
            source=noise_of(settings, mechanism),
        )
        found |= {"rows": stream.rows, "levels": stream.noise_law.levels}
        found[mechanism] = sqrt(stream.noise_law.variance / stream.rows)
    algorithm = Compressive(sensing="bernoulli", recovery="cosamp", sparsity=sparsity, seed=0)
    static = algorithm.measure(np.zeros(horizon, np.int64), epsilon=epsilon, source=noise_of(settings, "static"))
    return {**found, "static": sqrt(static.noise_variance / static.sensing.rows)}


def log_ratio(views: Integers, signs: Integers, scale: float) -> Floats:
    """ln P(view | 1) − ln P(view | 0) under independent discrete Laplace noise: what the counters hold is 0, or φ."""
    rest = np.abs(views) - np.abs(views - signs)
    return np.asarray(rest.sum(axis=-1) / scale)


def least_loss(scores: Floats, other: Floats) -> float:
    """Any ε that holds is at least this, with 99.9 % confidence: ln of P(score ≥ c) under `other` over that under the
    first; c is chosen on the first half of the runs, both probabilities are bounded on the second.
    """
    half = len(scores) // 2
    thresholds = np.unique(np.quantile(other[:half], np.linspace(0, 1, 200), method="lower"))
    chosen = max(thresholds, key=lambda threshold: _bound(scores[:half], other[:half], threshold))
    return _bound(scores[half:], other[half:], chosen)


def _bound(scores: Floats, other: Floats, threshold: float) -> float:
    side = (1 + CONFIDENCE) / 2
    hits, false_alarms = int((other >= threshold).sum()), int((scores >= threshold).sum())
    least = float(stats.beta.ppf(1 - side, hits, len(other) - hits + 1)) if hits else 0.0
    most = (
        1.0
        if false_alarms == len(scores)
        else float(stats.beta.ppf(side, false_alarms + 1, len(scores) - false_alarms))
    )
    return float(np.log(max(least, 1e-300) / most))


def _views(settings: Settings, count: int) -> Integers:
    source, views = noise_of(settings, count), []
    for _ in range(settings["runs"]):
        stream = _stream(settings, source)
        stream.observe(count)
        views.append(stream.synopsis().values)
    return np.array(views)


def _stream(settings: Settings, source: RandomSource) -> Stream:
    mechanism, epsilon = settings["mechanism"], settings["epsilon"]
    if mechanism == "difference":
        return ContinualDifference(horizon=1, epsilon=epsilon, source=source)
    return ContinualCompressive(
        horizon=1,
        sparsity=1,
        rows=settings["rows"],
        calibration=CALIBRATIONS[mechanism],
        seed=seed_of(settings, "signs"),
        epsilon=epsilon,
        source=source,
    )


def _signs(settings: Settings) -> Integers:
    """φ: what one record adds to every counter."""
    stream = _stream(settings, noise_of(settings, "signs"))
    stream.observe(0)
    return stream.synopsis().sensing.materialize()[:, 0]
