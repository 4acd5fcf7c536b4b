"""The mean of the cells around each cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage import _neighbourhoods
from sparsedp.estimation.shrinkage._chunks import chunks_of
from sparsedp.estimation.shrinkage._neighbourhoods import mean_around


def oracle(cells: Floats, reach: int) -> Floats:
    found = np.empty_like(cells)
    for place in np.ndindex(cells.shape):
        box = cells[(slice(place[0], place[0] + 1), *(slice(max(i - reach, 0), i + reach + 1) for i in place[1:]))]
        found[place] = (box.sum() - cells[place]) / (box.size - 1)
    return found


@given(
    shape=st.lists(st.integers(1, 9), min_size=2, max_size=4).filter(lambda sides: max(sides[1:]) > 1),
    reach=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_it_is_the_mean_of_the_box_without_the_cell(shape: list[int], reach: int, seed: int) -> None:
    cells = np.random.default_rng(seed).normal(size=shape)
    with chunks_of(cells.size) as chunks:
        np.testing.assert_allclose(mean_around(cells, reach, chunks), oracle(cells, reach), atol=1e-9)


@pytest.mark.parametrize("lines", [1, 7, 64])
def test_how_many_lines_go_together_does_not_matter(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.random.default_rng(1).normal(size=(2, 30, 70))
    out = np.empty_like(cells)
    monkeypatch.setattr(_neighbourhoods, "LINES", lines)
    for start in range(0, cells.size, 997):  # chunks begin anywhere
        _neighbourhoods._slide.py_func(cells, 3, out, start, min(start + 997, cells.size))  # type: ignore[attr-defined]
    padded = np.pad(cells, ((0, 0), (3, 3), (0, 0)))
    np.testing.assert_allclose(out, sum(padded[:, i : i + 30] for i in range(7)), atol=1e-9)


@pytest.mark.parametrize("chunk", [1, 5, 97, 500])
def test_where_chunks_of_rows_begin_does_not_matter(chunk: int) -> None:
    cells = np.random.default_rng(3).normal(size=(7, 70))
    out = np.empty(cells.size)
    for start in range(0, cells.size, chunk):
        part, stop = np.full(cells.size, np.nan), min(start + chunk, cells.size)
        _neighbourhoods._slide_along_the_last(cells.reshape(-1), 70, 4, part, start, stop)
        assert np.isnan(np.delete(part, np.s_[start:stop])).all(), "other chunks are other threads'"
        out[start:stop] = part[start:stop]
    padded = np.pad(cells, ((0, 0), (4, 4)))
    np.testing.assert_allclose(out.reshape(cells.shape), sum(padded[:, i : i + 70] for i in range(9)), atol=1e-9)


def test_long_tables_are_worked_on_in_chunks() -> None:
    cells = np.random.default_rng(2).normal(size=(1, 300, 600))
    with chunks_of(cells.size) as chunks:
        found = mean_around(cells, 2, chunks)
    for corner in (cells[:, :32, :32], cells[:, -32:, -32:]):
        whole = found[:, :30, :30] if corner[0, 0, 0] == cells[0, 0, 0] else found[:, -30:, -30:]
        part = oracle(corner, 2)
        part = part[:, :30, :30] if corner[0, 0, 0] == cells[0, 0, 0] else part[:, 2:, 2:]
        np.testing.assert_allclose(whole, part, atol=1e-9)
