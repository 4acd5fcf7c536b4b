from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from sparsedp.errors import InvalidInput
from sparsedp.estimation.estimator import ESTIMATES
from sparsedp.estimation.plan import CELL_RECOVERIES, RecoveryPlan
from sparsedp.laws import ContinualCounterLaw, DiscreteLaplaceLaw, LayersLaw, NoiseLaw, TicksAndTotalsLaw
from sparsedp.sensing.base import Direct, Sensing
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.integer_haar import IntegerHaar
from sparsedp.sensing.running_totals import RunningTotals, TicksAndTotals
from sparsedp.sensing.tree import Tree
from sparsedp.solution import Status

LAW = DiscreteLaplaceLaw(Fraction(1, 100))
COUNTER_LAW = ContinualCounterLaw(Fraction(1, 100), 9)
CASES: dict[str, Callable[[int], Sensing]] = {
    "differences": RunningTotals,
    "direct": Direct,
    "fused": lambda n: TicksAndTotals(n, 4),
    "fused_shrinkage": lambda n: TicksAndTotals(n, 4),
    "inverse_haar": IntegerHaar,
    "fused_layers": lambda n: GroupSums(n, [1, 16, max(n, 16)]),
    "signed_fused_layers": lambda n: GroupSums(n, [1, 16, max(n, 16)]),
    "layers": lambda n: GroupSums(n, [1, 16, max(n, 16)]),
    "layers_keeping_sums": lambda n: GroupSums(n, [1, 16, max(n, 16)]),
    "shrinkage": Direct,
    "signed_layers": lambda n: GroupSums(n, [1, 16, max(n, 16)]),
    "signed_layers_keeping_sums": lambda n: GroupSums(n, [1, 16, max(n, 16)]),
    "tree_consistency": Tree,
}
"""What each recovery is for; one without a case does not pass unnoticed."""


def law_for(sensing: Sensing) -> NoiseLaw:
    """Noise so small that it rounds to nothing."""
    if isinstance(sensing, GroupSums):
        return LayersLaw((LAW, LAW, LAW))
    return TicksAndTotalsLaw(LAW, COUNTER_LAW) if isinstance(sensing, TicksAndTotals) else LAW


LENGTHS = [1, 2, 3, 5, 8, 17, 33, 100, 257]


@pytest.mark.parametrize("branching", [2, 3, 5, 16])
@pytest.mark.parametrize("n", LENGTHS)
def test_tree_equals_least_squares_on_the_materialised_tree(n: int, branching: int) -> None:
    tree = Tree(n, branching)
    values = np.random.default_rng(n).integers(-1000, 1000, tree.rows)
    expected = np.linalg.lstsq(tree.materialize().astype(float), values.astype(float), rcond=None)[0]
    solution = RecoveryPlan("tree_consistency").run(tree, values, LAW)
    assert solution.status is Status.DIRECT
    np.testing.assert_allclose(solution.value, expected, atol=1e-9)


@pytest.mark.parametrize("name", CELL_RECOVERIES)
@pytest.mark.parametrize("n", LENGTHS)
def test_exact_measurements_are_inverted_exactly(n: int, name: str) -> None:
    counts = np.random.default_rng(n).integers(0, 1000, n)
    sensing = CASES[name](n)
    solution = RecoveryPlan(name).run(sensing, sensing.apply(counts), law_for(sensing))
    np.testing.assert_allclose(solution.value, counts, atol=1e-9)


@pytest.mark.parametrize("n", [4, 8, 64])
def test_integer_haar_inverse_is_the_matrix_inverse(n: int) -> None:
    sensing = IntegerHaar(n)
    values = np.random.default_rng(n).integers(-50, 50, n)
    expected = np.linalg.solve(sensing.materialize().astype(float), values.astype(float))
    np.testing.assert_allclose(RecoveryPlan("inverse_haar").run(sensing, values, LAW).value, expected, atol=1e-9)


@pytest.mark.parametrize("name", CELL_RECOVERIES)
def test_the_wrong_sensing_is_refused(name: str) -> None:
    right = (Direct, TicksAndTotals) if name in ESTIMATES else type(CASES[name](4))
    for sensing in (Direct(4), Tree(4), IntegerHaar(4), RunningTotals(4), TicksAndTotals(4, 2)):
        if not isinstance(sensing, right):
            with pytest.raises(InvalidInput, match="it needs"):
                RecoveryPlan(name).run(sensing, np.zeros(sensing.rows, np.int64), law_for(sensing))


@pytest.mark.parametrize("every", [1, 2, 8, 64])
def test_fused_ticks_and_rare_totals_are_least_squares(every: int) -> None:
    """Against the dense normal equations with the counter's covariance, for lengths that blocks do not divide."""
    for n in (5, 64, 130, 200):
        sensing = TicksAndTotals(n, every)
        levels = max((-(-n // every) - 1).bit_length(), 1)
        law = TicksAndTotalsLaw(DiscreteLaplaceLaw(Fraction(3)), ContinualCounterLaw(Fraction(20), levels))
        values = np.random.default_rng(n).integers(-1000, 1000, sensing.rows)
        numbers = np.arange(sensing.totals)
        shared = 1.0 + sum((numbers[:, None] >> level) == (numbers[None, :] >> level) for level in range(levels))
        covariance = np.zeros((sensing.rows, sensing.rows))
        covariance[:n, :n] = np.eye(n) * law.ticks.variance
        covariance[n:, n:] = shared * law.totals.term.variance
        matrix = sensing.materialize().astype(float)
        weighted = np.linalg.solve(covariance, matrix)
        expected = np.linalg.solve(matrix.T @ weighted, weighted.T @ values)
        np.testing.assert_allclose(
            RecoveryPlan("fused").run(sensing, values, law).value, expected, rtol=1e-8, atol=1e-7
        )
