"""The noise law of a coefficient and the prior fitted to a level, against their definitions."""

from fractions import Fraction

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage.mixture_prior import (
    DENSITY,
    GRID,
    REMOVED,
    SCALES,
    SURELY_SIGNAL,
    VAGUE_WEIGHTS,
    Evidence,
    count,
    fit,
    grid_place,
    noise_nodes,
    tables,
    variance_shape,
)
from sparsedp.laws import DiscreteLaplaceLaw


def look_up(table: Floats, magnitude: float, column: int) -> float:
    place, part = grid_place(magnitude)
    return float(table[place, column] + part * table[place, column + 1])


def test_what_is_not_a_number_has_the_last_place() -> None:
    """Never one beyond the table: kernels write there."""
    for value in (np.nan, np.inf, -np.inf, 1e300):
        assert grid_place(value) == grid_place(SURELY_SIGNAL)
        counts = np.zeros((1, len(GRID) + 1))
        count(value, counts, 0)
        assert counts.sum() == 1.0


@pytest.mark.parametrize(
    "value", [0.0, 1e-9, 0.3, -1.0, 2.7, 900.0, SURELY_SIGNAL - 2, SURELY_SIGNAL - 1, -SURELY_SIGNAL, 1e300]
)
def test_a_value_lies_where_the_grid_says(value: float) -> None:
    place, part = grid_place(value)
    assert 0 <= part < 1
    above = GRID[min(place + 1, len(GRID) - 1)]
    assert GRID[place] + part * (above - GRID[place]) == pytest.approx(min(abs(value), SURELY_SIGNAL - 1), abs=1e-12)


def test_the_grid_is_fine_where_tables_curve() -> None:
    assert (np.diff(GRID) <= (1 + GRID[:-1]) / 32 + 1e-12).all()
    assert GRID[0] == 0
    assert GRID[-1] == SURELY_SIGNAL - 1


def test_the_variance_is_exponential_for_a_continuous_law() -> None:
    assert variance_shape(DiscreteLaplaceLaw(Fraction(1000))) == pytest.approx(1.0, rel=1e-5)
    assert variance_shape(DiscreteLaplaceLaw(Fraction(10**90))) == 1.0


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(30)])
@pytest.mark.parametrize("cells", [2, 4, 16])
def test_nodes_have_the_second_and_fourth_moments_of_the_noise(scale: Fraction, cells: int) -> None:
    law = DiscreteLaplaceLaw(scale)
    variances, chances = noise_nodes(cells * variance_shape(law))
    excess = (law.fourth_moment / law.variance**2 - 3) / cells
    assert chances.sum() == pytest.approx(1.0)
    assert chances @ variances == pytest.approx(1.0)
    assert 3 * chances @ variances**2 == pytest.approx(3 + excess)


def test_the_noise_of_a_difference_of_two_is_the_exact_one() -> None:
    """X − Y of two Laplace variables has density (1 + |t|)·exp(−|t|)/4 in t = |X − Y|/b; 5 deviations are t = 10."""
    density = Evidence.of(*noise_nodes(2.0)).density[0]
    t = 2 * GRID
    exact = (1 + t) * np.exp(-t) / 4 * 2
    near = GRID < 5
    np.testing.assert_allclose(density[near], exact[near], rtol=0.06)
    gaussian = np.exp(-(GRID**2) / 2) / np.sqrt(2 * np.pi)
    assert gaussian[near][-1] < 0.1 * exact[near][-1]


def test_many_cells_are_gaussian() -> None:
    assert len(noise_nodes(64.0)[0]) == 1
    twice = Evidence.of(*noise_nodes(63.9)).density[0], Evidence.of(*noise_nodes(64.0)).density[0]
    near = GRID < 3
    np.testing.assert_allclose(twice[0][near], twice[1][near], rtol=0.08)


def test_tables_are_the_posterior_mean_by_plain_integration() -> None:
    nodes = noise_nodes(2.0)
    weights = np.zeros(len(SCALES))
    weights[[0, 3, 6]] = 0.7, 0.2, 0.1
    (table,) = tables(Evidence.of(*nodes), weights[None])
    noise = np.linspace(-60, 60, 240_001)
    step = noise[1] - noise[0]
    law = (nodes[1] * np.exp(-(noise[:, None] ** 2) / 2 / nodes[0]) / np.sqrt(2 * np.pi * nodes[0])).sum(axis=1)
    for z in (0.3, 1.7, 4.0, 9.0):
        signal = z - noise
        smooth = sum(
            w * np.exp(-(signal**2) / 2 / s**2) / np.sqrt(2 * np.pi) / s
            for w, s in zip(weights[1:], SCALES[1:], strict=True)
        )
        zero = weights[0] * np.interp(z, noise, law)
        total = zero + float((law * smooth).sum()) * step
        mean = (zero * z + float((law * smooth * noise).sum()) * step) / total
        assert look_up(table, z, REMOVED) * z == pytest.approx(mean, rel=2e-3)
        assert look_up(table, z, DENSITY) == pytest.approx(total, rel=5e-3)


def histogram(values: Floats) -> Floats:
    counts = np.zeros((1, len(GRID) + 1))
    for value in values:
        count(value, counts, 0)
    return counts[0, :-1]


def test_counts_are_shared_out_so_that_means_are_kept() -> None:
    values = np.random.default_rng(4).standard_cauchy(500)
    counts = histogram(values)
    assert counts.sum() == pytest.approx(500)
    assert counts @ GRID == pytest.approx(np.abs(values).sum())


def test_em_finds_the_prior_that_made_the_coefficients() -> None:
    generator = np.random.default_rng(5)
    signal = np.where(generator.random(20_000) < 0.1, generator.normal(0, 8, 20_000), 0.0)
    weights = fit(
        histogram(signal + generator.normal(0, 1, 20_000)),
        Evidence.of(*noise_nodes(64.0)),
        VAGUE_WEIGHTS,
        0.1 * VAGUE_WEIGHTS,
        4.0,
    )
    assert weights.sum() == pytest.approx(1.0)
    assert weights[SCALES < 1].sum() == pytest.approx(0.9, abs=0.03)
    seen = SCALES < 100  # what is imagined of larger ones is vague
    assert weights[seen] @ SCALES[seen] ** 2 == pytest.approx(0.1 * 8**2, rel=0.1)


def test_pure_noise_is_believed_to_be_noise_and_one_outlier_not() -> None:
    noise = np.random.default_rng(6).normal(0, 1, 2000)
    evidence = Evidence.of(*noise_nodes(64.0))
    assert fit(histogram(noise), evidence, VAGUE_WEIGHTS, 0.1 * VAGUE_WEIGHTS, 4.0)[0] > 0.95
    outlier = fit(histogram(np.append(noise, 12.0)), evidence, VAGUE_WEIGHTS, 0.1 * VAGUE_WEIGHTS, 4.0)
    assert look_up(tables(evidence, outlier[None])[0], 12.0, REMOVED) < 0.2
