"""The posterior mean of sums: against weighted draws from the prior, and what it does to noise."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace, norm

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation import tree_posterior
from sparsedp.estimation._tree_messages import BETA_EXPONENTS, LAWS, NONE, GroupTree, pass_up
from sparsedp.estimation.tree_posterior import Measured, posterior_sums

STARTS = np.array([0, 3, 4, 8, 12])
N = 20
BLOCKS = np.array([0, 4])


def layer_of(starts: Ints, n: int, sums: Sequence[float] | Floats, variance: float, gaussian: bool) -> Measured:
    given = np.asarray(sums, np.float64)
    return Measured(starts, np.append(starts[1:], n), given, np.full(len(given), variance), gaussian)


def drawn(tree: GroupTree, most: float, draws: int) -> tuple[Floats, Ints]:
    """From the prior, with all laws alike likely: the sums of all nodes, and the law by which each whole divides."""
    random = np.random.default_rng(7)
    sums, laws = np.empty((len(tree.first), draws)), np.zeros((len(tree.first), draws), np.int64)
    sums[0] = random.uniform(0, most, draws)
    exponents = np.array([1.0, *BETA_EXPONENTS])
    for node in range(len(tree.first)):
        if tree.left[node] == NONE:
            continue
        laws[node] = random.integers(0, LAWS, draws)
        even = random.beta(exponents[laws[node]], exponents[laws[node]])
        even[laws[node] == 0] = 0.5
        odds = even * tree.width_of_left[node]
        share = odds / (odds + (1 - even) * (1 - tree.width_of_left[node]))
        sums[tree.left[node]] = share * sums[node]
        sums[tree.right[node]] = (1 - share) * sums[node]
    return sums, laws


def weights_of(tree: GroupTree, layers: Sequence[Measured], sums: Floats) -> Floats:
    """The likelihood of what was measured, and of the best linear estimate of the total once more."""
    log = np.zeros(sums.shape[1])
    nodes = [tree.nodes_of(layer.starts, layer.ends) for layer in layers]
    for layer, of_layer in zip(layers, nodes, strict=True):
        for node, value, variance in zip(of_layer, layer.sums, layer.variances, strict=True):
            scale = np.sqrt(variance) if layer.gaussian else np.sqrt(variance / 2)
            log += (norm if layer.gaussian else laplace).logpdf(sums[node], value, scale)
    total, variance, _ = (found[0] for found in tree_posterior._fused(tree, layers, nodes))
    log += norm.logpdf(sums[0], total, np.sqrt(variance))
    return np.asarray(np.exp(log - log.max()))


CASES = {
    "Laplace": ([[30, 2, -4, 11, 25], [38, 30], [80]], False),
    "Gaussian": ([[30, 2, -4, 11, 25], [38, 30], [80]], True),
    "nothing": ([[-6, 3, 2, -9, 4], [5, -8], [-11]], False),
    "one pile": ([[2, 90, -3, 4, 6], [85, 9], [100]], False),
}


@pytest.mark.parametrize("case", CASES)
def test_means_are_those_of_weighted_draws_from_the_prior(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all laws alike likely, without learning."""
    sums, gaussian = CASES[case]
    monkeypatch.setattr(tree_posterior, "LEARNING_ROUNDS", 1)
    tree = GroupTree.over(STARTS, N, [BLOCKS, np.zeros(1, np.int64)], halves=False)
    places = (STARTS, BLOCKS, np.zeros(1, np.int64))
    layers = [
        layer_of(starts, N, values, variance, gaussian)
        for starts, values, variance in zip(places, sums, (200.0, 300.0, 400.0), strict=True)
    ]
    found = posterior_sums(tree, layers)
    samples, _ = drawn(tree, 300.0, 1_000_000)
    weights = weights_of(tree, layers, samples)
    exact = samples @ weights / weights.sum()
    scatter = np.sqrt((samples - exact[:, None]) ** 2 @ weights**2) / weights.sum()
    assert scatter.max() < 0.4, "enough draws"
    assert (np.abs(found.means - exact) < 4 * scatter + 0.15).all()
    spread = (samples - exact[:, None]) ** 2 @ weights / weights.sum()
    np.testing.assert_allclose(found.variances, spread, rtol=0.1, atol=2.0)


def test_what_least_squares_would_leave_is_that_of_a_dense_covariance() -> None:
    tree = GroupTree.over(STARTS, N, [BLOCKS, np.zeros(1, np.int64)], halves=False)
    sums, gaussian = CASES["Laplace"]
    places, variances = (STARTS, BLOCKS, np.zeros(1, np.int64)), (200.0, 30.0, 40.0)
    layers = [
        layer_of(starts, N, values, variance, gaussian)
        for starts, values, variance in zip(places, sums, variances, strict=True)
    ]
    rows = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    precision = np.eye(5) / 200 + sum(
        np.outer(row, row) / variance for row, variance in zip(rows[1:], (30.0, 30.0, 40.0), strict=True)
    )
    covariance = np.linalg.inv(precision)
    nodes = tree.nodes_of(np.array([0, 0, 4, 0]), np.array([3, 4, N, N]))
    expected = np.einsum("ri,ij,rj->r", rows, covariance, rows)
    np.testing.assert_allclose(posterior_sums(tree, layers).linear_variances[nodes], expected)


def test_what_laws_explain_is_learnt_as_weighted_draws_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """After one round."""
    seen: list[Floats] = []

    def noted(*given: Any) -> None:
        seen.append(given[3])
        pass_up(*given)

    monkeypatch.setattr(tree_posterior, "LEARNING_ROUNDS", 2)
    monkeypatch.setattr(tree_posterior, "pass_up", noted)
    tree = GroupTree.over(STARTS, N, [BLOCKS], halves=False)
    layers = [layer_of(STARTS, N, [70, 1, 20, 20, 40], 400.0, False), layer_of(BLOCKS, N, [75, 82], 400.0, False)]
    posterior_sums(tree, layers)
    samples, laws = drawn(tree, 500.0, 1_000_000)
    weights = weights_of(tree, layers, samples)
    wholes = np.flatnonzero(tree.left != NONE)
    explained = sum(np.bincount(laws[node], weights, LAWS) / weights.sum() for node in wholes)
    expected = explained + tree_posterior.IMAGINED / LAWS
    np.testing.assert_allclose(seen[1], expected / expected.sum(), atol=0.01)


def errors_of(counts: Ints, deviation: float, runs: int, gaussian: bool = False) -> tuple[float, float]:
    """Root mean square, of the posterior means of cells and of what was measured."""
    random = np.random.default_rng(5)
    starts = np.arange(len(counts))
    tree = GroupTree.over(starts, len(counts), [], halves=True)
    leaves = tree.nodes_of(starts, starts + 1)
    found, plain = [], []
    for _ in range(runs):
        draw, scale = (random.normal, deviation) if gaussian else (random.laplace, deviation / np.sqrt(2))
        noise = draw(0, scale, len(counts))
        layer = layer_of(starts, len(counts), counts + noise, deviation**2, gaussian)
        found.append(posterior_sums(tree, [layer]).means[leaves] - counts)
        plain.append(np.maximum(layer.sums, 0) - counts)
    return float(np.sqrt(np.mean(np.square(found)))), float(np.sqrt(np.mean(np.square(plain))))


@pytest.mark.parametrize("gaussian", [False, True], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize(
    ("counts", "most"),
    [
        (np.repeat([0, 0, 0, 400], 16), 0.6),
        (np.full(64, 30), 0.5),
        (np.repeat([5, 80, 20, 200], 16), 0.5),
        (np.where(np.arange(64) % 16 == 3, 500, 0), 0.8),
    ],
    ids=["a quarter", "flat", "steps", "piles"],
)
def test_noise_is_removed(counts: Ints, most: float, gaussian: bool) -> None:
    found, plain = errors_of(counts, 20.0, 20, gaussian)
    assert found < most * plain


def test_sums_far_above_the_noise_keep_their_values() -> None:
    counts = np.random.default_rng(1).integers(10_000, 50_000, 40)
    found, plain = errors_of(counts, 20.0, 3)
    assert found == pytest.approx(plain, rel=0.05)


def test_the_total_is_not_biased_by_the_prior() -> None:
    """Of many cells below the noise, which all shrink."""
    random = np.random.default_rng(2)
    starts = np.arange(128)
    tree = GroupTree.over(starts, 128, [], halves=True)
    off = []
    for _ in range(40):
        counts = random.poisson(random.gamma(0.3, 20, 128))
        noisy = layer_of(starts, 128, counts + random.laplace(0, 10, 128), 200.0, False)
        off.append(posterior_sums(tree, [noisy]).means[0] - counts.sum())
    noise = np.sqrt(128 * 200.0)
    assert abs(np.mean(off)) < 0.6 * noise
    assert np.std(off) < 1.1 * noise


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6, 1e15])
def test_every_scale_of_noise_has_an_answer(scale: float) -> None:
    sums = np.array([3.0, -5.0, 1e6, 2.0, 0.0])
    tree = GroupTree.over(STARTS, N, [BLOCKS], halves=True)
    layers = [layer_of(STARTS, N, sums, scale**2, False), layer_of(BLOCKS, N, [-2.0, 1e6], scale**2, True)]
    found = posterior_sums(tree, layers).means
    assert np.isfinite(found).all()
    assert found.min() >= 0.0
    if scale <= 1.0:
        assert found[0] == pytest.approx(1e6, abs=10)


@pytest.mark.parametrize("gaussian", [False, True])
def test_values_that_contradict_one_another_have_an_answer(gaussian: bool) -> None:
    """As no noise would have it: a hostile file. Nothing is taken to be known for certain."""
    tree = GroupTree.over(STARTS, N, [BLOCKS], halves=True)
    contradictions: list[tuple[list[float], list[float]]] = [
        ([1e9, -1e9, 5, -1e12, 7], [-1e15, 1e15]),
        ([-4e18] * 5, [4e18, -4e18]),
        ([30, 20, 0, 0, 0], [1000, 5]),
    ]
    for sums, blocks in contradictions:
        layers = [layer_of(STARTS, N, sums, 4.0, gaussian), layer_of(BLOCKS, N, blocks, 4.0, gaussian)]
        found = posterior_sums(tree, layers)
        assert np.isfinite(found.means).all()
        assert found.means.min() >= 0.0
        assert found.variances.min() > 0.0


@pytest.mark.parametrize("huge", [1e4, 1e9, 1e12])
def test_a_huge_group_leaves_the_errors_of_others_as_they_are(huge: float) -> None:
    counts = np.where(np.arange(64) == 20, huge, 30.0 + 20.0 * (np.arange(64) % 3))
    noise = np.random.default_rng(6).laplace(0, 1, 64)
    starts = np.arange(64)
    tree = GroupTree.over(starts, 64, [], halves=True)
    found = posterior_sums(tree, [layer_of(starts, 64, counts + noise, 2.0, False)])
    off = found.means[tree.nodes_of(starts, starts + 1)] - counts
    assert np.sqrt(np.mean(off[starts != 20] ** 2)) < 1.3 * np.sqrt(2.0)


def test_one_group_is_cut_at_zero_smoothly() -> None:
    tree = GroupTree.over(np.zeros(1, np.int64), 9, [], halves=False)
    found = [
        posterior_sums(tree, [layer_of(np.zeros(1, np.int64), 9, [value], 100.0, False)]).means[0]
        for value in (-30.0, 0.0, 30.0, 300.0)
    ]
    assert 0.0 < found[0] < found[1] < found[2] < found[3] == pytest.approx(300.0, abs=0.5)
