"""The noise of the streams has the law that the calibration promises: the right scale is accepted, others are not."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import signal, stats

import sparsedp as sdp
from goodness_of_fit import fit_p_value
from sparsedp.arrays import Floats, Ints
from sparsedp.laws import ContinualCounterLaw, DiscreteLaplaceLaw, TicksAndTotalsLaw
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.bernoulli import Bernoulli

SAMPLES = 20_000


def pmf_of_sum(scale: Fraction, terms: int) -> Floats:
    """P(sum = x) of independent terms, x from −R to R, where R is far out in the tails."""
    reach = int(30 * scale) + 30
    one = np.array([DiscreteLaplaceLaw(scale).pmf(x) for x in range(-reach, reach + 1)])
    total = one
    for _ in range(terms - 1):
        total = signal.fftconvolve(total, one)
    return np.asarray(np.clip(total, 0, None), np.float64)


def p_value(sample: Ints, scale: Fraction, terms: int) -> float:
    pmf = pmf_of_sum(scale, terms)
    middle = len(pmf) // 2
    cumulative = np.cumsum(pmf)
    edges = np.unique(np.searchsorted(cumulative, np.linspace(0, 1, 21)[1:-1]))
    expected = np.diff(np.concatenate(([0.0], cumulative[edges], [1.0])))
    observed = np.bincount(np.searchsorted(edges, sample + middle, side="left"), minlength=len(edges) + 1)
    return float(stats.chisquare(observed, expected * sample.size).pvalue)


@pytest.mark.parametrize("horizon", [1, 2, 5, 8])
def test_counter_noise_has_the_right_law_at_every_tick(horizon: int) -> None:
    counter = sdp.ContinualCounter(
        epsilon="3/2", contribution=2, horizon=horizon, counters=SAMPLES, source=SeededSource(horizon)
    )
    terms = 1 + (horizon - 1).bit_length()
    scale = Fraction(terms * 2) / Fraction(3, 2)
    assert counter.noise_law == ContinualCounterLaw(scale, terms - 1)
    value = np.arange(SAMPLES) % 7
    for tick in range(horizon):
        noise = counter.observe(value) - (tick + 1) * value
        assert p_value(noise, scale, terms) > 1e-4
        for wrong in (Fraction(7, 10), Fraction(13, 10)):
            assert p_value(noise, scale * wrong, terms) < 1e-6
        assert p_value(noise, scale, terms + 1) < 1e-6


def test_noises_at_two_ticks_share_the_open_segments() -> None:
    """Covariance of the noises at ticks i, j: one term for the count, one for each segment that holds both."""
    counter = sdp.ContinualCounter(epsilon=4, horizon=8, counters=SAMPLES, source=SeededSource(3))
    noise = counter.observe_many(np.zeros((8, SAMPLES), np.int64)).astype(float)
    for i in range(8):
        for j in range(8):
            shared = 1 + sum(i >> level == j >> level for level in range(3))
            measured = float(np.mean(noise[i] * noise[j])) / counter.noise_law.term.variance
            assert measured == pytest.approx(shared, abs=0.25)


def test_many_at_once_and_one_by_one_have_one_law() -> None:
    counter = sdp.ContinualCounter(epsilon=1, horizon=6, counters=SAMPLES, source=SeededSource(4))
    together = counter.observe_many(np.zeros((6, SAMPLES), np.int64))
    for tick in range(6):
        assert p_value(together[tick], Fraction(4), 4) > 1e-4


@pytest.mark.parametrize(("calibration", "factor"), [("correct", 12), ("paper", 1)])
def test_compressive_noise_is_calibrated_to_the_realised_columns(calibration: str, factor: int) -> None:
    """A unit change at any tick moves the k counters by ‖φ‖₁ in all: that times (1 + L)·c/ε is the scale."""
    horizon, rows = 5, 12
    stream = sdp.ContinualCompressive(
        epsilon="1/2", contribution=3, horizon=horizon, rows=rows, sparsity=1, calibration=calibration, seed=9
    )
    columns = Bernoulli(horizon, rows=rows, seed=9).materialize()
    assert set(np.abs(columns).sum(axis=0)) == {rows}
    assert stream.noise_law.scale == Fraction(3 * (1 + 3) * factor) / Fraction(1, 2)
    assert stream.spent == sdp.Budget(epsilon=Fraction(1, 2) * rows / factor)
    noises = []
    for seed in range(250):
        stream = sdp.ContinualCompressive(
            epsilon="1/2",
            contribution=3,
            horizon=horizon,
            rows=rows,
            sparsity=1,
            calibration=calibration,
            seed=9,
            source=SeededSource(seed),
        )
        stream.observe_many(np.arange(horizon))
        noises.append(stream.synopsis().values - columns @ np.arange(horizon))
    noise = np.concatenate(noises)
    scale = Fraction(24 * factor)
    assert p_value(noise, scale, 4) > 1e-4
    for wrong in (Fraction(7, 10), Fraction(13, 10)):
        assert p_value(noise, scale * wrong, 4) < 1e-6


def test_every_tick_of_the_adaptive_stream_has_the_least_noise() -> None:
    stream = sdp.ContinualAdaptive(epsilon="1/5", contribution=2, source=SeededSource(5))
    noise = stream.observe_many(np.full(SAMPLES, 100)) - 100
    assert stream.noise_law == DiscreteLaplaceLaw(Fraction(10))
    assert fit_p_value(noise, Fraction(10)) > 1e-4
    assert fit_p_value(noise, Fraction(7)) < 1e-6
    assert fit_p_value(noise, Fraction(13)) < 1e-6


def test_ticks_and_totals_share_the_budget() -> None:
    stream = sdp.ContinualAdaptive(
        epsilon=1, totals="1/4", horizon=64, totals_every=4, contribution=3, source=SeededSource(6)
    )
    law = stream.noise_law
    assert isinstance(law, TicksAndTotalsLaw)
    assert law.ticks.scale == Fraction(3) / Fraction(3, 4)
    assert law.totals == ContinualCounterLaw(Fraction(3 * 5) / Fraction(1, 4), 4)
    assert [(part.purpose, part.budget) for part in stream.guarantee.expenses] == [
        ("every tick", sdp.Budget(epsilon="3/4")),
        ("running totals", sdp.Budget(epsilon="1/4")),
    ]
    runs = []
    for seed in range(1500):
        stream = sdp.ContinualAdaptive(
            epsilon=1, totals="1/4", horizon=64, totals_every=4, contribution=3, source=SeededSource(seed)
        )
        stream.observe_many(np.ones(9, np.int64))
        runs.append(stream.synopsis().values)
    values = np.array(runs)
    assert values.shape == (1500, 9 + 2)
    assert fit_p_value((values[:, :9] - 1).reshape(-1), law.ticks.scale) > 1e-4
    for place, truth in ((9, 4), (10, 8)):
        assert p_value(values[:, place] - truth, law.totals.scale, 5) > 1e-4
        assert p_value(values[:, place] - truth, law.totals.scale * Fraction(13, 10), 5) < 1e-3
        assert p_value(values[:, place] - truth, law.totals.scale * Fraction(7, 10), 5) < 1e-6
