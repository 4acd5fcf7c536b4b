"""Shrinkage in a frame of boxes: exact where nothing is removed, noise known exactly, better than along a curve."""

from fractions import Fraction
from itertools import product
from math import prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shrinkage_oracle import class_of, windows

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage import frame as subject
from sparsedp.estimation.shrinkage._boxes import (
    COUNTS_DETECTED,
    LIVELY,
    NORMAL,
    OCCUPIED,
    QUIET,
    Singles,
    classify_and_count,
    classify_and_count_row,
    contrast_deviations,
    merge,
    narrow,
    window_deviations,
)
from sparsedp.estimation.shrinkage._chunks import chunks_of
from sparsedp.estimation.shrinkage.frame import shrink
from sparsedp.estimation.shrinkage.mixture_prior import CLASSES, GRID, NO_CLASS
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.cell_order import z_order

LAW = DiscreteLaplaceLaw(Fraction(10))
SIDES = st.lists(st.integers(1, 9), min_size=1, max_size=3).filter(lambda sides: prod(sides) > 1)


def steps(cells: Floats) -> list[tuple[int, Floats, Singles]]:
    """Width, means and contrasts of a row, step by step, by the kernels."""
    found, width, finer = [], 1, cells[None, :, None]
    while width < len(cells):
        means, contrasts = np.empty((1, len(cells) + 1, 1)), np.empty((1, len(cells) + 1, 1), np.float32)
        merge(finer, width, 1.0, means, contrasts, 0, means.size)
        width, finer = 2 * width, means
        found.append((width, means, contrasts))
    return found


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13])
def test_windows_and_contrasts_are_what_they_are_said_to_be(n: int) -> None:
    cells = np.random.default_rng(n).normal(size=n)
    for width, means, contrasts in steps(cells):
        expected = windows(cells, width)
        np.testing.assert_allclose(means.ravel(), expected[0], atol=1e-12)
        np.testing.assert_allclose(contrasts.ravel(), expected[1], atol=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13])
def test_the_noise_of_windows_and_contrasts_is_known_exactly(n: int) -> None:
    """Their deviations, from what each cell adds to them: columns of the identity."""
    columns = [steps(column) for column in np.eye(n)]
    for step, (width, *_) in enumerate(columns[0]):
        means = np.array([column[step][1].ravel() for column in columns])
        contrasts = np.array([column[step][2].ravel() for column in columns])
        np.testing.assert_allclose(sqrt(width) * np.sqrt((means**2).sum(0)), window_deviations(n, width), atol=1e-9)
        np.testing.assert_allclose(
            sqrt(width) * np.sqrt((contrasts**2).sum(0)), contrast_deviations(n, width), atol=1e-6
        )
    assert (window_deviations(n, 1) == 1.0).all()


@given(SIDES, st.integers(0, 2**32 - 1))
def test_nothing_is_lost_on_the_way_there_and_back(sides: list[int], seed: int) -> None:
    """With all contrasts left as they are, narrowing undoes merging, whatever the sides."""
    table = np.random.default_rng(seed).normal(size=sides)
    kept: list[tuple[int, float, Singles]] = []
    widths, boxes = [1] * len(sides), table
    room = prod(side + 1 for side in sides)
    with chunks_of(table.size) as chunks:
        while (axis := subject._next_axis(widths, table.shape)) is not None:
            found = np.empty(room), np.empty(room, np.float32)
            unit = 0.5 + len(kept)
            boxes, contrasts = subject._merged(boxes, axis, widths[axis], unit, *found, chunks)
            widths[axis] *= 2
            kept.append((axis, unit, contrasts))
        for axis, unit, contrasts in reversed(kept):
            widths[axis] //= 2
            here = sides[axis], widths[axis], unit, np.empty(room)
            boxes = subject._narrowed(boxes, contrasts, axis, *here, chunks)
    np.testing.assert_allclose(boxes, table, atol=1e-5)


def test_halves_of_wider_windows_are_averaged() -> None:
    """The inverse of contrasts of one gap alone: both cells beside it change, each by half."""
    means, contrasts, cells = np.zeros((1, 6, 1)), np.zeros((1, 6, 1), np.float32), np.empty((1, 5, 1))
    contrasts[0, 2, 0] = 1.0
    narrow(means, contrasts, 1, 3.0, cells, 0, cells.size)
    assert cells.ravel().tolist() == [0.0, 1.5, -1.5, 0.0, 0.0]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_classes_are_those_of_contrasts_around_that_share_no_cell(axis: int) -> None:
    """By a loop over all places: the squares of those next along the axis, and of the sum of the two beside."""
    sides, apart = (4, 7, 9), (1, 2, 3)
    scores = np.random.default_rng(1).normal(0.0, 1.5, size=sides).astype(np.float32)
    classes = np.empty(scores.size, np.uint8)
    heights, unit, centre = np.random.default_rng(2).normal(2.0, 3.0, size=sides), 2.0, 1.5
    places = np.array(sides), np.array(apart), axis
    counts = classify_and_count(scores.reshape(-1), heights.reshape(-1), unit, centre, *places, classes, 0, scores.size)
    expected = np.empty(sides, np.uint8)
    for place in product(*map(range, sides)):
        square, weight, height = 0.0, 0, 0.0
        for other in range(3):
            nearby = []
            for sign in (-1, 1):
                there = list(place)
                there[other] += sign * apart[other]
                if 0 <= there[other] < sides[other]:
                    nearby.append(float(scores[tuple(there)]))
                    height += heights[tuple(there)] + centre
            square += sum(each**2 for each in nearby) if other == axis else sum(nearby) ** 2
            weight += len(nearby)
        expected[place] = 1 + sum(square > weight * edge for edge in (QUIET, NORMAL, LIVELY))
        expected[place] += OCCUPIED * (abs(height) > COUNTS_DETECTED * sqrt(weight) * unit)
    assert set(expected.ravel()) == set(range(1, CLASSES))
    assert (classes.reshape(sides) == expected).all()
    inner = np.delete(expected, [0, -1], axis=axis)  # at the ends contrasts are 0 by symmetry
    assert counts.sum(axis=1) == pytest.approx(np.bincount(inner.ravel(), minlength=len(counts)))


@pytest.mark.parametrize("centre", [0.0, -7.0, 3.0])
def test_classes_of_a_row_are_those_of_its_definition(centre: float) -> None:
    """By a loop over all gaps, in chunks that end anywhere."""
    scores = np.random.default_rng(1).normal(0.0, 2.0, size=301).astype(np.float32)
    heights, unit, apart = np.random.default_rng(2).normal(2.0, 6.0, size=301), 2.0, 4
    classes, counts = np.empty(301, np.uint8), np.zeros((CLASSES, len(GRID)))
    for first, last in ((0, 7), (7, 150), (150, 301)):
        counts += classify_and_count_row(scores, heights, unit, centre, apart, classes, first, last)
    expected = [class_of(scores.astype(np.float64), heights, gap, apart, unit, centre) for gap in range(301)]
    assert set(expected) == set(range(CLASSES))
    assert classes.tolist() == expected
    assert counts.sum(axis=1) == pytest.approx(np.bincount(expected[1:-1], minlength=CLASSES))


def test_a_contrast_with_nothing_around_is_of_no_known_class() -> None:
    classes = np.empty(4, np.uint8)
    places = np.array([2, 2]), np.array([2, 2]), 1
    classify_and_count(np.ones(4, np.float32), np.ones(4), 1.0, 0.0, *places, classes, 0, 4)
    assert (classes == NO_CLASS).all()


def noisy(table: Floats, seed: int) -> Floats:
    """With Laplace noise of the law's scale."""
    return np.asarray(np.round(table + np.random.default_rng(seed).laplace(scale=10.0, size=table.shape)))


def hills(side: int) -> Floats:
    """A peak and a plain."""
    y, x = np.mgrid[0:side, 0:side] / side
    return np.asarray(300 * np.exp(-((x - 0.3) ** 2 + (y - 0.6) ** 2) / 0.02) + 20 * (x > 0.7))


def test_it_is_better_than_along_a_curve() -> None:
    truth, errors = hills(64), np.zeros(3)
    curve = z_order((64, 64))
    for seed in range(4):
        seen = noisy(truth, seed)
        row = np.empty(truth.size)
        row[curve] = shrink(seen.reshape(-1)[curve], LAW)
        found = seen, row.reshape(64, 64), shrink(seen, LAW)
        errors += [np.linalg.norm(each - truth) for each in found]
    assert errors[2] < 0.85 * errors[1] < 0.5 * errors[0]


def test_a_table_and_its_mirror_image_are_shrunk_alike() -> None:
    seen = noisy(hills(24), 3)[:, :17]
    found = shrink(seen, LAW)
    np.testing.assert_allclose(shrink(seen[::-1].copy(), LAW)[::-1], found, atol=1e-9)
    np.testing.assert_allclose(shrink(seen[:, ::-1].copy(), LAW)[:, ::-1], found, atol=1e-9)


@pytest.mark.parametrize("shape", [(2,), (1, 2), (3, 5), (40, 1), (7, 11, 5), (2, 3, 4, 5), (100, 3)], ids=str)
def test_the_total_is_kept(shape: tuple[int, ...]) -> None:
    seen = noisy(np.full(shape, 50.0), 1)
    assert shrink(seen, LAW).sum() == pytest.approx(seen.sum())


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(10), Fraction(1000)])
def test_even_counts_come_out_even(scale: Fraction) -> None:
    """Noise of a few whole numbers, too, most of whose contrasts are exactly 0."""
    law = DiscreteLaplaceLaw(scale)
    error = 0.0
    for seed in range(3):
        seen = 100.0 + discrete_laplace(scale, 4096, SeededSource(seed)).astype(np.float64).reshape(64, 64)
        error += np.square(shrink(seen, law) - 100.0).mean() / 3
    assert error < 0.01 * law.variance


@pytest.mark.parametrize("epsilon", [30, 100, 200, 300, 400, 800, 10**6])
@pytest.mark.parametrize("most", [50, 2**60])
@pytest.mark.filterwarnings("error")
def test_next_to_no_noise_removes_next_to_nothing(epsilon: int, most: int) -> None:
    table = np.random.default_rng(1).integers(0, most, (40, 40)).astype(np.float64)
    law = DiscreteLaplaceLaw(Fraction(1, epsilon))
    np.testing.assert_allclose(shrink(table, law), table, rtol=1e-12, atol=1e-3)


def test_a_cell_far_above_the_noise_is_left_alone() -> None:
    truth = np.zeros((32, 32))
    truth[5, 20] = 1e6
    assert shrink(noisy(truth, 1), LAW)[5, 20] == pytest.approx(1e6, abs=60)


def test_without_noise_nothing_is_removed() -> None:
    table = np.arange(12.0).reshape(3, 4)
    certain = DiscreteLaplaceLaw(Fraction(1, 10**4))
    assert certain.variance < subject.NO_VARIANCE
    assert (shrink(table, certain) == table).all()
    assert (shrink(np.full((1, 1), 3.0), LAW) == 3.0).all()


def test_chunks_and_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = noisy(hills(40), 5)
    whole = shrink(seen, LAW)
    monkeypatch.setattr("sparsedp.estimation.shrinkage._chunks.CHUNK", 97)
    np.testing.assert_allclose(shrink(seen, LAW), whole, atol=1e-9)


@pytest.mark.parametrize("shape", [(70, 100), (3, 200), (130, 140), (64, 64, 9)], ids=str)
def test_large_tables_are_shrunk_as_well_with_narrow_windows(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks' means take over from there: nearly as good as all windows."""
    places = np.indices(shape)
    truth = 60 * np.exp(-((places[-1] - 30) ** 2 + (places[-2] - 40) ** 2) / 500) + 5.0
    errors = np.zeros(2)
    for seed in range(4):
        seen = noisy(truth, seed)
        for kind, large in enumerate((1 << 16, 1)):
            monkeypatch.setattr(subject, "LARGE", large)
            errors[kind] += np.linalg.norm(shrink(seen, LAW) - truth)
    assert errors[1] < 1.06 * errors[0]


@pytest.mark.parametrize("shape", [(150, 160), (64, 64, 9)], ids=str)
def test_without_blocks_narrow_windows_would_leave_noise(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "LARGE", 1)
    seen = noisy(np.full(shape, 50.0), 1)
    error = np.square(shrink(seen, LAW) - 50.0).mean()
    monkeypatch.setattr(subject, "_add_to_blocks", lambda *_: None)
    assert error < 0.7 * np.square(shrink(seen, LAW) - 50.0).mean()


def test_means_of_blocks_and_what_is_added_to_them() -> None:
    table = np.arange(30.0).reshape(5, 6)
    means = subject._block_means(table, [4, 1])
    assert means.shape == (2, 6)
    assert (means[0] == table[:4].mean(axis=0)).all()
    assert (means[1] == table[[4, 4, 3, 2]].mean(axis=0)).all(), "beyond the end is the mirror image"
    changed = table.copy()
    subject._add_to_blocks(changed, np.ones((2, 6)), [4, 1])
    assert (changed == table + 1.0).all()


def test_windows_may_be_longer_along_the_first_axis() -> None:
    """Lines of cells that are alike come out nearer then, and the first axis is ahead of the other."""
    lines = np.tile(np.random.default_rng(3).integers(0, 60, 32), (64, 1)).astype(np.float64)
    table = lines + np.random.default_rng(4).laplace(0.0, 10.0, lines.shape)
    off = {longer: np.linalg.norm(subject.shrink(table, LAW, longer=longer) - lines) for longer in (1.0, 16.0)}
    assert off[16.0] < 0.8 * off[1.0]
    widths, order = [1, 1], []
    while (axis := subject._next_axis(widths, (64, 64), 16.0)) is not None:
        widths[axis] *= 2
        order.append(axis)
    assert order == [0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1]
