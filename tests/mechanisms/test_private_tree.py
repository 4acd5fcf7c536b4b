"""The privacy of the tree: exact probabilities of every tree over small tables, and the worst of long paths."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats
from tree_oracle import every_table, every_tree, log_halved, log_left, log_probabilities, root_of, score_of, worst_path

from sparsedp.arrays import Floats
from sparsedp.mechanisms._private_tree import COST, chances_of, decay_for, flat_groups
from sparsedp.noise.coins import toss
from sparsedp.noise.source import SeededSource

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5)]
ROUNDING = 1e-9


def worst_ratio(logs: Floats, n: int, most: int) -> float:
    """The largest |log-ratio| of any tree's probability between tables that differ by 1 in one cell."""
    by_cell = logs.reshape(-1, *(most + 1,) * n)
    return max(float(np.abs(np.diff(by_cell, axis=cell + 1)).max()) for cell in range(n))


@pytest.mark.parametrize(
    ("n", "most", "least"),
    [
        *((2, 9, 1), (4, 3, 1), (5, 3, 1), (7, 2, 1), (6, 2, 2)),
        *(pytest.param(*larger, marks=pytest.mark.slow) for larger in ((6, 3, 1), (8, 2, 1), (8, 2, 2))),
    ],
)
def test_no_tree_tells_neighbours_apart_by_more_than_epsilon(n: int, most: int, least: int) -> None:
    tables = every_table(n, most)
    for epsilon, slack in product(EPSILONS, (0, 1)):
        logs = log_probabilities(tables, decay_for(1, epsilon), least, slack)
        np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1.0)
        assert worst_ratio(logs, n, most) <= epsilon + ROUNDING


@pytest.mark.parametrize("decay", [3, 6, 12])
def test_a_third_of_the_decay_breaks_it(decay: int) -> None:
    """For the ε that the whole decay is made for."""
    epsilon = float(COST) / decay
    assert worst_ratio(log_probabilities(every_table(2, 40), decay), 2, 40) <= epsilon
    assert worst_ratio(log_probabilities(every_table(2, 40), decay // 3), 2, 40) > 2 * epsilon


@pytest.mark.parametrize("distance", [2, 3])
def test_neighbours_further_apart(distance: int) -> None:
    """All tables at L1 distance at most `distance`: a person's units may be in one cell or in several."""
    tables = every_table(4, 3)
    apart = np.abs(tables[:, None] - tables[None]).sum(axis=2)
    logs = log_probabilities(tables, decay_for(distance, Fraction(1)))
    assert np.abs(logs[:, :, None] - logs[:, None]).max(axis=0)[apart <= distance].max() <= 1 + ROUNDING
    logs = log_probabilities(tables, 1)
    assert np.abs(logs[:, :, None] - logs[:, None]).max(axis=0)[apart <= distance].max() > 1.3


@pytest.mark.parametrize("decay", [1, 2, 3, 8, 50, 300])
def test_the_worst_path_costs_no_more_than_was_proven(decay: int) -> None:
    """In units of 1/decay. Nearly all of it is reached where steps are small, so that less would not do as the cost."""
    worst = worst_path(decay, depth=12)
    assert worst <= float(COST) + ROUNDING
    assert worst > {1: 0.6, 2: 0.9, 3: 1.0}.get(decay, 1.3)
    if decay == 8:
        assert worst_path(decay, depth=31) <= float(COST) + ROUNDING


@pytest.mark.parametrize("decay", [8, 50, 300])
def test_scores_that_fall_half_as_fast_break_it(decay: int) -> None:
    assert worst_path(decay, depth=12, fall=decay // 2) > 1.5 * float(COST)


def test_the_programme_finds_at_least_what_chance_finds() -> None:
    """Paths drawn at random within the rules, against the dynamic programme that claims to know the worst."""
    generator, decay = np.random.default_rng(1), 6
    worst = 0.0
    for _ in range(4000):
        steps = generator.choice([0, 1, decay, decay + 1], size=12)
        one = np.cumsum(steps)[::-1] + generator.integers(0, 3)
        two = one + generator.integers(-1, 2, size=12)
        if (two < 0).any() or any(later > earlier for earlier, later in pairwise(two.tolist())):
            continue
        scores = [np.array([score_of(c[d], d, decay) for d in range(12)]) for c in (one, two)]
        halved_so_far = np.append(0.0, np.cumsum(log_halved(scores[0], decay) - log_halved(scores[1], decay)))
        ended = halved_so_far + np.append(log_left(scores[0], decay) - log_left(scores[1], decay), 0.0)
        worst = max(worst, float(np.abs(ended).max()) * decay)
    assert 1.0 < worst <= worst_path(decay, depth=12) + ROUNDING


def frequency_p_value(decay: int) -> float:
    """Of 3,000 trees grown with real coins of this decay, under the exact probabilities of a decay of 4."""
    table, source = np.array([0, 3, 1, 9], np.int64), SeededSource(8)
    trees = every_tree(root_of(4), 4)
    expected = np.exp(log_probabilities(table[None], 4)[:, 0])
    numbers = {tree.starts: number for number, tree in enumerate(trees)}
    counts = np.zeros(len(trees))
    for _ in range(3000):
        starts = flat_groups(table, 0, decay, lambda scores: toss(chances_of(scores, decay), source))
        counts[numbers[tuple(starts.tolist())]] += 1
    return float(stats.chisquare(counts, expected * 3000).pvalue)


def test_trees_come_out_as_often_as_they_should() -> None:
    assert frequency_p_value(4) > 1e-3
    assert frequency_p_value(3) < 1e-3
