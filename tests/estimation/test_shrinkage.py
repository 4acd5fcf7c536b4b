"""What the shrinkage promises: equal to the slow oracle, the limits, the total, symmetries, every length."""

from fractions import Fraction

import numpy as np
import pytest
from shrinkage_oracle import shrink_slowly

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage.frame import shrink
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SeededSource


def noisy(counts: Floats, scale: Fraction | int, seed: int = 0) -> Floats:
    return counts + discrete_laplace(Fraction(scale), len(counts), SeededSource(seed))


def law(scale: Fraction | int) -> DiscreteLaplaceLaw:
    return DiscreteLaplaceLaw(Fraction(scale))


def step_and_slope(n: int) -> Floats:
    return np.where(np.arange(n) < n // 3, 200.0, 4.0 * np.arange(n))


@pytest.mark.parametrize("n", [2, 3, 5, 16, 37, 64])
@pytest.mark.parametrize("scale", [1, 10, 60])
def test_equals_the_slow_oracle(n: int, scale: int) -> None:
    observed = noisy(step_and_slope(n), scale)
    deviation = np.sqrt(law(scale).variance)
    fast, slow = shrink(observed, law(scale)), shrink_slowly(observed, law(scale))
    # Tables are interpolated, and contrasts are kept in single precision.
    np.testing.assert_allclose(fast, slow, rtol=0, atol=3e-3 * deviation)
    assert n < 5 or np.abs(slow - observed).max() > 0.3 * deviation


@pytest.mark.parametrize("n", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 3), 1, 50, 10**12])
def test_every_length_and_scale_keeps_the_total(n: int, scale: Fraction | int) -> None:
    observed = noisy(step_and_slope(n), scale)
    found = shrink(observed, law(scale))
    assert found.shape == (n,)
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(observed.sum(), rel=1e-9, abs=1e-9 * np.abs(observed).sum())


@pytest.mark.parametrize("n", [2, 3, 100, 1024])
def test_negligible_noise_returns_the_observed(n: int) -> None:
    observed = np.random.default_rng(n).integers(0, 10**9, n).astype(float)
    for scale in (Fraction(1, 1000), Fraction(1, 50), Fraction(1, 10)):
        np.testing.assert_allclose(shrink(observed, law(scale)), observed, rtol=0, atol=1e-6)


def test_noise_beyond_every_float_leaves_the_mean() -> None:
    np.testing.assert_array_equal(shrink(np.array([1.0, 5.0]), law(10**200)), [3.0, 3.0])


@pytest.mark.parametrize("n", [300, 4096])
def test_overwhelming_noise_on_nothing_leaves_nearly_a_constant(n: int) -> None:
    kept = []
    for seed in range(40):
        value = shrink(noisy(np.zeros(n), 10**6, seed), law(10**6))
        kept.append(float(np.sum((value - value.mean()) ** 2)) / law(10**6).variance)
    # In cells' worth of noise, of n: nearly always none; an extreme draw may pass for a spike.
    assert np.median(kept) < 0.2
    assert np.mean(kept) < 3


def test_a_constant_added_is_a_constant_more() -> None:
    observed = noisy(step_and_slope(777), 20)
    np.testing.assert_allclose(shrink(observed + 12345, law(20)), shrink(observed, law(20)) + 12345)


def test_scaling_counts_and_noise_scales_the_answer() -> None:
    observed = noisy(step_and_slope(500), 20)
    small, large = shrink(observed, law(20)), shrink(1000 * observed, law(20_000))
    # Not exactly: the discrete law of scale 20 is a 5,000th narrower than the continuous one.
    np.testing.assert_allclose(large / 1000, small, rtol=0, atol=0.02)


@pytest.mark.parametrize("n", [5, 64, 1001])
def test_reversed_counts_have_the_reversed_answer(n: int) -> None:
    observed = noisy(step_and_slope(n), 30)
    there, back = shrink(observed, law(30)), shrink(observed[::-1], law(30))[::-1]
    np.testing.assert_allclose(there, back, rtol=0, atol=1e-6)


def test_the_last_cell_is_not_joined_to_the_first() -> None:
    counts = np.linspace(0, 4000, 1000)
    errors = [shrink(noisy(counts, 20, seed), law(20)) - counts for seed in range(20)]
    ends = np.sqrt(np.mean(np.square(errors)[:, [0, -1]]))
    assert ends < 0.6 * np.sqrt(law(20).variance)
    assert abs(np.mean(np.array(errors)[:, -1])) < 12


def test_is_deterministic_and_leaves_its_input_alone() -> None:
    observed = noisy(step_and_slope(400), 10)
    kept = observed.copy()
    first, second = shrink(observed, law(10)), shrink(observed, law(10))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(observed, kept)


def test_level_variances_equal_to_the_laws_change_nothing() -> None:
    observed = noisy(step_and_slope(300), 10)
    given = np.full(9, law(10).variance)
    np.testing.assert_array_equal(shrink(observed, law(10), given), shrink(observed, law(10)))


def test_less_noise_on_coarse_levels_keeps_fainter_signal_there() -> None:
    faint = np.where(np.arange(1024) < 400, 0.0, 2.0)
    told, untold = [], []
    for seed in range(5):
        observed = noisy(faint, 30, seed)
        # A second look at sums of 32 cells, so much better that their noise is gone.
        gained = faint.reshape(-1, 32).mean(axis=1) - observed.reshape(-1, 32).mean(axis=1)
        fused = observed + np.repeat(gained, 32)
        variances = np.full(10, law(30).variance)
        variances[5:] = 1.0
        told.append(float(np.sum((shrink(fused, law(30), variances) - faint) ** 2)))
        untold.append(float(np.sum((shrink(fused, law(30)) - faint) ** 2)))
    assert np.mean(told) < 0.5 * np.mean(untold)
