"""How the budget is divided: shares add up, no phase gets next to nothing, and bundles of groups are worth it."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from sparsedp.mechanisms.adaptive_shares import (
    FEW_GROUPS,
    LADDER_STEP,
    LEAST_CELLS,
    ROWS,
    TABLES,
    Shares,
    group_layers,
    regular_layers,
    shares_for,
)
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.validate import MAX_CELLS

SIZES = [1, 2, 3, 15, 16, 63, 64, 65, 255, 256, 257, 1000, 4096, 65536, 10**6]
KINDS = {**{f"row, {name}": shares for name, shares in ROWS.items()}, **{f"table, {n}": s for n, s in TABLES.items()}}
EVERY_SHARES = pytest.mark.parametrize("shares", KINDS.values(), ids=KINDS.keys())


@EVERY_SHARES
@pytest.mark.parametrize("n", [*SIZES, MAX_CELLS])
def test_regular_layers_share_all_there_is(shares: Shares, n: int) -> None:
    layers = regular_layers(n, shares)
    assert sum(share for _, share in layers) == 1
    assert all(isinstance(share, Fraction) and share > 0 for _, share in layers)
    sizes = [size for size, _ in layers]
    assert sizes[0] == 1
    assert sizes[-1] == (n if n >= LADDER_STEP else 1)
    assert all(finer < coarser for finer, coarser in pairwise(sizes))
    if n <= 10**6:
        assert GroupSums(n, sizes).rows == sum(-(-n // size) for size in sizes)


def smallest(shares: Shares) -> Fraction:
    """The least share that any phase can have, over all numbers of cells and groups."""
    calm = shares.calm
    look = calm.look if calm else Fraction(0)
    looks = shares.probe + look + shares.tree
    regular = min(share for n in [*SIZES, MAX_CELLS] for _, share in regular_layers(n, shares))
    regular *= 1 - shares.probe - look
    alone = [group_layers(groups)[1] for groups in [1, 24, 25, 60, 200, 10**4, 10**7]]
    bundles = min(min(each, 1 - each) for each in alone if each < 1)
    groups = (1 - looks) * (1 - shares.group_cells) * bundles
    cells = (1 - looks) * shares.group_cells
    found = [shares.probe, shares.tree / 3, regular, groups, cells, look]
    if calm:
        found += [calm.tree / 3, (1 - shares.probe - look - calm.tree) * bundles]
    return min(share for share in found if share > 0)


@EVERY_SHARES
def test_no_phase_has_less_than_what_is_checked_before_the_debit(shares: Shares) -> None:
    """The tree's noise is three times as wide as its share says, hence the third."""
    assert smallest(shares) >= Fraction(1, 1000)


@EVERY_SHARES
def test_looks_leave_most_of_the_budget(shares: Shares) -> None:
    assert 0 <= shares.probe + shares.tree < Fraction(1, 2)
    assert shares.looks == (shares.probe > 0) == (shares.tree > 0)
    if shares.calm is not None:
        assert 0 < shares.probe + shares.calm.look + max(shares.calm.tree, shares.tree) < Fraction(1, 2)
        assert shares.rough_from < shares.calm.rough_below
    assert 0 <= shares.group_cells < 1


@pytest.mark.parametrize("workload", ROWS)
def test_tables_are_divided_by_public_facts(workload: str) -> None:
    assert shares_for(workload, (1000,), (True,)) == ROWS[workload]
    assert shares_for(workload, (1, 1000, 1), (False, True, True)) == ROWS[workload]
    assert shares_for(workload, (40, 40), (True, True)) == TABLES[workload]
    assert shares_for(workload, (1000,), (False,)) == ROWS["cells"]
    for shape, ordered in (((LEAST_CELLS - 1,), (True,)), ((15, 17), (True, True)), ((3, 200), (False, True))):
        shares = shares_for(workload, shape, ordered)
        assert not shares.looks
        assert shares.tree == 0
        assert shares.calm is None


def mean_variance(groups: int, together: int, alone: float) -> float:
    """Of the sum over a range of groups, over all ranges, by dense least squares: Laplace noise of scale 1/share."""
    matrix, weights = [np.eye(groups)], [np.full(groups, alone**2)]
    if together:
        matrix.append((np.arange(groups) // together == np.arange(-(-groups // together))[:, None]).astype(np.float64))
        weights.append(np.full(len(matrix[-1]), (1 - alone) ** 2))
    stacked = np.concatenate(matrix)
    covariance = np.linalg.inv((stacked.T * np.concatenate(weights)) @ stacked)
    sums = np.zeros((groups + 1, groups + 1))
    sums[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
    ends, starts = np.triu_indices(groups + 1, 1)[::-1]
    return float((sums[ends, ends] - 2 * sums[ends, starts] + sums[starts, starts]).mean())


@pytest.mark.parametrize("groups", [30, 40, 96, 250])
def test_bundles_are_near_the_best_for_ranges(groups: int) -> None:
    together, alone = group_layers(groups)
    found = mean_variance(groups, together, float(alone))
    candidates = product((4, 6, 8, 12, 16, 24, 32), range(3, 8))
    best = min(mean_variance(groups, size, tenths / 10) for size, tenths in candidates if size < groups)
    assert found <= 1.1 * best
    assert found <= mean_variance(groups, 0, 1.0)
    assert (together > 0) == (groups > 90)


def test_few_groups_are_measured_one_by_one() -> None:
    for groups in range(1, FEW_GROUPS + 1):
        assert group_layers(groups) == (0, Fraction(1))
