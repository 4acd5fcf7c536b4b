"""Values and deviations of cells, which of them explains a cell better, and what that moves it by."""

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage import value_prior
from sparsedp.estimation.shrinkage._chunks import Chunks
from sparsedp.estimation.shrinkage.mixture_prior import GAUSSIAN_FROM
from sparsedp.estimation.shrinkage.value_prior import (
    FADES,
    HIGHEST,
    KINDS,
    WEIGHT_OF_VALUE,
    Neighbourhoods,
    ValuePrior,
    bin_of,
    counted,
    density,
    deviation_tables,
    moves,
    neighbourhoods_of,
    shares_of,
    spreads_of,
)

CHUNKS = Chunks(None)
REACHES = (1, 4)
LAPLACE = 1.0


def rough_cells() -> Neighbourhoods:
    """A third of them is six deviations high, and some are nearly too high for values."""
    random = np.random.default_rng(0)
    heights = np.where(random.random((1, 900)) < 0.67, 0.0, 6.0) + random.laplace(0, 0.7, (1, 900))
    heights[0, ::90] = np.linspace(20.0, 30.0, 10)
    return neighbourhoods_of(heights, REACHES, CHUNKS)


@pytest.mark.parametrize("shape", [LAPLACE, GAUSSIAN_FROM])
def test_deviations_have_densities_of_heights(shape: float) -> None:
    """All of them together are one: where neighbourhood have noise too, heights are as dense as they are."""
    cells = rough_cells()
    spreads = spreads_of(REACHES, 1)
    tables = deviation_tables(counted(cells, np.arange(900), CHUNKS)[1], shape, spreads)
    heights = np.arange(-60.0, 60.0, 0.01)
    for row, table in enumerate(tables):
        dense = [density(table, height / spreads[row // KINDS]) for height in heights]
        assert 0.01 * sum(dense) == pytest.approx(1.0, abs=0.03)


def test_shares_tell_how_often_each_is_right() -> None:
    random = np.random.default_rng(1)
    heights = np.where(random.random(4000) < 0.3, random.normal(0, 1, 4000), random.normal(5, 2, 4000))
    dense = np.stack([np.exp(-(heights**2) / 2), np.exp(-(((heights - 5) / 2) ** 2) / 2) / 2, np.full(4000, 1e-9)])
    np.testing.assert_allclose(shares_of(np.ascontiguousarray(dense.T)), [0.3, 0.7, 0.0], atol=0.03)


def test_cells_move_as_bayes_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the same mixture written with arrays."""
    cells = rough_cells()
    may_move = cells.heights < HIGHEST
    may_move[7] = False
    priors: list[ValuePrior] = []
    learn, shares, found = ValuePrior.learn, shares_of, {}

    def learnt(counts: Floats, *, gaussian: bool, surely: int) -> ValuePrior:
        assert surely == 0
        priors.append(learn(counts, gaussian=gaussian))
        return priors[0]

    def shared(densities: Floats) -> Floats:
        found["shares"] = shares(densities)
        return found["shares"]

    monkeypatch.setattr(ValuePrior, "learn", learnt)
    monkeypatch.setattr(value_prior, "shares_of", shared)
    shrunk = 0.5 * cells.heights
    change = moves(cells, spreads_of(REACHES, 1), LAPLACE, may_move, shrunk, CHUNKS)
    tables = deviation_tables(counted(cells, np.flatnonzero(may_move), CHUNKS)[1], LAPLACE, spreads_of(REACHES, 1))
    for cell in np.flatnonzero(may_move):
        rows = [0, *(1 + KINDS * at + cells.kinds[at, cell] for at in range(2))]
        place = bin_of(cells.heights[cell])
        values = found["shares"][:3] * priors[0].density[rows, place]
        others = [density(tables[row - 1], float(cells.above[at, cell])) for at, row in enumerate(rows[1:])]
        trusted = values * priors[0].trust[rows] * (priors[0].mean[rows, place] - shrunk[cell])
        fading = min((HIGHEST - cells.heights[cell]) / FADES, 1.0)
        expected = WEIGHT_OF_VALUE * fading * trusted.sum() / (values.sum() + found["shares"][3:] @ others)
        assert change[cell] == pytest.approx(expected, abs=1e-9)
    assert np.abs(change).max() > 1.0
    assert (change[~may_move] == 0.0).all()
