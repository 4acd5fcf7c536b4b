"""Sums that pick out what shrinking smoothed away: their intervals know of it."""

import numpy as np

import sparsedp as sdp
from sparsedp.estimation.errors.errors import CERTAIN, LayerErrors
from sparsedp.estimation.least_squares import noise_of_sum
from sparsedp.noise.source import SeededSource


def test_a_weekly_cycle_below_the_noise_of_a_day() -> None:
    """A cycle that single days hide and a year of Saturdays shows: without its bias hardly any interval would hold.

    The look misses the cycle once in fifteen releases; then days are not measured, and nothing is known of it.
    """
    random = np.random.default_rng(5)
    weekday = np.arange(365) % 7
    held = []
    for seed in range(12):
        counts = random.poisson(np.where(weekday >= 5, 25, 70))
        release = sdp.Adaptive().release(counts, epsilon="0.1", source=SeededSource(seed))
        for weights in ((weekday < 5).astype(float), (weekday == 5).astype(float)):
            interval = release.interval(weights, kind="expected")
            held.append(interval.low <= weights @ counts <= interval.high)
    assert np.mean(held) > 0.7


def test_a_handful_of_cells_has_the_noise_of_its_law() -> None:
    assert sdp.release([0] * 8, epsilon="0.5").interval(0).high >= 6.0
    release = sdp.release([500] * 8, epsilon="0.5")
    assert release.stderr is not None
    np.testing.assert_allclose(release.stderr**2, release.stderr[0] ** 2)
    everything = release.interval((0, 8))
    reach = 1.96 * release.stderr[0] * np.sqrt(8)
    np.testing.assert_allclose(everything.high - release.values.sum(), reach, rtol=1e-3)
    np.testing.assert_allclose(release.values.sum() - everything.low, reach, rtol=1e-3)


def test_what_clipping_adds_does_not_go_into_the_total() -> None:
    """Nights without a record: half of their noise is clipped, and all of it upwards."""
    hours = np.arange(4096) % 24
    counts = np.random.default_rng(1).poisson(np.where(hours < 6, 0, 40))
    synopses = [sdp.Adaptive("cells").measure(counts, epsilon=1, source=SeededSource(seed)) for seed in range(8)]
    assert abs(np.mean([synopsis.recover().values.sum() - counts.sum() for synopsis in synopses])) < 60
    signed = [synopsis.recover("signed_layers").values for synopsis in synopses]
    assert np.mean([np.maximum(cells, 0.0).sum() - counts.sum() for cells in signed]) > 100, "as clipping would"


def test_that_the_parts_of_a_table_slope_is_no_bias() -> None:
    """The cells that are above their part's mean, all together: that is slope, and far beyond the noise."""
    y, x = np.mgrid[0:64, 0:64] / 64
    hill = np.exp(-((x - 0.4) ** 2 + (y - 0.4) ** 2) / 0.02)
    counts = np.random.default_rng(2).poisson(100_000 * hill / hill.sum())
    release = sdp.Adaptive().release(counts, epsilon="0.1", source=SeededSource(1))
    errors = getattr(release.uncertainty, "expected", None)
    assert isinstance(errors, LayerErrors)
    assert errors._has_cells
    fit = errors._fit
    sizes = np.diff(fit.layers[0].starts, append=fit.sensing.n)
    means = np.repeat(np.add.reduceat(fit.estimate, fit.layers[0].starts) / sizes, sizes)
    row = ((fit.estimate > 1.001 * means) & np.repeat(sizes > 1, sizes)).astype(float)
    assert float(row @ (fit.estimate - fit.fused)) ** 2 > CERTAIN**2 * noise_of_sum(fit.sensing, fit.law, row)
    assert errors._bias(row, 0.0) == 0.0


def test_a_busy_half_that_gave_way_to_the_other() -> None:
    """Without negative cells the sparse half has too much, and the busy one too little, by some deviations of noise."""
    random = np.random.default_rng(7)
    half = 4096
    busy, sparse = np.full(half, 40), np.where(random.random(half) < 0.3, 30, 0)
    counts = random.poisson(np.concatenate([busy, sparse]))
    held = []
    for seed in range(10):
        release = sdp.Adaptive("cells").release(counts, epsilon="0.5", source=SeededSource(seed))
        for part in (slice(0, half), slice(half, 2 * half)):
            interval = release.interval(part, kind="expected")
            held.append(interval.low <= counts[part].sum() <= interval.high)
    assert np.mean(held) > 0.85
