"""Tables measured in turns: each turn is told what the last one measured, and nothing else; the cost is one layer's."""

from fractions import Fraction
from math import prod, sqrt

import numpy as np
import numpy.typing as npt
import pytest

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.laws import LayersLaw
from sparsedp.mechanisms import adaptive
from sparsedp.mechanisms._adaptive_grid import dense_from, part_sizes
from sparsedp.mechanisms._adaptive_shares import layers_of_blocks, shares_for
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums

BLOCK = 64
DENSITIES = (1.5, 0.9, 4.0, 0.4, 0.2, 0.1, 0.05, 0.0)
"""Of blocks, one after the other, as multiples of what makes one dense."""


def of_all_densities(shape: tuple[int, ...], deviation: float) -> Ints:
    """A table whose blocks have as many records, each of them in its first cell."""
    cells = prod(shape)
    row = np.zeros(cells, np.int64)
    firsts = np.arange(0, cells, BLOCK)
    row[firsts] = dense_from(BLOCK, deviation) * np.resize(DENSITIES, len(firsts))
    return GroupSums(cells, [1], shape).out_of_row(row.astype(np.float64)).astype(np.int64).reshape(shape)


@pytest.mark.parametrize("workload", ["any", "ranges"])
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="1/10"), sdp.Budget(rho="1/100")], ids=str)
@pytest.mark.parametrize("shape", [(64, 64), (63, 67), (5, 829)], ids=str)
def test_cells_of_thinner_blocks_are_measured_in_turns(
    shape: tuple[int, ...], workload: str, budget: sdp.Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each turn is told what the last one measured, as it is published, and no cell is measured in two of them. The
    layer costs the same, and its noise has the same law, however many turns there were.
    """
    shares = shares_for(workload, shape, (True, True))
    n = prod(shape)
    width = sqrt(2) / float(shares.cells) if budget.rho is None else 0.5**0.5 / shares.cells**0.5
    counts = of_all_densities(shape, 10 * width)
    for turns in range(6):
        asked: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int, float, float]] = []

        def pays(
            cells: npt.NDArray[np.float64],
            sums: npt.NDArray[np.float64],
            part: int,
            expected: float,
            deviation: float,
            *,
            asked: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int, float, float]] = asked,
            turns: int = turns,
        ) -> bool:
            asked.append((cells, sums, part, expected, deviation))
            return len(asked) <= turns

        monkeypatch.setattr(adaptive, "cells_pay", pays)
        synopsis = Adaptive(workload).measure(counts, epsilon=budget, source=SeededSource(turns))
        assert isinstance(synopsis.sensing, GroupSums)
        assert isinstance(synopsis.law, LayersLaw)
        paid = [Fraction(each.budget.rho or each.budget.epsilon or 0) for each in synopsis.guarantee.expenses]
        whole = Fraction(budget.rho or budget.epsilon or 0)
        layers = layers_of_blocks(n, shares.cells, BLOCK)
        assert paid == [share * whole for _, share in layers]
        deviation, of_sums, _ = (sqrt(layer.variance) for layer in synopsis.law.layers)
        noisy, sums, _ = synopsis.sensing.split(synopsis.values.astype(np.float64))
        starts = synopsis.sensing.starts[0]
        true = np.add.reduceat(synopsis.sensing.in_a_row(counts.reshape(-1)), starts)
        assert np.var(noisy - true) == pytest.approx(deviation**2, rel=0.2)
        first_of = np.searchsorted(starts, np.arange(0, n, BLOCK))
        parts = np.diff(starts, append=n)[first_of]
        dense = dense_from(BLOCK, deviation)
        in_cells = sums >= dense / 2**turns
        assert ((parts == 1) == in_cells).all()
        assert len(asked) == turns + 1
        for turn, (cells, of_last, part, expected, of_noise) in enumerate(asked):
            last = np.flatnonzero((sums >= dense / 2**turn) & (sums < 2 * dense / 2**turn))
            last = last[last < n // BLOCK]
            assert of_noise == deviation
            assert of_last.tolist() == sums[last].tolist()
            assert cells.tolist() == [noisy[first_of[block] : first_of[block] + BLOCK].tolist() for block in last]
            thinner = (sums < dense / 2**turn) & (sums >= dense / 2 ** (turn + 1))
            assert expected == sums[thinner].mean()
            assert part == part_sizes(sums, BLOCK, deviation, of_sums)[thinner].min()
