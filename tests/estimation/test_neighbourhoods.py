"""Cells told apart by what is around them."""

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage._chunks import Chunks
from sparsedp.estimation.shrinkage._neighbourhoods import spread_sample
from sparsedp.estimation.shrinkage.value_prior import BINS, CUTS, KINDS, bin_of, counted, neighbourhoods_of, spreads_of

CHUNKS = Chunks(None)


def busy_here_and_there(shape: tuple[int, ...]) -> Floats:
    random = np.random.default_rng(0)
    return np.asarray(random.laplace(0, 0.7, (1, *shape)) + 4 * np.sin(np.arange(shape[-1]) / 50.0) ** 4)


def test_the_kind_of_a_cell_does_not_depend_on_its_own_noise() -> None:
    heights = busy_here_and_there((1024,))
    before = neighbourhoods_of(heights, (1, 4, 16), CHUNKS)
    other = heights.copy()
    other[0, 500] += 3.0
    after = neighbourhoods_of(other, (1, 4, 16), CHUNKS)
    assert (before.kinds[:, 500] == after.kinds[:, 500]).all()
    assert (before.kinds != after.kinds).any()  # of its neighbours


def test_kinds_are_cut_where_shares_of_the_cells_end() -> None:
    found = neighbourhoods_of(busy_here_and_there((64, 64)), (1, 3), CHUNKS)
    for kinds in found.kinds:
        shares = np.bincount(kinds, minlength=KINDS).cumsum() / kinds.size
        np.testing.assert_allclose(shares, [*CUTS, 1.0], atol=0.001)


@pytest.mark.parametrize(("shape", "reaches"), [((60_000,), (1, 2, 16)), ((250, 240), (1, 3))])
def test_noise_alone_is_one_deviation_above_its_surroundings(shape: tuple[int, ...], reaches: tuple[int, ...]) -> None:
    heights = np.random.default_rng(1).normal(size=(1, *shape))
    for above in neighbourhoods_of(heights, reaches, CHUNKS).above:
        assert above.std() == pytest.approx(1.0, abs=0.015)


def test_tables_that_differ_on_an_unordered_axis_are_apart() -> None:
    """What is next to a cell in memory is not next to it."""
    random = np.random.default_rng(2)
    heights = np.stack([random.laplace(level, 0.7, 600) for level in (0, 14)])
    kinds = neighbourhoods_of(heights, (4,), CHUNKS).kinds.reshape(2, -1)
    assert kinds[0].max() <= 1
    assert kinds[1].min() >= 2


def test_cells_are_counted_by_kind_and_bin() -> None:
    found = neighbourhoods_of(busy_here_and_there((900,)), (1, 8), CHUNKS)
    places = np.arange(5, 900, 3)
    heights, above = counted(found, places, CHUNKS)
    expected = np.zeros((1 + 2 * KINDS, BINS))
    for cell in places:
        for row in (0, 1 + found.kinds[0, cell], 1 + KINDS + found.kinds[1, cell]):
            expected[row, bin_of(found.heights[cell])] += 1.0
    np.testing.assert_array_equal(heights, expected)
    np.testing.assert_allclose(above.sum(axis=1), expected[1:].sum(axis=1))


@pytest.mark.parametrize(("n", "most"), [(10, 10), (11, 10), (1000, 64), (2**18, 2**17), (2**24, 2**12), (3, 9)])
def test_a_sample_is_spread_and_in_no_step(n: int, most: int) -> None:
    places = spread_sample(n, most)
    assert 0.8 * min(n, most) <= len(places) <= min(n, most)
    assert (np.diff(places) > 0).all()
    assert places[0] >= 0
    assert places[-1] < n
    if len(places) >= 2**12:
        for period in (2, 24, 64):
            shares = np.bincount(places % period, minlength=period) / len(places) * period
            np.testing.assert_allclose(shares, 1.0, atol=0.3)


def test_cells_of_other_cycles_are_surroundings_too() -> None:
    """With the noise of the mean of four of them, and of those alone that were measured."""
    heights = np.random.default_rng(5).laplace(size=(1, 4096)) / np.sqrt(2.0)
    measured = np.arange(4096)[None] % 512 < 400
    for known in (None, measured):
        found = neighbourhoods_of(heights, (1,), CHUNKS, 24, known)
        assert found.above.shape == (2, 4096)
        inner = np.zeros(4096, np.bool_)
        inner[48:-48] = True
        if known is not None:
            inner &= np.all([np.roll(known[0], lag) for lag in (-48, -24, 24, 48)], axis=0)
            other = np.where(known, heights, 1e3)
            assert (neighbourhoods_of(other, (1,), CHUNKS, 24, known).above[1][inner & known[0]] < 20.0).all()
        assert found.above[1][inner].std() == pytest.approx(1.0, abs=0.06)
    assert spreads_of((1,), 1, 24).tolist() == pytest.approx([1.5**0.5, 1.25**0.5])
