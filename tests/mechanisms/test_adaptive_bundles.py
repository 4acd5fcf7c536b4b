"""Which groups are measured together: near the best for ranges, or for ranges and cells, however wide they are."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Integers
from sparsedp.mechanisms.adaptive_bundles import TOGETHER, bundles, covered
from sparsedp.mechanisms.adaptive_layers import GAUSSIAN, LAPLACE

EVERY_POWER = pytest.mark.parametrize("power", [LAPLACE, GAUSSIAN])
EVEN, CROWD, TWO_CROWDS = "even", "a crowd of cells", "two crowds"


def groups_of(kind: str, groups: int) -> tuple[Integers, int]:
    """First cells, and how many cells there are: groups of 2; or most of them cells, in one place or in two."""
    if kind == EVEN:
        return np.arange(0, 2 * groups, 2), 2 * groups
    wide = 8
    sizes = np.ones(groups, np.int64)
    sizes[-wide:] = 4 * groups // wide
    if kind == TWO_CROWDS:
        sizes = np.roll(sizes, groups // 2)
    return np.cumsum(sizes) - sizes, int(sizes.sum())


def exact(starts: Integers, n: int, together: int, alone: float, power: int) -> float:
    """The mean variance between any two places, whole cells apart, by dense least squares."""
    groups = len(starts)
    bundle = np.arange(groups) // together if together else np.arange(groups)
    precision = np.eye(groups) * alone**power
    if together:
        precision += (1 - alone) ** power * (bundle[:, None] == bundle)
    covariance = np.linalg.inv(precision)
    before = np.zeros((n + 1, groups))
    sizes = np.diff(starts, append=n)
    before[1:] = np.cumsum(np.repeat(np.eye(groups) / sizes[:, None], sizes, axis=0), axis=0)
    among = before @ covariance @ before.T  # of what lies before two places
    alone_there = np.diag(among)
    return float((alone_there[:, None] + alone_there - 2.0 * among).mean())


@EVERY_POWER
@pytest.mark.parametrize("kind", [EVEN, CROWD, TWO_CROWDS])
@pytest.mark.parametrize("groups", [30, 46, 100])
def test_bundles_are_near_the_best(groups: int, kind: str, power: int) -> None:
    starts, n = groups_of(kind, groups)
    sizes = (size for size in (4, 6, 8, 12, 16, 24, 32, 48, 64, 96) if size < groups)
    candidates = [(0, 1.0), *product(sizes, [twentieths / 20 for twentieths in range(4, 20)])]
    variances = {each: exact(starts, n, *each, power) for each in candidates}
    for for_cells in (False, True):
        together, alone = bundles(starts, n, power, for_cells=for_cells)
        cost = {each: variance * (each[1] ** -power if for_cells else 1.0) for each, variance in variances.items()}
        assert cost[together, float(alone)] <= 1.02 * min(cost.values())


@EVERY_POWER
def test_of_a_crowd_of_cells_each_has_more_than_groups_that_are_even(power: int) -> None:
    """Few ranges end within the crowd, so its bundles are large, or none."""
    even, crowd = (bundles(*groups_of(kind, 100), power, for_cells=False) for kind in (EVEN, CROWD))
    assert 0 < even[0] < crowd[0] < 100
    assert even[1] < crowd[1] < 1


@EVERY_POWER
@pytest.mark.parametrize("kind", [EVEN, CROWD, TWO_CROWDS])
def test_for_cells_the_single_groups_have_more(kind: str, power: int) -> None:
    for groups in (100, 250, 1000):
        starts, n = groups_of(kind, groups)
        assert bundles(starts, n, power, for_cells=True)[1] > bundles(starts, n, power, for_cells=False)[1]


@EVERY_POWER
def test_few_groups_are_measured_one_by_one(power: int) -> None:
    for groups in range(1, 25):
        assert bundles(np.arange(groups), groups, power, for_cells=False) == (0, Fraction(1))
    if power == GAUSSIAN:
        assert bundles(np.arange(25), 25, power, for_cells=False)[0] > 0


def test_very_many_groups_have_large_bundles() -> None:
    few, more, many = (
        bundles(*groups_of(EVEN, groups), LAPLACE, for_cells=False)[0] for groups in (10**3, 10**4, 10**5)
    )
    assert few < more < many


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40), st.sampled_from((1, *TOGETHER)))
def test_what_a_random_range_covers_is_what_many_drawn_ones_do(sizes: list[int], size: int) -> None:
    n = sum(sizes)
    starts = np.cumsum(sizes) - np.array(sizes)
    places = (np.arange(4000) + 0.5) / 4000 * n
    passed = np.clip((places[:, None] - starts) / sizes, 0.0, 1.0)
    bundle = np.add.reduceat(passed, np.arange(0, len(sizes), size), axis=1)
    assert covered(starts, n, size) == pytest.approx(2 * bundle.var(axis=0), rel=0.01, abs=0.001)
