"""The counts around a model: against a plain minimiser, and against generalised least squares."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsedp.arrays import Floats
from sparsedp.estimation.log_linear import LogLinear, fit_log_linear
from sparsedp.estimation.relative_entropy import around, consistent, pooled
from sparsedp.laws import DiscreteGaussianLaw, LayersLaw
from sparsedp.sensing.marginals import ALL, CELLS, Lattice, Layer, Marginals

SHAPE = (4, 3, 2)
PAIRS: list[Layer] = [(CELLS, CELLS, ALL), (CELLS, ALL, CELLS), (ALL, CELLS, CELLS)]


def fitted(layers: list[Layer], variance: int = 25, total: int = 2000) -> LogLinear:
    chance = np.random.default_rng(3)
    counts = chance.multinomial(total, chance.dirichlet(np.full(24, 0.5))).astype(np.int64)
    sensing = Marginals(SHAPE, layers, [True] * 3)
    values = sensing.apply(counts) + np.rint(chance.normal(0, variance**0.5, sensing.rows)).astype(np.int64)
    law = DiscreteGaussianLaw(Fraction(variance))
    return fit_log_linear(sensing, values, LayersLaw((law,) * len(layers)))


def dense_rows(lattice: Lattice, place: int) -> Floats:
    return Marginals(SHAPE, [lattice.layers[place]], [True] * 3).materialize().astype(np.float64)


@pytest.mark.parametrize("layers", [PAIRS[:1], [(CELLS, ALL, ALL)]], ids=["pair", "single"])
def test_it_minimises_relative_entropy_and_misfit(layers: list[Layer]) -> None:
    model = fitted(layers)
    variances, sums = pooled(model.lattice, model.observed, model.noise)
    targets = consistent(model.lattice, sums)
    rows = [(dense_rows(model.lattice, place), place) for place in targets]
    expected = np.maximum(model.cells.reshape(-1), 1e-12)

    def objective(logs: Floats) -> float:
        cells = np.exp(logs)
        misfit = sum(
            float(((targets[p].reshape(-1) - m @ cells) ** 2 / (2 * variances[p].reshape(-1))).sum()) for m, p in rows
        )
        return float((cells * np.log(cells / expected) - cells).sum()) + misfit

    plain = minimize(objective, np.log(expected), method="BFGS", options={"maxiter": 5000, "gtol": 1e-6})
    assert objective(np.log(around(model).reshape(-1))) == pytest.approx(plain.fun, abs=0.05)


def test_consistent_sums_of_marginals_are_generalised_least_squares() -> None:
    model = fitted([*PAIRS, (CELLS, ALL, ALL), (ALL, ALL, ALL)])
    known = [place for place, noise in enumerate(model.noise) if noise is not None]
    matrix = np.concatenate([dense_rows(model.lattice, place) for place in known])
    noise = np.concatenate([np.full(model.observed[place].size, model.noise[place]) for place in known])
    seen = np.concatenate([model.observed[place].reshape(-1) for place in known])
    weighed = matrix / np.sqrt(noise)[:, None]
    cells = np.linalg.lstsq(weighed, seen / np.sqrt(noise), rcond=None)[0]
    found = consistent(model.lattice, pooled(model.lattice, model.observed, model.noise)[1])
    for place in known:
        np.testing.assert_allclose(found[place].reshape(-1), dense_rows(model.lattice, place) @ cells, atol=1e-6)


def test_where_counts_are_large_measured_sums_are_believed() -> None:
    """Their scatter is far above the noise: sums come out as least squares say, whatever the model expects."""
    model = fitted([*PAIRS, (CELLS, CELLS, CELLS)], variance=4, total=10**7)
    found = consistent(model.lattice, pooled(model.lattice, model.observed, model.noise)[1])
    cells = around(model)
    for axes in combinations(range(3), 2):
        place = model.lattice.layers.index(tuple(CELLS if axis in axes else ALL for axis in range(3)))
        off = model.lattice.to(cells, model.lattice.layers[place]) - found[place]
        assert np.abs(off).max() < 3.0


def test_nothing_measured_beyond_the_model_leaves_it() -> None:
    model = fitted(PAIRS, variance=10**12)
    np.testing.assert_allclose(around(model), model.cells, rtol=0.01, atol=1e-6)
