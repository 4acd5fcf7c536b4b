"""What is given to the cascade: every layer with its own law, cells of busy blocks summed, no more than it takes."""

from fractions import Fraction

import numpy as np
import pytest

from sparsedp.estimation import tree_posterior
from sparsedp.estimation._tree_messages import GroupTree
from sparsedp.estimation.estimator import fit_layers
from sparsedp.estimation.tree_posterior import Measured, posterior_of_groups, posterior_sums
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, LayersLaw
from sparsedp.sensing.group_sums import GroupSums

LAPLACE, GAUSSIAN = DiscreteLaplaceLaw(Fraction(7)), DiscreteGaussianLaw(Fraction(90))
FIRST = np.zeros(1, np.int64)


def given(starts: object, n: int, sums: object, variance: float, gaussian: bool) -> Measured:
    begin, values = np.asarray(starts), np.asarray(sums, np.float64)
    return Measured(begin, np.append(begin[1:], n), values, np.full(len(values), variance), gaussian)


@pytest.mark.parametrize("swapped", [False, True])
def test_groups_of_a_look_have_their_layers_laws_and_a_balanced_tree(swapped: bool) -> None:
    groups, bundles, n = [0, 1, 2, 4, 8, 16, 32], [0, 8], 64
    laws = (GAUSSIAN, LAPLACE) if swapped else (LAPLACE, GAUSSIAN)
    values = np.array([30, 5, -9, 20, 11, 2, 60, 55, 70])
    found = posterior_of_groups(GroupSums(n, [groups, bundles]), values, LayersLaw(laws))
    assert found is not None
    tree = GroupTree.over(np.array(groups), n, [np.array(bundles)], halves=False)
    layers = [
        given(groups, n, values[:7], laws[0].variance, swapped),
        given(bundles, n, values[7:], laws[1].variance, not swapped),
    ]
    expected = posterior_sums(tree, layers)
    np.testing.assert_array_equal(found.posterior.means, expected.means)
    np.testing.assert_array_equal(found.posterior.variances, expected.variances)


def test_cells_of_a_busy_block_are_one_gaussian_sum_in_a_tree_of_halves() -> None:
    parts, n = [0, 8, *range(16, 32), 32], 48
    sensing = GroupSums(n, [parts, 16, n])
    values = np.random.default_rng(1).integers(-10, 60, sensing.rows)
    sums = values.astype(np.float64)
    found = posterior_of_groups(sensing, values, LayersLaw((LAPLACE,) * 3))
    assert found is not None
    leaves, blocks = np.array([0, 8, 16, 32]), np.array([0, 16, 32])
    tree = GroupTree.over(leaves, n, [blocks, FIRST], halves=True)
    of_parts = LAPLACE.variance
    layers = [
        Measured(np.array([0, 8, 32]), np.array([8, 16, 48]), sums[[0, 1, 18]], np.full(3, of_parts), gaussian=False),
        Measured(
            np.array([16]),
            np.array([32]),
            sums[2:18].sum(keepdims=True),
            np.array([16 * of_parts]),
            gaussian=True,
        ),
        given(blocks, n, values[19:22], of_parts, False),
        given(FIRST, n, values[22:], of_parts, False),
    ]
    np.testing.assert_allclose(found.posterior.means, posterior_sums(tree, layers).means)


def test_too_many_groups_are_left_to_what_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    sensing, law = GroupSums(64, [[0, 1, 2, 4, 8, 16, 32]]), LayersLaw((LAPLACE,))
    values = np.array([30, 5, -9, 20, 11, 2, 60])
    assert fit_layers(sensing, values, law).joint is not None
    assert fit_layers(sensing, values, law, nonnegative=False).joint is None
    assert fit_layers(sensing, values, law, shrinks=False).joint is None
    monkeypatch.setattr(tree_posterior, "MOST_GROUPS", 6)
    fit = fit_layers(sensing, values, law)
    assert fit.joint is None
    assert fit.estimate.sum() == pytest.approx(values.sum())


def test_noise_without_bound_is_left_to_what_is_linear() -> None:
    law = LayersLaw((DiscreteLaplaceLaw(Fraction(10**200)),))
    assert posterior_of_groups(GroupSums(8, [[0, 4]]), np.array([5, 7]), law) is None
