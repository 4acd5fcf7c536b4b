"""Every stream's release knows its errors: by the noise's law exactly, or by the estimator that batch releases have."""

from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.estimation.inverses import DifferenceErrors
from sparsedp.laws import ContinualCounterLaw
from sparsedp.noise.source import SeededSource
from sparsedp.streams import ContinualCounter, Stream

TICKS = 512
LEVEL = np.repeat([3, 40, 0, 12], TICKS // 4)


def stream(name: str, seed: int) -> Stream:
    source = SeededSource(seed)
    if name == "difference":
        return sdp.ContinualDifference(epsilon=1, horizon=TICKS, source=source)
    if name == "totals":
        return sdp.ContinualAdaptive(epsilon=1, totals="0.3", horizon=TICKS, source=source)
    return sdp.ContinualAdaptive(epsilon=1, source=source)


@pytest.mark.parametrize("name", ["adaptive", "totals", "difference"])
def test_intervals_of_ticks_and_of_ranges_hold_about_as_often_as_they_say(name: str) -> None:
    """Wide enough; and not so wide that half of them would do."""
    held, halved, ranges = [], [], []
    for seed in range(40):
        counts = np.random.default_rng(seed).poisson(LEVEL)
        running = stream(name, seed)
        running.observe_many(counts)
        release = running.release()
        assert release.stderr is not None
        apart = np.abs(release.values - counts)
        held.append(np.mean(apart <= 1.96 * release.stderr))
        halved.append(np.mean(apart <= 0.6 * release.stderr))
        for start, stop in ((0, 100), (60, 400), (300, 310), (0, TICKS)):
            found = release.interval((start, stop))
            ranges.append(found.low <= counts[start:stop].sum() <= found.high)
    assert np.mean(held) >= 0.93
    assert np.mean(halved) <= 0.85
    assert np.mean(ranges) >= 0.9


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("levels", [0, 1, 4])
def test_errors_of_differences_are_those_of_the_counters_covariance(n: int, levels: int) -> None:
    law = ContinualCounterLaw(Fraction(3), levels)
    ticks = np.arange(n)
    totals = 1.0 + sum(((ticks[:, None] >> level) == (ticks >> level)).astype(float) for level in range(levels))
    differences = np.eye(n) - np.eye(n, k=-1)
    covariance = law.term.variance * differences @ (totals * np.ones((n, n))) @ differences.T
    errors = DifferenceErrors(n, law)
    np.testing.assert_allclose(errors.stderr(), np.sqrt(np.diag(covariance)))
    for seed in range(5):
        weights = np.random.default_rng(seed).normal(size=n)
        assert errors.variance(weights) == pytest.approx(float(weights @ covariance @ weights))


def test_a_counters_sums_have_the_noise_of_all_their_terms() -> None:
    counter = ContinualCounter(epsilon=1, horizon=16, counters=3)
    counter.observe([1, 2, 3])
    release = counter.release()
    assert release.stderr is not None
    law = counter.noise_law
    np.testing.assert_allclose(release.stderr, law.variance**0.5)
    assert release.interval([1, 0, 0]).high > release.values[0]


def test_ticks_that_cannot_be_negative_are_not() -> None:
    running = sdp.ContinualAdaptive(epsilon="0.1")
    running.observe_many(np.zeros(300, np.int64))
    assert running.release().values.min() >= 0.0
    signed = sdp.ContinualAdaptive(epsilon="0.1", negative=True)
    signed.observe_many(np.full(300, -50))
    assert signed.release().values.max() < 0.0
