"""Intervals: they hold the truth as often as they say, and they refuse what nobody knows."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.axes import Bins, Categories
from sparsedp.axes.domain import Domain
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.estimation.bounds import Bound, Bounds
from sparsedp.estimation.noise_sums import NoiseSum
from sparsedp.files import columns_file
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.releases.error_models import IndependentCells
from sparsedp.releases.uncertainty import CellErrors, Interval, Uncertainty, interval_of, normal_quantile

GUARANTEE = Guarantee((Expense("measure", sdp.Budget(epsilon="0.5")),), Neighbours(), private=True)
LAPLACE = DiscreteLaplaceLaw(Fraction(3))
DOMAIN = Domain([Categories("region", ["north", "south"]), Bins("age", [0, 18, 65, 120])])
TABLE = np.arange(6.0).reshape(2, 3)


def release_of(values: npt.NDArray[np.float64], uncertainty: Uncertainty | None, **more: Any) -> sdp.Release:
    recovery = {"name": "direct", "status": "converged"}
    return sdp.Release(values, GUARANTEE, "laplace", LAPLACE.describe(), recovery, uncertainty=uncertainty, **more)


class Correlated:
    """An uncertainty of the outside: known covariance, nothing else."""

    def __init__(self, covariance: npt.NDArray[np.float64], shape: tuple[int, ...]) -> None:
        self.covariance, self.shape = covariance, shape

    def variance(self, weights: npt.NDArray[np.float64]) -> float:
        return float(weights.ravel() @ self.covariance @ weights.ravel())

    def stderr(self) -> npt.NDArray[np.float64]:
        return np.sqrt(np.diag(self.covariance)).reshape(self.shape)


class Lopsided(Correlated):
    """One that knows its quantiles."""

    def interval(self, weights: npt.NDArray[np.float64], estimate: float, level: float) -> tuple[float, float]:
        return estimate - 1, estimate + 10 * level


def drawn(law: IndependentLaw, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """From the law's own probabilities, out to where they vanish."""
    far = law.quantile(1 - 1e-13)
    support = np.arange(-far, far + 1)
    chances = np.array([law.pmf(int(x)) for x in support])
    return np.random.default_rng(11).choice(support, size, p=chances / chances.sum()).astype(np.float64)


WEIGHTS: dict[str, Callable[[int], npt.NDArray[np.float64]]] = {
    "one cell": lambda n: np.eye(n)[0],
    "two cells": lambda n: np.where(np.arange(n) < 2, 1.0, 0.0),
    "a difference": lambda n: np.eye(n)[0] - np.eye(n)[1],
    "five cells, unequal": lambda n: np.where(np.arange(n) < 5, 1.0 + np.arange(n), 0.0),
    "one heavy among many": lambda n: np.where(np.arange(n) == 0, 9.0, 1.0),
    "all cells": np.ones,
}


LAWS: list[IndependentLaw] = [
    LAPLACE,
    DiscreteLaplaceLaw(Fraction(40)),
    DiscreteLaplaceLaw(Fraction(1, 4)),
    DiscreteGaussianLaw(Fraction(100)),
    DiscreteGaussianLaw(Fraction(1, 10)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_coverage_is_the_level(
    law: IndependentLaw, level: float, weights: Callable[[int], npt.NDArray[np.float64]]
) -> None:
    cells, runs = 160, 4000
    asked = weights(cells)
    half = -IndependentCells.of_law(law, (cells,)).interval(asked, 0.0, level)[0]
    errors = np.abs(drawn(law, (runs, cells)) @ asked)
    spread = 4 * np.sqrt(level * (1 - level) / runs)
    # The noise is discrete: the next narrower interval may hold clearly less than the level, never more.
    assert np.mean(errors <= half + 1e-9) >= level - spread - 0.015
    assert np.mean(errors < half * 0.98 - 1 - 1e-9) <= level + spread


def test_too_narrow_intervals_would_be_seen() -> None:
    """Of 70 % of the width: the check above has the power to reject."""
    half = 0.7 * -IndependentCells.of_law(LAPLACE, (160,)).interval(np.ones(160), 0.0, 0.95)[0]
    covered = np.mean(np.abs(drawn(LAPLACE, (4000, 160)).sum(axis=1)) <= half)
    assert covered < 0.95 - 4 * np.sqrt(0.95 * 0.05 / 4000) - 0.015


def test_one_cell_has_the_laws_own_quantile() -> None:
    release = release_of(np.array([5.0, -2.0]), IndependentCells.of_law(LAPLACE, (2,)))
    width = LAPLACE.quantile(0.975)
    assert release.interval(0) == Interval(5.0 - width, 5.0 + width, 5.0, 0.95)
    assert release.interval([0, -2.0]) == Interval(4.0 - 2 * width, 4.0 + 2 * width, 4.0, 0.95)
    assert str(release.interval(0, level="0.9")).endswith("at 0.9")


@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=6, max_size=6))
def test_others_variances_make_normal_intervals(weights: list[float]) -> None:
    root = np.random.default_rng(2).normal(size=(6, 6))
    release = release_of(TABLE, Correlated(root @ root.T, (2, 3)), domain=DOMAIN)
    asked = np.array(weights).reshape(2, 3)
    half = normal_quantile(0.9) * np.linalg.norm(asked.ravel() @ root)
    found = release.interval(asked, level=0.9)
    assert found.estimate == pytest.approx((asked * TABLE).sum())
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half))
    assert release.stderr is not None
    np.testing.assert_allclose(release.stderr.ravel(), np.linalg.norm(root, axis=1))


def test_an_interval_prints_as_people_read_it() -> None:
    assert str(Interval(1.5, 3.25, 2.0, 0.95)) == "2 [1.5, 3.25] at 0.95"
    large = Interval(-21_629_801.4, 21_630_003.0, 123_456.7, 0.9)
    assert str(large) == "123,457 [-21,629,801, 21,630,003] at 0.9"


def test_an_uncertainty_may_bring_its_own_intervals() -> None:
    release = release_of(TABLE, Lopsided(np.eye(6), (2, 3)), domain=DOMAIN)
    assert release.interval((1, 2), level=0.5) == Interval(4.0, 10.0, 5.0, 0.5)


def test_what_cannot_be_below_zero_is_cut_there() -> None:
    values = np.array([1.0, -30.0, 4.0])
    errors = IndependentCells.of_law(LAPLACE, (3,))
    assert release_of(values, errors).interval(0).low < 0
    known = release_of(values, errors, nonnegative=True)
    assert known.interval(0).low == 0
    assert known.interval(0).high == release_of(values, errors).interval(0).high
    assert known.interval(1) == Interval(-30.0, 0.0, -30.0, 0.95)
    assert known.interval([1, 0, -1]).low < 0  # a difference may be below zero


@pytest.mark.parametrize("estimate", [-30.0, -14.0, -1.0, 0.0, 2.0, 40.0])
def test_an_interval_holds_its_own_estimate_and_all_that_is_possible_of_what_it_would_hold(estimate: float) -> None:
    errors = IndependentCells.of_law(LAPLACE, (1,))
    whole = release_of(np.array([estimate]), errors).interval(0)
    cut = release_of(np.array([estimate]), errors, nonnegative=True).interval(0)
    assert cut.low <= cut.estimate == estimate <= cut.high
    assert whole.low <= cut.low <= 0 or cut.low == whole.low
    assert cut.high == max(whole.high, 0.0)


def test_of_nothing_at_all_the_total_lies_in_its_interval() -> None:
    release = sdp.release(np.zeros((20, 30)), epsilon="0.5", mechanism="laplace")
    asked = [release.total(), *(release.interval(place) for place in np.ndindex(20, 30))]
    assert min(each.estimate for each in asked) < 0
    assert all(each.low <= each.estimate <= each.high for each in asked)
    assert all(each.low >= 0 for each in asked if each.estimate >= 0)


def test_every_way_to_ask_on_a_vector() -> None:
    release = release_of(np.arange(10.0), IndependentCells.of_law(LAPLACE, (10,)))
    weights = (np.arange(10) >= 3) & (np.arange(10) < 7)
    expected = release.interval(weights)
    assert release.interval(slice(3, 7)) == release.interval((3, 7)) == expected
    assert release.interval(list(weights * 1.0)) == expected
    assert expected.estimate == release.range_sum(3, 7)
    assert release.interval(-1) == release.interval(9) == release.interval((9, 10)) == release.interval(np.int64(9))
    timed = replace(release, time=Schedule("2026-01-01", "1d"))
    assert timed.interval(("2026-01-04", "2026-01-08")) == expected
    assert timed.interval("2026-01-10") == release.interval(9)


def test_every_way_to_ask_on_a_table() -> None:
    release = release_of(TABLE, IndependentCells.of_law(LAPLACE, (2, 3)), domain=DOMAIN)
    weights = np.array([[0, 0, 0], [1, 1, 0]])
    expected = release.interval(weights)
    assert expected.estimate == 7.0 == release.box_sum(region="south", age=(0, 65))
    assert release.interval({"region": "south", "age": (0, 65)}) == expected
    assert release.interval((1, slice(0, 2))) == release.interval(("south", slice(0, 2))) == expected
    assert release.interval("south") == release.interval({"region": "south"})
    assert release.interval({}).estimate == TABLE.sum()


BAD_QUERIES: list[tuple[Any, str]] = [
    (None, "query is of type NoneType; give a cell"),
    (True, "query is of type bool"),
    (2, "query is outside the cells"),
    ((0, 3), "query is outside the cells"),
    ((0, 1, 2), "query is a place on 3 axes"),
    ((0, 0.5), "query is a place not of cell numbers"),
    ([1, 2, 3], r"query is an array of shape \(3,\)"),
    (np.array([["a"] * 3] * 2), "query is an array of shape"),
    (
        np.full((2, 3), 1e308),
        r"query is weights of up to 1e\+308, .*; give weights whose largest is between 1e-100 and",
    ),
    (np.full((2, 3), -1e160), r"query is weights of up to 1e\+160"),
    (np.full((2, 3), 1e-200), "query is weights of up to 1e-200"),
    ({"ages": 3}, "axis is 'ages'"),
    ({"age": (3, 18)}, "age is cut at 3"),
    ("east", "region is 'east'"),
]


@pytest.mark.parametrize(("query", "complaint"), BAD_QUERIES, ids=[complaint for _, complaint in BAD_QUERIES])
def test_queries_that_cannot_be_meant_are_refused(query: Any, complaint: str) -> None:
    release = release_of(TABLE, IndependentCells.of_law(LAPLACE, (2, 3)), domain=DOMAIN)
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        release.interval(query)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
@pytest.mark.parametrize("mechanism", ["laplace", "adaptive"])
def test_an_interval_scales_with_its_weights(mechanism: str, scale: float) -> None:
    release = sdp.release(np.arange(40), epsilon=1, mechanism=mechanism)
    weights = np.arange(1.0, 41.0)
    plain, scaled = release.interval(weights), release.interval(scale * weights / 40)
    assert [scaled.low * 40, scaled.high * 40] == pytest.approx([plain.low * scale, plain.high * scale], rel=1e-6)
    assert release.query(np.zeros(40)) == 0


def test_a_level_that_is_no_number_is_told_what_would_be_one() -> None:
    with pytest.raises(InvalidInput, match=r"^level is 'x'; give a number between 0 and 1, both excluded\.$"):
        sdp.release([1, 2], epsilon=1).interval(0, level="x")


@pytest.mark.parametrize("level", [0, 1, -1, 2, "a", None, 0.9999999999])
def test_impossible_levels_are_refused(level: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^level is"):
        release_of(TABLE, IndependentCells.of_law(LAPLACE, (2, 3))).interval((0, 0), level=level)


def test_without_an_uncertainty_there_are_no_intervals() -> None:
    release = release_of(np.arange(3.0), None)
    assert release.stderr is None
    with pytest.raises(InvalidInput, match="release is without an estimate of its error"):
        release.interval(0)


def test_a_vector_without_a_domain_has_no_boxes() -> None:
    with pytest.raises(InvalidInput, match="box is asked of a release without a domain"):
        release_of(np.arange(3.0), IndependentCells.of_law(LAPLACE, (3,))).interval({"age": 3})


def test_an_uncertainty_of_other_cells_is_refused() -> None:
    with pytest.raises(InvalidInput, match="uncertainty is of 4 cells"):
        _ = release_of(np.arange(3.0), IndependentCells.of_law(LAPLACE, (4,))).stderr


@pytest.mark.parametrize("variances", [[-1.0], [np.nan], [np.inf]])
def test_impossible_variances_are_refused(variances: list[float]) -> None:
    with pytest.raises(InvalidInput, match="variances is"):
        IndependentCells(np.array(variances))


@pytest.mark.parametrize("law", [LAPLACE, DiscreteGaussianLaw(Fraction(7)), None])
def test_a_file_keeps_all_of_independent_errors(law: IndependentLaw | None, tmp_path: Path) -> None:
    errors = IndependentCells(TABLE + 1) if law is None else IndependentCells.of_law(law, (2, 3))
    release = release_of(TABLE, errors, domain=DOMAIN, nonnegative=True)
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    for query in ((1, 2), {"region": "north"}, np.ones((2, 3))):
        kept, found = release.interval(query), again.interval(query)
        assert (found.low, found.high, found.estimate) == pytest.approx((kept.low, kept.high, kept.estimate))
    assert again.nonnegative


def test_a_file_keeps_each_cells_error_of_any_other(tmp_path: Path) -> None:
    root = np.random.default_rng(2).normal(size=(6, 6))
    release = release_of(TABLE, Correlated(root @ root.T, (2, 3)), domain=DOMAIN)
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    assert isinstance(again.uncertainty, CellErrors)
    assert again.stderr is not None
    assert release.stderr is not None
    np.testing.assert_array_equal(again.stderr, release.stderr)
    kept, found = release.interval((1, 2)), again.interval((1, 2))
    assert (found.low, found.high) == pytest.approx((kept.low, kept.high))
    with pytest.raises(InvalidInput, match="query is about 3 cells, and this release keeps only the error of each"):
        again.interval({"region": "north"})


@pytest.mark.parametrize("law", [{"name": "discrete_laplace", "scale": "4"}, {"name": "gamma"}, {}])
def test_a_law_that_does_not_fit_the_errors_is_refused(law: dict[str, Any], tmp_path: Path) -> None:
    release = release_of(TABLE, IndependentCells.of_law(LAPLACE, (2, 3)), domain=DOMAIN)
    columns, description = columns_file.read(release.save(tmp_path / "x.parquet"), "release")
    description["uncertainty"]["law"] = law
    columns_file.write(tmp_path / "x.parquet", "release", columns, description)
    with pytest.raises(BadFile, match="fields missing"):
        sdp.open_release(tmp_path / "x.parquet")


def test_likely_is_not_wider_than_guaranteed_once_both_are_cut_at_zero() -> None:
    """The noise says at most 29, the model 40: what lies below zero is no reason to hold the model's word."""

    class Known:
        def variance(self, weights: npt.NDArray[np.float64]) -> float:
            return 1.0

        def stderr(self) -> npt.NDArray[np.float64]:
            return np.ones(1)

        def bounds(self, weights: npt.NDArray[np.float64], estimate: float) -> Bounds:
            return Bounds.exactly(Bound(-235.5, NoiseSum.of((DiscreteLaplaceLaw(Fraction(88)), np.ones(1)))))

    likely = interval_of(Known(), np.ones(1), 40.0, 0.95, at_least_zero=True)
    sure = interval_of(Known(), np.ones(1), 40.0, 0.95, at_least_zero=True, kind="guaranteed")
    assert (likely.low, likely.high) == (0.0, sure.high)
    assert likely.high < 40.0
