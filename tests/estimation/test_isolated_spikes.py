"""Cells that stand out alone: they are found whole, and whatever is not alone is left to the frame."""

from fractions import Fraction

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage import isolated_spikes as subject
from sparsedp.estimation.shrinkage.frame import shrink
from sparsedp.estimation.shrinkage.isolated_spikes import beside_isolated_spikes
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SeededSource

LAW = DiscreteLaplaceLaw(Fraction(10))


def row(cells: Floats) -> Floats:
    """A row, by the frame alone."""
    return shrink(cells, LAW)


def table(cells: Floats) -> Floats:
    """A table, by the frame alone."""
    return shrink(cells, LAW)


def noisy(truth: Floats, seed: int) -> Floats:
    """With Laplace noise of the law's scale."""
    return np.asarray(np.round(truth + np.random.default_rng(seed).laplace(scale=10.0, size=truth.shape)))


def errors(truth: Floats, smooth: object) -> tuple[float, float]:
    """Of the frame alone, and beside lone cells, over eight draws of the noise."""
    alone = beside = 0.0
    for seed in range(8):
        seen = noisy(truth, seed)
        alone += float(np.linalg.norm(smooth(seen) - truth))  # type: ignore[operator]
        beside += float(np.linalg.norm(beside_isolated_spikes(seen, LAW, smooth) - truth))  # type: ignore[arg-type]
    return alone, beside


def test_lone_cells_of_a_row_are_seen_better_than_by_the_frame() -> None:
    truth = np.full(4096, 5.0)
    truth[np.random.default_rng(1).choice(4096, 40, replace=False)] += 200.0
    alone, beside = errors(truth, row)
    assert beside < 0.85 * alone


def test_so_are_those_of_a_table() -> None:
    truth = np.full((64, 64), 5.0)
    truth.reshape(-1)[np.random.default_rng(1).choice(4096, 30, replace=False)] += 200.0
    alone, beside = errors(truth, table)
    assert beside < 0.85 * alone


@pytest.mark.parametrize("height", [0.0, 40.0, 400.0])
def test_what_is_not_alone_is_left_to_the_frame(height: float) -> None:
    """A plain, and a pile of cells side by side."""
    truth = np.full(4096, 20.0)
    truth[1000:1100] += height
    alone, beside = errors(truth, row)
    assert beside < 1.03 * alone


def test_the_top_of_a_pile_is_left_to_the_frame() -> None:
    """At the end of a row, and in the corner of a table: steep, but not alone."""
    truth = np.zeros(4096)
    truth[:40] = 300.0 / (1.0 + np.arange(40))
    alone, beside = errors(truth, row)
    assert beside < 1.03 * alone
    steep = 1.0 / (1.0 + np.arange(64))
    alone, beside = errors(300.0 * np.outer(steep, steep), table)
    assert beside < 1.03 * alone


def test_where_all_cells_scatter_none_is_alone() -> None:
    truth = np.random.default_rng(2).exponential(300.0, 4096)
    seen = noisy(truth, 1)
    assert (beside_isolated_spikes(seen, LAW, row) == row(seen)).all()


def test_the_total_is_kept() -> None:
    truth = np.zeros(512)
    truth[[50, 300]] = 1000.0
    seen = noisy(truth, 3)
    found = beside_isolated_spikes(seen, LAW, row)
    assert found.sum() == pytest.approx(seen.sum())
    assert found[50] == pytest.approx(seen[50], abs=5.0)


def test_few_cells_have_no_lone_ones() -> None:
    seen = np.zeros(subject.FEWEST_FOR_SPIKES - 1)
    seen[20] = 1e6
    assert (beside_isolated_spikes(seen, LAW, row) == row(seen)).all()


@pytest.mark.parametrize("shape", [(70,), (9, 11), (4, 5, 6)], ids=str)
def test_middles_are_medians_of_the_cells_around(shape: tuple[int, ...]) -> None:
    """By a loop over cells; beyond an end, those as far inside."""
    cells = np.random.default_rng(4).normal(size=shape)
    around, *_ = subject._neighbourhoods(len(shape))
    found = subject._middles(cells, around)
    for place in np.ndindex(shape):
        values = []
        for step in around:
            there = []
            for at, by, side in zip(place, step, shape, strict=True):
                to = at + by
                there.append(-to if to < 0 else 2 * side - 2 - to if to >= side else to)
            values.append(cells[tuple(there)])
        assert found[place] == pytest.approx(float(np.median(values)))


def test_a_cell_beside_another_is_not_alone() -> None:
    _, near, _ = subject._neighbourhoods(1)
    seen = np.zeros(12, bool)
    seen[[0, 6]] = True
    beside = subject._beside(seen, near)
    assert np.flatnonzero(beside).tolist() == [1, 2, 4, 5, 7, 8]


def test_cells_around_a_place_are_never_the_place_itself() -> None:
    """Not even where an axis is so short that a step leaves it twice."""
    for shape in ((2, 2, 30), (3, 4, 6), (2, 40)):
        cells = np.arange(float(np.prod(shape))).reshape(shape)
        places = np.argwhere(cells >= 0)
        for steps in subject._neighbourhoods(len(shape)):
            assert (subject._around(cells, places, steps) != cells.reshape(-1, 1)).all()


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)])
def test_noise_of_one_is_no_lone_cell(scale: Fraction) -> None:
    law = DiscreteLaplaceLaw(scale)
    seen = 100.0 + discrete_laplace(scale, 4096, SeededSource(1)).astype(np.float64)
    assert (seen != 100.0).any()

    def smooth(cells: Floats) -> Floats:
        return shrink(cells, law)

    assert (beside_isolated_spikes(seen, law, smooth) == smooth(seen)).all()


def test_many_seen_cells_are_not_lone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every seventh cell is high: alone by itself, but not rare."""
    truth = np.zeros(4096)
    truth[::7] = 400.0
    seen = noisy(truth, 1)
    assert subject._lone_cells(seen, LAW) is None
    monkeypatch.setattr(subject, "MOST_SHARE", 0.5)
    assert subject._lone_cells(seen, LAW) is not None
