"""Sums over whole axes: a release of its own, whose errors are those of the cells it adds up."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.errors import InvalidInput
from sparsedp.releases.uncertainty import CellErrors

DOMAIN = sdp.Domain(
    [sdp.Categories("sex", ["F", "M"]), sdp.Calendar("day", "2024-01-01", "1d", 5), sdp.Bins("age", [0, 18, 65, 120])]
)
COUNTS = np.random.default_rng(1).poisson(20, DOMAIN.shape)
with noise_from(__name__):
    RELEASES = {name: sdp.release(COUNTS, epsilon=1, domain=DOMAIN, mechanism=name) for name in ("adaptive", "laplace")}
AXES = [axes for length in (1, 2, 3) for axes in permutations(DOMAIN.names, length)]


@pytest.mark.parametrize("axes", AXES, ids=" × ".join)
@pytest.mark.parametrize("name", RELEASES)
def test_it_answers_as_the_release_it_is_made_of(name: str, axes: tuple[str, ...]) -> None:
    release = RELEASES[name]
    marginal = release.marginal(*axes)
    assert marginal.domain is not None
    assert marginal.domain.names == axes
    assert marginal.guarantee == release.guarantee
    letters = {"sex": "a", "day": "b", "age": "c"}
    expected = np.einsum(f"abc->{''.join(letters[axis] for axis in axes)}", release.values)
    np.testing.assert_allclose(marginal.values, expected)
    for box in ({axis: slice(1, 3) for axis in axes}, {axes[0]: slice(0, 1)}, {}):
        whole, found = release.interval(box), marginal.interval(box)
        assert (found.low, found.high, found.estimate) == pytest.approx((whole.low, whole.high, whole.estimate))
    weights = np.random.default_rng(2).normal(size=marginal.shape)
    order = "".join(letters[axis] for axis in axes)
    cells = np.einsum(f"{order},abc->abc", weights, np.ones(DOMAIN.shape))
    assert marginal.interval(weights).high == pytest.approx(release.interval(cells).high)
    assert marginal.stderr is not None
    place = tuple(0 for _ in axes)
    one = release.known_errors.variance(np.einsum(f"{order},abc->abc", _first(marginal.shape), np.ones(DOMAIN.shape)))
    assert marginal.stderr[place] == pytest.approx(np.sqrt(one))


def _first(shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    weights = np.zeros(shape)
    weights[(0,) * len(shape)] = 1.0
    return weights


def test_a_marginal_of_a_marginal(tmp_path: Path) -> None:
    release = RELEASES["adaptive"]
    twice, once = release.marginal("age", "sex").marginal("sex"), release.marginal("sex")
    np.testing.assert_allclose(twice.values, once.values)
    assert twice.interval("F").high == pytest.approx(once.interval("F").high)
    again = sdp.open_release(twice.save(tmp_path / "x.parquet"))
    assert again.interval("F").high == pytest.approx(once.interval("F").high)


def test_independent_errors_add_up(tmp_path: Path) -> None:
    marginal = RELEASES["laplace"].marginal("day")
    assert marginal.stderr is not None
    cell = RELEASES["laplace"].stderr
    assert cell is not None
    np.testing.assert_allclose(marginal.stderr, np.sqrt(6) * cell[0, 0, 0])
    again = sdp.open_release(marginal.save(tmp_path / "x.parquet"))
    assert again.interval((0, 3)) == marginal.interval((0, 3))


def test_of_cells_whose_errors_go_together_in_an_unknown_way(tmp_path: Path) -> None:
    """The sums are there, and saved; their errors are not."""
    known = RELEASES["adaptive"].stderr
    assert known is not None
    release = replace(RELEASES["adaptive"], uncertainty=CellErrors(known), synopsis=None)
    marginal = release.marginal("sex")
    assert marginal.stderr is None
    with pytest.raises(InvalidInput, match="query is about 15 cells, and this release keeps only the error of each"):
        marginal.interval("F")
    again = sdp.open_release(marginal.save(tmp_path / "x.parquet"))
    np.testing.assert_array_equal(again.values, marginal.values)
    assert again.uncertainty is None


def test_axes_that_cannot_be_meant() -> None:
    release = RELEASES["laplace"]
    with pytest.raises(InvalidInput, match="axes is missing; name one of sex, day, age; the sum of all is `total`"):
        release.marginal()
    with pytest.raises(InvalidInput, match="axes is named twice"):
        release.marginal("sex", "sex")
    with pytest.raises(InvalidInput, match="axis is 'year'"):
        release.marginal("year")
    with pytest.raises(InvalidInput, match=r"axis is of type list; choose one of sex, day, age\."):
        release.marginal(["sex", "day"])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="asked of a release without a domain"):
        sdp.release([1, 2, 3], epsilon=1).marginal("cell")
