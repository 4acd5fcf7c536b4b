"""Two releases side by side."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.axes.domain import Quantity
from sparsedp.errors import InvalidInput
from sparsedp.noise.source import SeededSource
from sparsedp.releases.comparison import compare
from sparsedp.releases.uncertainty import CellErrors

DOMAIN = sdp.Domain([sdp.Categories("sex", ["F", "M"]), sdp.Integers("hour", 0, 63)])
COUNTS = np.random.default_rng(1).poisson(40 + 30 * np.sin(np.arange(128) / 9).reshape(DOMAIN.shape))
MORE = COUNTS + (np.arange(128) == 70).reshape(DOMAIN.shape) * 500
with noise_from(__name__):
    FIRST = sdp.release(COUNTS, epsilon=1, domain=DOMAIN)
    SECOND = sdp.release(MORE, epsilon=1, domain=DOMAIN)


def test_cells_without_names_are_told_apart_by_their_number() -> None:
    with pytest.raises(InvalidInput, match=r"other cells \(6 cells without names\) than the first \(5 cells without"):
        sdp.compare(sdp.release([1] * 5, epsilon=1), sdp.release([1] * 6, epsilon=1))


def test_the_cell_that_changed_is_found() -> None:
    found = compare(FIRST, SECOND)
    assert found.private
    np.testing.assert_array_equal(found.difference, SECOND.values - FIRST.values)
    largest = found.largest(1)[0]
    assert largest.place == {"sex": "M", "hour": 6}
    assert largest.interval is not None
    assert 0 < largest.interval.low <= largest.second - largest.first <= largest.interval.high
    assert found.total is not None
    assert found.total.low <= 500 + 100
    assert found.total.estimate == pytest.approx(SECOND.values.sum() - FIRST.values.sum())
    assert 0 < found.correlation < 1
    assert "sex M, hour 6: " in str(found) == repr(found)
    assert "NOT PRIVATE" not in str(found)


def test_the_errors_of_two_noises_add_up_in_squares_and_of_one_straight() -> None:
    assert FIRST.stderr is not None
    assert SECOND.stderr is not None
    found = compare(FIRST, SECOND)
    np.testing.assert_allclose(found.stderr, np.sqrt(FIRST.stderr**2 + SECOND.stderr**2))  # type: ignore[arg-type]
    synopsis = sdp.Adaptive().measure(COUNTS, epsilon=1, domain=DOMAIN)
    first, second = synopsis.recover(), synopsis.recover("fused_layers")
    assert first.stderr is not None
    assert second.stderr is not None
    np.testing.assert_allclose(compare(first, second).stderr, first.stderr + second.stderr)  # type: ignore[arg-type]


def test_intervals_of_differences_hold_the_truth() -> None:
    held = []
    for seed in range(100):
        one, other = (
            sdp.Laplace().release(counts, epsilon="0.1", domain=DOMAIN, source=SeededSource(2 * seed + place))
            for place, counts in enumerate((COUNTS, MORE))
        )
        found = compare(one, other)
        assert not found.private
        assert found.total is not None
        held.append(found.total.low <= 500 <= found.total.high)
    assert 0.88 <= np.mean(held) < 1.0


def test_a_table_of_it() -> None:
    table = compare(FIRST, SECOND).to_arrow()
    assert table.column_names == ["sex", "hour", "first", "second", "difference", "stderr"]
    np.testing.assert_allclose(table["difference"].to_numpy(), (SECOND.values - FIRST.values).ravel())
    first = sdp.release([1, 2], epsilon=1, domain=sdp.Domain(sdp.Categories("first", ["a", "b"])))
    assert compare(first, first).to_arrow().column_names[:2] == ["first", "first_"]


def test_without_errors_there_is_still_a_difference() -> None:
    found = compare(replace(FIRST, uncertainty=None), SECOND)
    assert found.stderr is None
    assert found.total is None
    assert found.largest(2)[0].interval is None
    assert FIRST.stderr is not None
    assert compare(replace(FIRST, uncertainty=CellErrors(FIRST.stderr)), SECOND).total is None


def test_what_cannot_be_compared_is_refused() -> None:
    other = sdp.release([1, 2, 3], epsilon=1)
    with pytest.raises(InvalidInput, match=r"other cells \(3 cells without names\) than the first \(sex \(2\) × hour"):
        compare(FIRST, other)
    with pytest.raises(InvalidInput, match=r"second is of another quantity \(total amount\)"):
        compare(FIRST, replace(SECOND, quantity=Quantity("amount", Fraction(1, 100))))
    with pytest.raises(InvalidInput, match="second is of type ndarray"):
        compare(FIRST, COUNTS)  # type: ignore[arg-type]


def test_constant_cells_have_no_correlation() -> None:
    flat = replace(FIRST, values=np.zeros(DOMAIN.shape))
    assert np.isnan(compare(flat, SECOND).correlation)
