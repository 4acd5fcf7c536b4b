from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.estimation.counter_fusion import FusedTicks, ahead_of_sums, fuse_totals
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SeededSource

LENGTHS = [1, 2, 3, 4, 5, 8, 11, 16, 23, 33]
RATIOS = [1e-6, 0.01, 0.3, 1.0, 10.0, 1e3, 1e8]


def counter_covariance(t: int, levels: int) -> Floats:
    """Of the totals' noise, its terms of variance 1."""
    tick = np.arange(t)
    together = np.ones((t, t))
    for level in range(levels):
        together += (tick[:, None] >> level) == (tick[None, :] >> level)
    return together


def running_sums(t: int) -> Floats:
    return np.tril(np.ones((t, t)))


def detail(t: int, support: int, block: int) -> Floats:
    row, height = np.zeros(t), support**-0.5
    row[block * support : block * support + support // 2] = height
    row[block * support + support // 2 : (block + 1) * support] = -height
    return row


def dense_fusion(ticks: Floats, totals: Floats, tick_variance: float, noise: float, levels: int) -> FusedTicks:
    """Generalised least squares with the covariances written out."""
    t = len(ticks)
    sums = running_sums(t)
    seen = sums.T @ np.linalg.solve(counter_covariance(t, levels), sums) / noise
    covariance = np.linalg.inv(np.eye(t) / tick_variance + seen)
    estimate = ticks - covariance @ seen @ (ticks - np.diff(totals, prepend=0.0))
    variances = []
    for level in range(1, (t - 1).bit_length() + 1):
        details = np.array([detail(t, 2**level, block) for block in range(t >> level)]).reshape(-1, t)
        own = np.einsum("ij,jk,ik->i", details, covariance, details)
        variances.append(own.mean() if len(own) else tick_variance)
    return FusedTicks(estimate, np.array(variances), float(covariance.sum()))


def estimator(t: int, ratio: float, levels: int) -> tuple[Floats, Floats]:
    """The matrices by which `fuse_totals` multiplies ticks and totals."""
    zero, unit = np.zeros(t), np.eye(t)
    of_ticks = [
        fuse_totals(row, zero, tick_variance=1.0, noise_term_variance=ratio, levels=levels).ticks for row in unit
    ]
    of_totals = [
        fuse_totals(zero, row, tick_variance=1.0, noise_term_variance=ratio, levels=levels).ticks for row in unit
    ]
    return np.array(of_ticks).T, np.array(of_totals).T


@pytest.mark.parametrize("orders", [2.0, 6.0, 13.0])
@pytest.mark.parametrize("t", [*range(1, 131), 513, 700])
def test_equals_dense_generalised_least_squares(t: int, orders: float) -> None:
    generator = np.random.default_rng([t, int(orders)])
    levels = (t - 1).bit_length() + int(generator.integers(0, 5))
    tick_variance, noise = 10.0 ** (11 + generator.uniform(-orders, orders, 2))
    ticks = generator.normal(size=t) * np.sqrt(tick_variance)
    totals = np.cumsum(generator.normal(size=t)) * np.sqrt(noise)
    # Without ticks the estimate is minus their predicted noise, however small that is beside them.
    for given in (ticks, np.zeros(t)):
        fused = fuse_totals(given, totals, tick_variance=tick_variance, noise_term_variance=noise, levels=levels)
        dense = dense_fusion(given, totals, tick_variance, noise, levels)
        size = max(np.abs(given).max(), np.abs(given - dense.ticks).max())
        np.testing.assert_allclose(fused.ticks, dense.ticks, rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(fused.level_variance, dense.level_variance, rtol=1e-9)
        assert fused.total_variance == pytest.approx(dense.total_variance, rel=1e-9)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("t", LENGTHS)
def test_is_unbiased(t: int, ratio: float) -> None:
    of_ticks, of_totals = estimator(t, ratio, (t - 1).bit_length() + 1)
    np.testing.assert_allclose(of_ticks + of_totals @ running_sums(t), np.eye(t), atol=1e-13)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("t", LENGTHS)
def test_no_running_sum_is_worse_than_from_one_look_alone(t: int, ratio: float) -> None:
    levels = (t - 1).bit_length() + t % 2
    of_ticks, of_totals = estimator(t, ratio, levels)
    noise = ratio * counter_covariance(t, levels)
    sums = running_sums(t)
    left = np.diag(sums @ (of_ticks @ of_ticks.T + of_totals @ noise @ of_totals.T) @ sums.T)
    alone = np.minimum(np.arange(1, t + 1), np.diag(noise))
    assert (left <= alone * (1 + 1e-9)).all()
    if 0.01 < ratio < 100:
        assert left[-1] < 0.98 * alone[-1]


def simulated_over_claimed(tick_factor: Fraction, noise_factor: Fraction) -> tuple[Floats, float]:
    """Mean squares in fusions of a series of zeros over `level_variance` and `total_variance`.

    The scales drawn are those claimed times the factors.
    """
    t, levels, repeats = 203, 8, 4000
    tick_scale, noise_scale = Fraction(2), Fraction(7)
    source = SeededSource(5)
    ticks = discrete_laplace(tick_scale * tick_factor, repeats * t, source).reshape(repeats, t)
    totals = np.repeat(discrete_laplace(noise_scale * noise_factor, repeats, source), t).reshape(repeats, t)
    for level in range(levels):
        segments = ((t - 1) >> level) + 1
        terms = discrete_laplace(noise_scale * noise_factor, repeats * segments, source).reshape(repeats, segments)
        totals += terms[:, np.arange(t) >> level]
    claimed = [DiscreteLaplaceLaw(scale).variance for scale in (tick_scale, noise_scale)]
    of_ticks, of_totals = estimator(t, claimed[1] / claimed[0], levels)
    estimates = ticks @ of_ticks.T + totals @ of_totals.T
    squares = [
        np.mean([(estimates @ detail(t, 2**level, block)) ** 2 for block in range(t >> level)]) for level in range(1, 8)
    ]
    total = float(np.mean(estimates.sum(axis=1) ** 2))
    fused = fuse_totals(
        np.zeros(t), np.zeros(t), tick_variance=claimed[0], noise_term_variance=claimed[1], levels=levels
    )
    return np.array(squares) / fused.level_variance[:7], total / fused.total_variance


def test_variances_are_those_of_simulated_noise() -> None:
    details, total = simulated_over_claimed(Fraction(1), Fraction(1))
    np.testing.assert_allclose(details, 1.0, atol=0.08)
    assert total == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize("off", [Fraction(10, 13), Fraction(13, 10)])
def test_a_scale_off_by_30_percent_is_noticed(off: Fraction) -> None:
    details, _ = simulated_over_claimed(off, Fraction(1))
    assert np.abs(details[:3] - 1.0).min() > 0.2
    _, total = simulated_over_claimed(Fraction(1), off)
    assert abs(total - 1.0) > 0.2


@pytest.mark.parametrize("t", LENGTHS)
@pytest.mark.parametrize("noise", [0.0, 1e-300, 1e-30])
def test_exact_totals_are_differenced(t: int, noise: float) -> None:
    generator = np.random.default_rng(t)
    ticks, totals = generator.normal(size=t), generator.normal(size=t)
    fused = fuse_totals(ticks, totals, tick_variance=1.0, noise_term_variance=noise, levels=8)
    np.testing.assert_allclose(fused.ticks, np.diff(totals, prepend=0.0), atol=1e-13)
    assert fused.total_variance <= 1e-28
    assert (fused.level_variance[: t.bit_length() - 1] <= 1e-28).all()


@pytest.mark.parametrize("t", LENGTHS)
@pytest.mark.parametrize(
    ("tick_variance", "noise"), [(1.0, 1e30), (1.0, 1e300), (1e-300, 1e300), (0.0, 1.0), (0.0, 0.0)]
)
def test_totals_that_tell_nothing_are_left_out(t: int, tick_variance: float, noise: float) -> None:
    generator = np.random.default_rng(t)
    ticks, totals = generator.normal(size=t), generator.normal(size=t)
    fused = fuse_totals(ticks, totals, tick_variance=tick_variance, noise_term_variance=noise, levels=8)
    np.testing.assert_allclose(fused.ticks, ticks, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(fused.level_variance, tick_variance, rtol=1e-12)
    assert fused.total_variance == pytest.approx(t * tick_variance, rel=1e-12)


@pytest.mark.parametrize("levels", [0, 3])
def test_one_tick_is_weighted_by_the_inverse_variances(levels: int) -> None:
    fused = fuse_totals(np.array([1.0]), np.array([5.0]), tick_variance=3.0, noise_term_variance=2.0, levels=levels)
    noise = 2.0 * (1 + levels)
    assert fused.ticks == pytest.approx([(1 / 3 + 5 / noise) / (1 / 3 + 1 / noise)])
    assert fused.total_variance == pytest.approx(1 / (1 / 3 + 1 / noise))
    assert len(fused.level_variance) == 0


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("t", [1, 2, 7, 1000, 4097])
def test_looks_that_agree_are_left_as_they_are(t: int, ratio: float) -> None:
    counts = np.random.default_rng(t).integers(0, 10**12, t)
    ticks, totals = counts.astype(float), np.cumsum(counts).astype(float)
    fused = fuse_totals(ticks, totals, tick_variance=1.0, noise_term_variance=ratio, levels=13)
    np.testing.assert_array_equal(fused.ticks, counts)
    np.testing.assert_array_equal(ticks, counts)


def test_large_sums_cost_their_differences_no_digits() -> None:
    generator = np.random.default_rng(3)
    ticks = generator.random(3000) * 1e12
    totals = np.cumsum(ticks) + generator.normal(size=3000) * 1e3
    exact = [Fraction(o) - s for o, s in zip(totals, accumulate(map(Fraction, ticks)), strict=True)]
    np.testing.assert_allclose(ahead_of_sums(totals, ticks), np.array(exact, dtype=float), rtol=1e-12)


@pytest.mark.parametrize(
    ("ticks", "totals", "change"),
    [
        ([], [], {}),
        ([1.0, 2.0], [1.0], {}),
        ([[1.0, 2.0]], [[1.0, 2.0]], {}),
        ([1.0] * 5, [1.0] * 5, {"levels": 2}),
        ([1.0], [1.0], {"levels": -1}),
        ([1.0], [1.0], {"tick_variance": -1.0}),
        ([1.0], [1.0], {"tick_variance": float("inf")}),
        ([1.0], [1.0], {"noise_term_variance": float("nan")}),
    ],
)
def test_what_cannot_be_used_is_refused(ticks: list[float], totals: list[float], change: dict[str, float]) -> None:
    settings = {"tick_variance": 1.0, "noise_term_variance": 1.0, "levels": 3, **change}
    with pytest.raises(InvalidInput):
        fuse_totals(np.array(ticks), np.array(totals), **settings)  # type: ignore[arg-type]
