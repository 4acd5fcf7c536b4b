"""Slopes within groups of a table: those of a plain loop; sums are kept, planes found, steps and peaks stay flat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.groups import sloped_boxes
from sparsedp.sensing.cell_order import z_order

SIDES = st.sampled_from([(8, 8), (5, 7), (16, 3), (2, 9), (4, 4, 4), (3, 5, 2), (1, 6)])


def plain(sums: Floats, starts: Ints, sides: tuple[int, ...]) -> Floats:
    """The cells of a table, group by group and axis by axis."""
    n, curve = int(np.prod(sides)), z_order(sides)
    group = np.empty(n, int)
    group[curve] = np.repeat(np.arange(len(starts)), np.diff(starts, append=n))
    group = group.reshape(sides)
    places = np.indices(sides)
    means = np.array([sums[g] / (group == g).sum() for g in range(len(starts))])
    cells = means[group]
    for axis in range(len(sides)):
        width = [int(np.ptp(places[axis][group == g])) + 1 for g in range(len(starts))]
        for g in range(len(starts)):
            ahead: list[float] = []
            behind: list[float] = []
            for cell in np.argwhere(group == g):
                for step, slopes in ((1, ahead), (-1, behind)):
                    other = cell.copy()
                    other[axis] += step
                    if 0 <= other[axis] < sides[axis] and (h := group[tuple(other)]) != g:
                        slopes.append(step * (means[h] - means[g]) / (0.5 * (width[g] + width[h])))
            if not ahead or not behind or np.mean(ahead) * np.mean(behind) <= 0:
                continue
            slope = np.sign(np.mean(ahead)) * np.sqrt(np.mean(ahead) * np.mean(behind))
            along = places[axis][group == g] - places[axis][group == g].mean()
            steepest = abs(means[g]) / (len(sides) * max(np.abs(along).max(), 0.5))
            cells[group == g] += np.clip(slope, -steepest, steepest) * along
    return np.asarray(cells.reshape(-1)[curve])


@given(SIDES, st.integers(0, 2**32), st.booleans())
def test_cells_are_those_of_a_plain_loop(sides: tuple[int, ...], seed: int, signed: bool) -> None:
    random, n = np.random.default_rng(seed), int(np.prod(sides))
    starts = np.unique(np.append(random.integers(0, n, random.integers(1, 12)), 0))
    sums = random.normal(0, 50, len(starts)) if signed else random.exponential(50, len(starts))
    found = sloped_boxes(sums, starts, sides)
    np.testing.assert_allclose(found, plain(sums, starts, sides), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.add.reduceat(found, starts), sums, rtol=1e-9, atol=1e-9)
    assert signed or found.min() >= -1e-9, "no cell passes zero"


@pytest.mark.parametrize("slopes", [(3.0, 1.0), (-2.0, 0.5), (0.0, 4.0)])
def test_a_plane_comes_back_within(slopes: tuple[float, float]) -> None:
    """But for the groups at its edge, which have none beyond."""
    table = 500.0 + np.add.outer(slopes[0] * np.arange(16), slopes[1] * np.arange(16))
    curve, starts = z_order((16, 16)), np.arange(0, 256, 16)
    found = np.empty(256)
    found[curve] = sloped_boxes(np.add.reduceat(table.reshape(-1)[curve], starts), starts, (16, 16))
    np.testing.assert_allclose(found.reshape(16, 16)[4:12, 4:12], table[4:12, 4:12])


def test_peaks_and_steps_stay_flat() -> None:
    curve, starts = z_order((16, 16)), np.arange(0, 256, 16)
    boxes = np.zeros((4, 4))
    for raised in ((1, 1), (slice(None), slice(2, None))):
        table = boxes.copy()
        table[raised] = 90.0
        sums = np.asarray(16 * np.kron(table, np.ones((4, 4))).reshape(-1)[curve][::16], np.float64)
        np.testing.assert_array_equal(sloped_boxes(sums, starts, (16, 16)), np.repeat(sums / 16, 16))
