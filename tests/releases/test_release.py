"""A release answers anything, opens in other tools, and says what it promises."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sparsedp as sdp
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours

GUARANTEE = Guarantee((Expense("measure", sdp.Budget(epsilon="0.5")),), Neighbours(), private=True)


def release_of(values: npt.NDArray[np.float64]) -> sdp.Release:
    return sdp.Release(
        values, GUARANTEE, "laplace", {"name": "discrete_laplace", "scale": "2"}, {"status": "converged"}
    )


@given(
    arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e6, 1e6)),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8),
)
def test_range_sums_are_slices(values: npt.NDArray[np.float64], bounds: list[tuple[int, int]]) -> None:
    release = release_of(values)
    clipped = [sorted(min(bound, values.size) for bound in pair) for pair in bounds]
    starts, stops = np.array(clipped).T
    expected = [values[start:stop].sum() for start, stop in clipped]
    np.testing.assert_allclose(release.range_sum(starts, stops), expected, atol=1e-6)
    assert release.range_sum(int(starts[0]), int(stops[0])) == pytest.approx(expected[0], abs=1e-6)


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (0, 5), (3, 2), (0.5, 2), ("a", 2), (None, 1)])
def test_ranges_outside_are_refused(start: object, stop: object) -> None:
    with pytest.raises(InvalidInput, match=r"^(start|stop) is"):
        release_of(np.arange(4.0)).range_sum(start, stop)  # type: ignore[arg-type]


def test_bounds_of_different_shapes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="as many bounds as start"):
        release_of(np.arange(4.0)).range_sum([0, 1], [2, 3, 4])
    assert release_of(np.arange(4.0)).range_sum(0, [1, 2, 4]).tolist() == [0.0, 1.0, 6.0]


def test_any_query() -> None:
    release = release_of(np.array([3.0, 1.0, 4.0, 1.0]))
    assert release.query(np.argmax) == 2
    assert release.query(lambda cells: cells[cells > 1].sum()) == 7.0
    assert release.query([0, 1, 1, 0]) == 5.0
    assert release.query(np.arange(4) < 2) == 4.0
    assert np.quantile(release, 0.5) == 2.0
    assert np.asarray(release, dtype=np.float32).dtype == np.float32
    assert len(release) == 4
    assert release[2] == 4.0
    assert list(release) == [3.0, 1.0, 4.0, 1.0]
    np.testing.assert_array_equal(release[1:3], [1.0, 4.0])
    assert pd.Series(release).tolist() == [3.0, 1.0, 4.0, 1.0]
    with pytest.raises(InvalidInput, match="one number for each of the 4 cells"):
        release.query([1, 2, 3])


def test_values_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        release_of(np.zeros(3)).values[0] = 1


def test_saved_and_opened(tmp_path: Path) -> None:
    release = sdp.release(np.arange(20), epsilon="0.25", contribution=3)
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    np.testing.assert_array_equal(again.values, release.values)
    assert again.spent == sdp.Budget(epsilon="0.25")
    assert again.guarantee == release.guarantee
    assert again.mechanism == release.mechanism
    assert again.recovery == release.recovery


def test_paths_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    release = sdp.release(np.arange(20), epsilon=1)
    with pytest.raises(InvalidInput, match=r"ending in \.csv; give one ending in \.parquet"):
        release.save(tmp_path / "x.csv")
    with pytest.raises(BadFile, match="is a folder"):
        sdp.open_release(tmp_path)
    with pytest.raises(InvalidInput, match="path is of type NoneType"):
        sdp.open_release(None)  # type: ignore[arg-type]


def test_pandas_opens_it_as_it_is(tmp_path: Path) -> None:
    release = sdp.release(np.arange(20), epsilon=1)
    frame = pd.read_parquet(release.save(tmp_path / "x.parquet"))
    assert list(frame.columns) == ["cell", "count"]
    np.testing.assert_array_equal(frame["cell"], np.arange(20))
    np.testing.assert_array_equal(frame["count"], release.values)


def test_a_synopsis_is_not_a_release(tmp_path: Path) -> None:
    path = sdp.Laplace().measure([1, 2, 3], epsilon=1).save(tmp_path / "x")
    with pytest.raises(BadFile, match="open it with open_synopsis"):
        sdp.open_release(path)


def test_it_introduces_itself() -> None:
    text = repr(sdp.release([1, 2, 3], epsilon=1))
    assert "3 cells by laplace" in text
    assert "ε = 1" in text
    assert "promised by the caller" in text
