"""What is asked of made-up releases: the boxes' size, and errors against sums written out."""

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.previews._made_up import Questions, box_sides, cells_asked_for


@pytest.mark.parametrize("shape", [(1000,), (50, 40), (8, 9, 10), (2, 500), (1, 3, 400)])
def test_a_box_is_about_a_tenth_of_the_cells(shape: tuple[int, ...]) -> None:
    sides = box_sides(shape)
    assert all(1 <= side <= length for side, length in zip(sides, shape, strict=True))
    assert np.prod(sides) == pytest.approx(np.prod(shape) / 10, rel=0.15)


def test_one_cell_is_cell_box_and_total() -> None:
    domain = sdp.Domain.of_shape((1,))
    questions = Questions(domain)
    assert cells_asked_for(domain) == (1, 1, 1)
    np.testing.assert_array_equal(questions.squared_errors(np.array([4]), np.array([7.0])), [9, 9, 9])


def test_errors_that_are_alike_everywhere_add_up() -> None:
    domain = sdp.Domain([sdp.Categories("region", list("abcde")), sdp.Integers("hour", 0, 23)])
    questions = Questions(domain)
    _, box, _ = cells_asked_for(domain)
    errors = questions.squared_errors(np.zeros(domain.shape, dtype=np.int64), np.full(domain.shape, 2.0))
    np.testing.assert_allclose(errors, [4, (2 * box) ** 2, (2 * 120) ** 2])


def test_boxes_are_runs_along_ordered_axes_only() -> None:
    """An error on every other cell cancels in a run of even length, and not among random labels."""
    off = np.tile([1.0, -1.0], 20)
    counts = np.zeros(40, dtype=np.int64)
    along = Questions(sdp.Domain.of_shape((40,))).squared_errors(counts, off)
    among = Questions(sdp.Domain(sdp.Categories("region", range(40)))).squared_errors(counts, off)
    assert along[1] == 0
    assert among[1] > 1
