"""Which sums are measured: shares add up, layers are nested, and they are near the best for ranges there is."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from sparsedp.mechanisms._adaptive_shares import (
    GAUSSIAN,
    LAPLACE,
    ROWS,
    SMALL_ROW,
    TABLES,
    RegularLayers,
    Shares,
    range_variance,
    regular_layers,
)
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.validate import MAX_CELLS

SIZES = [1, 2, 3, 15, 16, 63, 64, 65, 255, 256, 257, 1000, 4096, 65536, 10**6]
KINDS = {**{f"row, {name}": shares for name, shares in ROWS.items()}, **{f"table, {n}": s for n, s in TABLES.items()}}
EVERY_SHARES = pytest.mark.parametrize("shares", KINDS.values(), ids=KINDS.keys())
EVERY_POWER = pytest.mark.parametrize("power", [LAPLACE, GAUSSIAN])


@EVERY_SHARES
@EVERY_POWER
@pytest.mark.parametrize("n", [*SIZES, MAX_CELLS])
def test_regular_layers_share_all_there_is(shares: Shares, n: int, power: int) -> None:
    layers = regular_layers(n, shares, power)
    assert sum(share for _, share in layers) == 1
    assert all(isinstance(share, Fraction) and share > 0 for _, share in layers)
    sizes = [size for size, _ in layers]
    assert sizes[0] == 1
    assert sizes[-1] == (n if n >= SMALL_ROW else 1)
    assert all(finer < coarser for finer, coarser in pairwise(sizes))
    if n <= 10**6:
        assert GroupSums(n, sizes).rows == sum(-(-n // size) for size in sizes)


def exact_variance(layers: list[np.ndarray], shares: list[float], power: int) -> float:
    """The mean over all ranges, by dense least squares. `layers`: which groups' first cells, for each of them."""
    n = len(layers[0])
    rows, weights = [], []
    for starts, share in zip(layers, shares, strict=True):
        member = np.searchsorted(starts, np.arange(n), side="right") - 1
        rows.append((member == np.arange(len(starts))[:, None]).astype(np.float64))
        weights.append(np.full(len(starts), share**power))
    stacked = np.concatenate(rows)
    covariance = np.linalg.inv((stacked.T * np.concatenate(weights)) @ stacked)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
    ends, starts = np.triu_indices(n + 1, 1)[::-1]
    return float((sums[ends, ends] - 2 * sums[ends, starts] + sums[starts, starts]).mean())


def exact_of(n: int, layers: RegularLayers, power: int) -> float:
    return exact_variance([np.arange(0, n, size) for size, _ in layers], [float(share) for _, share in layers], power)


@EVERY_POWER
@pytest.mark.parametrize("sizes", [[], [8], [16], [4, 32], [4, 16, 64]])
def test_the_variance_of_a_range_is_about_right(sizes: list[int], power: int) -> None:
    between = Fraction(7, 20) / max(len(sizes), 1)
    cells = Fraction(12, 20) if sizes else Fraction(19, 20)
    layers = ((1, cells), *((size, between) for size in sizes), (256, Fraction(1, 20)))
    assert range_variance(256, layers, power) == pytest.approx(exact_of(256, layers, power), rel=0.05)


WITHOUT_BLOCKS: RegularLayers = ((1, Fraction(19, 20)), (256, Fraction(1, 20)))


def in_blocks(cells: Fraction) -> list[RegularLayers]:
    """Every layer of blocks of 256 cells there is, and every two, smaller ones than the square root being left out."""
    rest, total = (1 - cells - Fraction(1, 20)), (256, Fraction(1, 20))
    powers = [2**k for k in range(4, 8)]
    found: list[RegularLayers] = [((1, cells), (size, rest), total) for size in powers]
    return found + [((1, cells), (a, rest / 2), (b, rest / 2), total) for a, b in product(powers, powers) if a < b]


@EVERY_POWER
def test_blocks_are_near_the_best_for_ranges(power: int) -> None:
    shares = ROWS["ranges"]
    found = exact_of(256, regular_layers(256, shares, power), power)
    assert found <= 1.05 * min(exact_of(256, each, power) for each in in_blocks(shares.cells))
    assert found < 0.65 * exact_of(256, WITHOUT_BLOCKS, power)


@EVERY_POWER
def test_blocks_are_near_the_best_for_both_cells_and_ranges(power: int) -> None:
    """By the product of the two variances, that of a cell before anything is fused."""

    def both(layers: RegularLayers) -> float:
        return exact_of(256, layers, power) * float(layers[0][1]) ** -power

    found = both(regular_layers(256, ROWS["any"], power))
    shares = [Fraction(percent, 100) for percent in range(40, 95, 5)]
    assert found <= 1.05 * min(both(each) for cells in shares for each in in_blocks(cells))
    assert found < 0.9 * both(((1, Fraction(3, 5)), (16, Fraction(7, 20)), (256, Fraction(1, 20))))


@EVERY_POWER
def test_of_many_cells_more_is_spent_on_blocks(power: int) -> None:
    few, more, many = (regular_layers(n, ROWS["any"], power)[0][1] for n in (2**12, 2**16, 2**20))
    assert Fraction(3, 4) >= few > many >= Fraction(3, 5)
    assert few >= more >= many


@EVERY_POWER
def test_a_handful_of_cells_has_no_blocks_under_laplace_noise(power: int) -> None:
    assert (len(regular_layers(100, ROWS["any"], power)) == 2) == (power == LAPLACE)
