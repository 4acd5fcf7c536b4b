"""The privacy of the tree: exact probabilities of every tree over small tables, and the worst of long paths."""

from fractions import Fraction
from itertools import pairwise
from math import exp, fsum

import mpmath
import numpy as np
import pytest
from scipy import stats
from tree_oracle import every_table, every_tree, log_halved, log_left, log_probabilities, root_of, worst_path

from sparsedp.arrays import Floats
from sparsedp.mechanisms.partition.private_tree import COST, decay_of, flat_groups, tree_scale
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.law import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5)]
ROUNDING = 1e-9


def worst_ratio(logs: Floats, n: int, most: int) -> float:
    """The largest |log-ratio| of any tree's probability between tables that differ by 1 in one cell."""
    by_cell = logs.reshape(-1, *(most + 1,) * n)
    return max(float(np.abs(np.diff(by_cell, axis=cell + 1)).max()) for cell in range(n))


@pytest.mark.parametrize("score", [-40, -3, -1, 0, 1, 2, 17])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(25, 2)])
def test_the_oracle_adds_up_the_law(score: int, scale: Fraction) -> None:
    law = DiscreteLaplaceLaw(scale)
    halved = fsum(law.pmf(z) for z in range(1 - score, 1200))
    assert exp(log_halved(np.array([score]), scale)[0]) == pytest.approx(halved, rel=1e-9)
    assert exp(log_left(np.array([score]), scale)[0]) == pytest.approx(law.cdf(-score), rel=1e-9)


@pytest.mark.parametrize(("n", "most", "least"), [(2, 9, 1), (4, 3, 1), (5, 3, 1), (8, 3, 1), (8, 3, 2), (6, 3, 1)])
def test_no_tree_tells_neighbours_apart_by_more_than_epsilon(n: int, most: int, least: int) -> None:
    tables = every_table(n, most)
    for epsilon in EPSILONS:
        scale = tree_scale(1, epsilon)
        logs = log_probabilities(tables, scale, decay_of(scale), least)
        np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1.0)
        assert worst_ratio(logs, n, most) <= epsilon + ROUNDING


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_third_of_the_noise_breaks_it(epsilon: Fraction) -> None:
    scale = tree_scale(1, epsilon) / 3
    logs = log_probabilities(every_table(4, 3), scale, decay_of(scale))
    assert worst_ratio(logs, 4, 3) > 1.3 * float(epsilon)


@pytest.mark.parametrize("distance", [2, 3])
def test_neighbours_further_apart(distance: int) -> None:
    """All tables at L1 distance at most `distance`: a person's units may be in one cell or in several."""
    tables = every_table(4, 3)
    apart = np.abs(tables[:, None] - tables[None]).sum(axis=2)
    scale = tree_scale(distance, Fraction(1))
    logs = log_probabilities(tables, scale, decay_of(scale))
    losses = np.abs(logs[:, :, None] - logs[:, None]).max(axis=0)
    assert losses[apart <= distance].max() <= 1 + ROUNDING
    narrow = tree_scale(1, Fraction(1)) / 3
    logs = log_probabilities(tables, narrow, decay_of(narrow))
    assert np.abs(logs[:, :, None] - logs[:, None]).max(axis=0)[apart <= distance].max() > 1.3


@pytest.mark.parametrize(
    "scale", [Fraction(1, 10), Fraction(3, 5), Fraction(1), Fraction(3), Fraction(30), Fraction(200)]
)
def test_the_worst_path_costs_no_more_than_was_proven(scale: Fraction) -> None:
    """In units of 1/scale. More than 2 of it is reached, so that 2 would not do as the cost."""
    worst = worst_path(scale, decay_of(scale), depth=12)
    assert 2 - ROUNDING <= worst <= COST + ROUNDING
    if scale == 1:
        assert worst_path(scale, decay_of(scale), depth=31) <= COST + ROUNDING


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(30), Fraction(200)])
def test_half_the_decay_breaks_it(scale: Fraction) -> None:
    assert worst_path(scale, decay_of(scale) // 2, depth=12) > 3.4


def test_the_programme_finds_at_least_what_chance_finds() -> None:
    """Paths drawn at random within the rules, against the dynamic programme that claims to know the worst."""
    generator, scale = np.random.default_rng(1), Fraction(3)
    decay = decay_of(scale)
    worst = 0.0
    for _ in range(4000):
        steps = generator.choice([0, 1, decay, decay + 1], size=12)
        one = np.cumsum(steps)[::-1] + generator.integers(0, 3)
        two = one + generator.integers(-1, 2, size=12)
        if (two < 0).any() or any(later > earlier for earlier, later in pairwise(two.tolist())):
            continue
        scores = [np.maximum(c - decay * np.arange(12), -decay) for c in (one, two)]
        halved = np.append(0.0, np.cumsum(log_halved(scores[0], scale) - log_halved(scores[1], scale)))
        ended = halved + np.append(log_left(scores[0], scale) - log_left(scores[1], scale), 0.0)
        worst = max(worst, float(np.abs(ended).max()) * float(scale))
    assert 1.5 < worst <= worst_path(scale, decay, depth=12) + ROUNDING


@pytest.mark.parametrize(
    "scale", [Fraction(1, 1000), Fraction(1), Fraction(10, 7), Fraction(10**6), Fraction(2**50, 3)]
)
def test_the_decay_halves_the_odds(scale: Fraction) -> None:
    decay = decay_of(scale)
    with mpmath.workdps(60):
        needed = mpmath.mpf(scale.numerator) / scale.denominator * mpmath.log(2)
        assert isinstance(decay, int)
        assert decay >= 1
        assert needed <= decay <= needed * (1 + mpmath.mpf("1e-8")) + 1


def test_the_scale_is_exact() -> None:
    assert tree_scale(4, Fraction(3, 7)) == Fraction(28, 3) * COST
    assert isinstance(tree_scale(1, Fraction(1)), Fraction)


def frequency_p_value(factor: Fraction) -> float:
    """Of 3,000 trees grown with real noise of `factor` times the scale, under the exact probabilities of the scale."""
    table, scale, source = np.array([0, 3, 1, 9], np.int64), Fraction(4), SeededSource(8)
    trees = every_tree(root_of(4), 4)
    expected = np.exp(log_probabilities(table[None], scale, decay_of(scale))[:, 0])
    numbers = {tree.starts: number for number, tree in enumerate(trees)}
    counts = np.zeros(len(trees))
    for _ in range(3000):
        starts = flat_groups(table, scale, lambda scores: add_discrete_laplace(scores, scale * factor, source))
        counts[numbers[tuple(starts.tolist())]] += 1
    return float(stats.chisquare(counts, expected * 3000).pvalue)


def test_trees_come_out_as_often_as_they_should() -> None:
    assert frequency_p_value(Fraction(1)) > 1e-3
    assert frequency_p_value(Fraction(7, 10)) < 1e-3
