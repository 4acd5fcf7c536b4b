"""The hierarchical log-linear fit: what it must reproduce, a plain oracle of its errors, and coverage."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.errors.log_linear import INFLATION, LogLinearErrors
from sparsedp.estimation.log_linear import MOST_PARAMETERS, LogLinear, fit_log_linear, structure
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, LayersLaw
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.marginals import ALL, CELLS, MOST_COARSENINGS, Layer, Marginals, in_order_of_first_cells, joined


def chain(shape: tuple[int, ...], total: int, seed: int = 1) -> Ints:
    """Each axis depends on the one before it."""
    chance = np.random.default_rng(seed)
    chances = chance.dirichlet(np.ones(shape[0]))
    for before, side in pairwise(shape):
        rows = chance.dirichlet(np.full(side, 0.5), size=before)
        chances = chances[..., None] * rows.reshape((1,) * (chances.ndim - 1) + rows.shape)
    return chance.multinomial(total, chances.reshape(-1)).reshape(shape)


def layers_of(shape: tuple[int, ...], *orders: int) -> Marginals:
    axes = range(len(shape))
    layers = [tuple(CELLS if axis in each else ALL for axis in axes) for k in orders for each in combinations(axes, k)]
    return Marginals(shape, layers, [True] * len(shape))


def measured(sensing: Marginals, counts: Ints, law: IndependentLaw, seed: int = 5) -> tuple[Ints, LayersLaw]:
    chance, exact = np.random.default_rng(seed), sensing.apply(counts.reshape(-1))
    noise = chance.normal(0, law.variance**0.5, len(exact))
    if isinstance(law, DiscreteLaplaceLaw):
        noise = chance.laplace(0, float(law.scale), len(exact))
    return exact + np.rint(noise).astype(np.int64), LayersLaw((law,) * len(sensing.layers))


def marginal(table: Floats | Ints, axes: tuple[int, ...]) -> Floats:
    return np.asarray(table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes)), np.float64)


LAPLACE, GAUSSIAN = DiscreteLaplaceLaw(Fraction(20)), DiscreteGaussianLaw(Fraction(400))


@pytest.mark.parametrize("law", [DiscreteLaplaceLaw(Fraction(1, 10)), DiscreteGaussianLaw(Fraction(1, 100))], ids=str)
def test_without_noise_the_measured_marginals_come_out(law: IndependentLaw) -> None:
    counts, sensing = chain((4, 3, 5), 3000), layers_of((4, 3, 5), 0, 1, 2)
    model = fit_log_linear(sensing, *measured(sensing, counts, law))
    for axes in combinations(range(3), 2):
        assert np.abs(marginal(model.cells, axes) - marginal(counts, axes)).sum() < 0.01 * counts.sum()


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=str)
def test_marginals_are_nearer_than_they_were_measured(law: IndependentLaw) -> None:
    """A chain's pairs that are not neighbours hardly depend on each other: what they seem to say more is noise."""
    counts, sensing = chain((6, 5, 4, 3), 5000), layers_of((6, 5, 4, 3), 1, 2)
    errors, noise = [], []
    for seed in range(6):
        values, laws = measured(sensing, counts, law, seed)
        model = fit_log_linear(sensing, values, laws)
        noise.append(np.abs(values - sensing.apply(counts.reshape(-1))).sum())
        errors.append(np.abs(sensing.forward(model.cells.reshape(-1)) - sensing.apply(counts.reshape(-1))).sum())
    assert np.mean(errors) < 0.75 * np.mean(noise)


def test_interactions_that_there_are_none_of_are_shrunk_away() -> None:
    chance = np.random.default_rng(2)
    shape = (6, 5, 4)
    independent = np.einsum("i,j,k->ijk", *(chance.dirichlet(np.ones(side)) for side in shape))
    counts = np.rint(20_000 * independent).astype(np.int64)
    sensing = layers_of(shape, 1, 2)
    model = fit_log_linear(sensing, *measured(sensing, counts, GAUSSIAN))
    pairs = [prior for layer, prior in zip(model.lattice.layers, model.priors, strict=True) if layer.count(CELLS) == 2]
    assert max(pairs) < 0.01
    depends = chain(shape, 20_000)
    model = fit_log_linear(sensing, *measured(sensing, depends, GAUSSIAN))
    first = model.lattice.layers.index((CELLS, CELLS, ALL))
    assert model.priors[first] > 0.1


def test_no_cell_is_negative_and_the_total_is_what_all_layers_say() -> None:
    counts, sensing = chain((5, 4, 3), 200), layers_of((5, 4, 3), 0, 1, 2, 3)
    values, law = measured(sensing, counts, LAPLACE)
    cells = fit_log_linear(sensing, values, law).cells
    assert cells.min() >= 0
    sums = [part.sum() for part in sensing.split(values)]
    weights = [1 / prod(shape) for shape in sensing.shapes]
    assert cells.sum() == pytest.approx(np.average(sums, weights=weights))


@pytest.mark.parametrize("values", [-(10**15), 10**15])
def test_impossible_sums_give_finite_cells(values: int) -> None:
    sensing = layers_of((4, 3, 2), 1, 2, 3)
    cells = fit_log_linear(sensing, np.full(sensing.rows, values), LayersLaw((LAPLACE,) * len(sensing.layers))).cells
    assert np.isfinite(cells).all()
    assert cells.min() >= 0


@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="1e6"), sdp.Budget(epsilon="1e100"), sdp.Budget(rho="1e50")])
def test_nothing_beside_no_noise_is_found_without_a_warning(budget: sdp.Budget) -> None:
    """Steps that go too far are shortened. Where warnings are errors, one would lose what was paid for."""
    release = sdp.Adaptive("marginals").release(np.zeros((4, 3, 5)), epsilon=budget)
    assert release.values.max() < 1e-6


def test_a_file_cannot_ask_for_many_times_the_memory_of_its_table() -> None:
    """Groups that nobody measured have parameters too; their number was only bounded by the layer."""
    chance, shape = np.random.default_rng(3), (20_000, 14)
    groups = [in_order_of_first_cells(chance.integers(0, 13, 14)) for _ in range(MOST_COARSENINGS)]
    beside = [(ALL, one) for one in groups]  # were these not measured, they would come first
    sensing = Marginals(shape, [(CELLS, CELLS), *beside], [True, False], [[], groups])
    found = structure(sensing)
    assert (CELLS, ALL) in found
    assert sum(prod(sensing.shape_of(layer)) for layer in found) <= MOST_PARAMETERS * sensing.n + 1
    small = Marginals((28, 2), [(CELLS, CELLS)], [True, False], [[[day % 7 for day in range(28)]], []])
    assert len(structure(small)) == 5, "all of them: the total, both axes, weekdays, and these beside the other axis"


def dense_covariance(model: LogLinear) -> Floats:
    """The posterior covariance of the cells, by its definition: prior of the model and scatter, given the sums."""
    cells = model.cells.reshape(-1)
    sensing = Marginals(model.shape, model.lattice.layers, [True] * len(model.shape))
    matrix = sensing.materialize().astype(np.float64)
    priors = np.minimum(1.0 / np.concatenate([one.reshape(-1) + 1e-9 for one in model.curvatures]), 1e3)
    prior = cells[:, None] * (matrix.T * priors @ matrix) * cells[None, :] + np.diag(cells)
    noise = np.repeat([np.inf if one is None else one for one in model.noise], [one.size for one in model.parameters])
    known = np.isfinite(noise)
    matrix = matrix[known]
    gain = prior @ matrix.T @ np.linalg.inv(matrix @ prior @ matrix.T + np.diag(noise[known]))
    return np.asarray(prior - gain @ matrix @ prior)


def test_errors_are_those_of_the_dense_posterior() -> None:
    counts, sensing = chain((5, 4, 3), 2000), layers_of((5, 4, 3), 1, 2)
    model = fit_log_linear(sensing, *measured(sensing, counts, GAUSSIAN))
    model = replace(model, cells=model.cells + 100.0)  # all far from zero, where estimates have no bias
    errors, covariance = LogLinearErrors(model), INFLATION * dense_covariance(model.learned())
    chance = np.random.default_rng(3)
    for _ in range(10):
        weights = (chance.random(model.shape) < 0.4).astype(np.float64)
        exact = float(weights.reshape(-1) @ covariance @ weights.reshape(-1))
        assert errors.variance(weights) == pytest.approx(exact, rel=0.08)
    rough = errors.of_layer((CELLS, CELLS, ALL)).reshape(-1)
    matrix = layers_of((5, 4, 3), 2).materialize()[:20]
    exact_sums = np.einsum("ij,jk,ik->i", matrix, covariance, matrix)
    assert 0.5 < np.exp(np.mean(np.log(rough / exact_sums))) < 2.0


@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="0.5"), sdp.Budget(rho="0.1")], ids=str)
def test_intervals_hold(budget: sdp.Budget) -> None:
    """Of every entry of one- and two-way marginals, and of boxes, over several releases."""
    counts = chain((6, 5, 4, 3), 8000)
    domain = sdp.Domain.parse(
        [f"{name}:{','.join(f'{name}{i}' for i in range(n))}" for name, n in zip("abcd", counts.shape, strict=True)]
    )
    held = []
    chance = np.random.default_rng(8)
    for seed in range(4):
        release = sdp.Adaptive().measure(counts, domain=domain, source=SeededSource(seed), epsilon=budget).recover()
        for axes in [*combinations("abcd", 1), *combinations("abcd", 2)]:
            sums = release.marginal(*axes)
            places = tuple("abcd".index(axis) for axis in axes)
            assert sums.stderr is not None
            held.append((np.abs(sums.values - marginal(counts, places)) <= 1.96 * sums.stderr).mean())
        for _ in range(5):
            weights = (chance.random(counts.shape) < 0.3).astype(np.float64)
            found = release.interval(weights, kind="expected")
            held.append(float(found.low <= (weights * counts).sum() <= found.high))
    assert 0.88 <= np.mean(held) <= 0.995


def test_only_the_coarsest_groups_of_an_axis_may_be_anything() -> None:
    """Weeks that were measured in much noise are shrunk to what months say; months and weekdays are as measured."""
    days = np.arange(84)
    weeks, months, weekdays = (tuple((days // 7).tolist()), tuple((days // 28).tolist()), tuple((days % 7).tolist()))
    layers: list[Layer] = [(weeks, ALL), (months, ALL), (weekdays, ALL), (ALL, CELLS), (months, CELLS), (ALL, ALL)]
    sensing = Marginals((84, 3), layers, (True, False))
    counts, chance = np.full((84, 3), 40), np.random.default_rng(3)
    exact = sensing.apply(counts.reshape(-1))
    law = LayersLaw(tuple(DiscreteLaplaceLaw(Fraction(scale)) for scale in (300, 20, 20, 20, 20, 20)))
    parts = zip(sensing.split(exact), law.layers, strict=True)
    noisy = joined(
        [part + np.rint(chance.laplace(scale=(one.variance / 2.0) ** 0.5, size=part.shape)) for part, one in parts]
    )
    model = fit_log_linear(sensing, noisy.astype(np.int64), law)
    assert dict(zip(model.lattice.layers, model.free, strict=True)) == {
        layer: layer in layers[1:4] for layer in model.lattice.layers
    }
    assert np.abs(model.cells - counts).max() < 10
