"""Means, quantiles and cumulative shares: right without noise, and as wide as they say with it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.releases.distribution import TimeInterval, mean_caveat, spread
from sparsedp.releases.error_models import IndependentCells
from sparsedp.releases.uncertainty import CellErrors, Interval, Uncertainty

GUARANTEE = Guarantee((Expense("measure", sdp.Budget(epsilon="0.5")),), Neighbours(), private=True)
LAW = DiscreteLaplaceLaw(Fraction(3))
Values = npt.NDArray[np.float64]


def release_of(values: Values, errors: Uncertainty | None = None, **more: Any) -> sdp.Release:
    """Without an uncertainty it is taken to be certain."""
    known = IndependentCells(np.zeros(values.shape)) if errors is None else errors
    recovery = {"name": "direct", "status": "computed"}
    return sdp.Release(
        values, GUARANTEE, "laplace", LAW.describe(), recovery, uncertainty=known, **{"nonnegative": True, **more}
    )


HOURS = sdp.Domain([sdp.Categories("sex", ["F", "M"]), sdp.Integers("hour", 5, 14)])
counts = st.lists(st.integers(0, 9), min_size=20, max_size=20).filter(any)


def repeated(values: Values) -> npt.NDArray[np.int64]:
    """The hours of all records, one by one."""
    return np.repeat(np.tile(np.arange(5, 15), 2), values.astype(int))


def test_shares_that_noise_took_below_zero_or_above_one_lie_in_their_intervals() -> None:
    values = np.array([-50.0, 0.0, 100.0, 40.0, 50.0, -40.0, 10.0])
    for point in release_of(values, IndependentCells.of_law(LAW, values.shape)).cdf():
        assert 0 <= point.low <= point.share <= point.high <= 1


def test_a_mean_over_bins_says_what_it_cannot_know() -> None:
    ages = sdp.Domain([sdp.Bins("age", [0, 18, 65, 120]), sdp.Integers("hour", 5, 6)])
    release = release_of(np.ones((3, 2)), domain=ages)
    said = mean_caveat(release, "age")
    assert said is not None
    assert "taken to lie in its middle" in said
    assert "at most half the width of the widest cell" in said
    # Were all at the left edges, or all at the right ones, the true mean would be that far off at most.
    truths = [np.mean([0, 18, 65]), np.mean([18, 65, 120])]
    assert np.abs(np.array(truths) - release.mean("age").estimate).max() <= 55 / 2
    assert mean_caveat(release, "hour") is None
    assert mean_caveat(release_of(np.ones(5)), None) is None
    assert mean_caveat(replace(release_of(np.ones(5)), time=Schedule("2026-01-01", "1d")), None) is not None


@given(counts)
def test_without_noise_they_are_those_of_the_records(cells: list[int]) -> None:
    values = np.array(cells, dtype=float)
    release, records = release_of(values.reshape(2, 10), domain=HOURS), repeated(values)
    mean = release.mean("hour")
    assert mean.estimate == pytest.approx(records.mean())
    variance = release.variance("hour")
    assert variance.low == variance.high == variance.estimate == pytest.approx(records.var(), abs=1e-9)
    assert (mean.low, mean.high) == (mean.estimate, mean.estimate)
    for q in ("0.25", "0.5", "0.9"):
        exact = np.sort(records)[ceil(Fraction(q) * len(records)) - 1]
        assert release.quantile(q, "hour") == Interval(exact, exact, exact, 0.95)
    for point in release.cdf("hour"):
        assert point.share == pytest.approx((records <= point.position).mean())
        assert point.low == pytest.approx(point.high) == pytest.approx(point.share)
        assert isinstance(point.position, int)


def test_a_variance_holds_all_that_noise_leaves_plausible() -> None:
    """Also where the mean may be off by more than the records are apart."""
    ages = sdp.Domain([sdp.Integers("age", 0, 99)])
    truth = 50.0 * np.exp(-((np.arange(100) - 40) ** 2) / 200)
    variance = float(truth @ (np.arange(100) - truth @ np.arange(100) / truth.sum()) ** 2 / truth.sum())
    held = 0
    for seed in range(60):
        noise = np.random.default_rng(seed).laplace(0, 3, 100)
        found = release_of(truth + noise, IndependentCells.of_law(LAW, (100,)), domain=ages).variance()
        assert 0 <= found.low <= found.estimate <= found.high <= 99**2 / 4
        held += found.low <= variance <= found.high
    assert held >= 55
    little = release_of(np.full(100, 0.1), IndependentCells.of_law(LAW, (100,)), domain=ages).variance()
    assert (little.low, little.high) == (0.0, 99**2 / 4)


def test_what_has_no_variance_is_told_why() -> None:
    days = sdp.Domain([sdp.Calendar("day", "2026-01-01", "1d", 3), sdp.Categories("sex", ["F", "M"])])
    release = release_of(np.ones((3, 2)), domain=days)
    with pytest.raises(InvalidInput, match="whose places are times; ask for two quantiles"):
        release.variance("day")
    with pytest.raises(InvalidInput, match="whose labels have no order"):
        release.variance("sex")
    with pytest.raises(InvalidInput, match="nothing is left above the noise"):
        release_of(np.zeros(5)).variance()


def test_bins_have_middles_and_edges() -> None:
    release = release_of(np.array([1.0, 2.0, 1.0]), domain=sdp.Domain(sdp.Bins("age", [0, 10, 30, 100])))
    assert release.mean().estimate == (5 + 2 * 20 + 65) / 4
    median = release.quantile("0.5")
    assert median == Interval(10, 30, 20, 0.95)
    assert [(point.position, point.share) for point in release.cdf()] == [(10, 0.25), (30, 0.75), (100, 1.0)]


def test_calendars_have_times() -> None:
    days = sdp.Domain(sdp.Calendar("day", "2024-01-01", "1d", 4))
    release = release_of(np.array([0.0, 1.0, 1.0, 0.0]), domain=days)
    mean = release.mean()
    assert isinstance(mean, TimeInterval)
    assert mean.estimate == datetime(2024, 1, 3)
    assert release.quantile("0.75").estimate == datetime(2024, 1, 3, 12)
    assert release.quantile("0.25").low == datetime(2024, 1, 2)
    assert [point.position for point in release.cdf()] == [datetime(2024, 1, day) for day in (2, 3, 4, 5)]
    assert str(mean) == "2024-01-03 00:00:00 [2024-01-03 00:00:00, 2024-01-03 00:00:00] at 0.95"
    stream = replace(release_of(np.array([0.0, 1.0])), time=Schedule("2024-01-01T00:00Z", "1h"))
    assert stream.mean().estimate == datetime(2024, 1, 1, 1, 30, tzinfo=UTC)


def test_rows_without_a_calendar_have_numbers() -> None:
    release = release_of(np.array([0.0, 1.0, 0.0, 1.0]))
    assert release.mean().estimate == replace(release, time=Schedule()).mean().estimate == 2.0
    assert release.quantile("0.5").estimate == 1


RUNS = 250
Judge = Callable[[sdp.Release, Values], bool]


def holds(interval: Any, truth: float) -> bool:
    return bool(interval.low - 1e-9 <= truth <= interval.high + 1e-9)


JUDGES: dict[str, tuple[Judge, float]] = {
    "mean": (lambda release, values: holds(release.mean("hour"), float(repeated(values).mean())), 1.0),
    "median": (
        lambda release, values: holds(release.quantile("0.5", "hour"), float(np.median(repeated(values)))),
        1.01,
    ),
    "a tenth": (
        lambda release, values: holds(release.quantile("0.1", "hour"), float(np.quantile(repeated(values), 0.1))),
        1.01,
    ),
    "a share": (
        lambda release, values: holds(release.cdf("hour", points=4)[1], float((repeated(values) <= 8).mean())),
        1.0,
    ),
    "total": (lambda release, values: holds(release.total(), values.sum()), 1.0),
}


def judged(judge: Judge, size: float, level: float, narrower: float = 1.0) -> float:
    """How often the intervals hold the truth, over fresh noise on the same cells."""
    generator = np.random.default_rng(5)
    values = generator.poisson(size, 20).astype(float)
    far = LAW.quantile(1 - 1e-12)
    chances = np.array([LAW.pmf(x) for x in range(-far, far + 1)])
    noise = generator.choice(np.arange(-far, far + 1), (RUNS, 20), p=chances / chances.sum())
    errors = IndependentCells.of_law(LAW, (2, 10))
    if narrower != 1.0:
        errors = IndependentCells(errors.variances * narrower**2)
    found = []
    for row in noise:
        release = release_of((values + row).reshape(2, 10), errors, domain=HOURS)
        found.append(judge(release, values))
    return float(np.mean(found))


@pytest.mark.parametrize("size", [4, 60], ids=["faint", "clear"])
@pytest.mark.parametrize(("judge", "most"), JUDGES.values(), ids=JUDGES.keys())
def test_they_hold_the_truth_as_often_as_they_say(judge: Judge, most: float, size: float) -> None:
    """Quantiles fall on whole cells and so hold more often; of faint counts Fieller's are cut at the axis' ends."""
    spread_of_share = 4 * np.sqrt(0.95 * 0.05 / RUNS)
    share = judged(judge, size, 0.95)
    assert 0.95 - spread_of_share <= share <= most


def test_narrower_ones_would_be_seen() -> None:
    assert judged(JUDGES["mean"][0], 60, 0.95, narrower=0.6) < 0.9
    assert judged(JUDGES["a share"][0], 60, 0.95, narrower=0.6) < 0.9


def test_of_the_default_mechanism_they_hold_too() -> None:
    """Shrunk estimates, with errors that go together: over records drawn anew from one shape."""
    chances = np.exp(-0.5 * ((np.arange(256) - 100) / 30) ** 2)
    generator, held = np.random.default_rng(4), []
    for run in range(24):
        values = generator.multinomial(3000, chances / chances.sum())
        release = sdp.Adaptive().release(values, epsilon="0.2", source=SeededSource(run))
        records = np.repeat(np.arange(256), values)
        held.append(
            [
                holds(release.mean(), records.mean()),
                holds(release.quantile("0.5"), float(np.median(records))),
                holds(release.total(), 3000),
            ]
        )
    assert (np.mean(held, axis=0) >= 0.8).all()


def test_an_unsure_total_widens_the_mean() -> None:
    """Fieller's interval is not symmetric, and has no end where the total may be zero."""
    values = np.array([12.0, 6.0, 2.0])
    errors = IndependentCells(np.array([16.0, 16.0, 16.0]))
    found = release_of(values, errors).mean()
    assert isinstance(found, Interval)
    assert found.low == 0.0
    assert 2 * found.estimate < found.high < 2.0
    unsure = IndependentCells(np.array([100.0, 100.0, 100.0]))
    assert release_of(values, unsure).mean() == Interval(0.0, 2.0, 0.5, 0.95)
    with pytest.raises(InvalidInput, match="of a total that cannot be told from zero"):
        release_of(values, unsure, nonnegative=False).mean()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_fiellers_interval_is_where_the_difference_may_be_zero(level: float) -> None:
    """By its definition: all r with 0 in the interval of Σ (position − r)·cells."""
    values, errors = np.array([30.0, 20.0, 10.0, 25.0]), IndependentCells(np.array([9.0, 4.0, 16.0, 1.0]) * 2)
    release = release_of(values, errors, nonnegative=False)
    found = release.mean(level=level)
    assert isinstance(found, Interval)
    for end, inside in ((found.low, 1e-6), (found.high, -1e-6)):
        within, beyond = (release.interval(np.arange(4.0) - (end + step), level) for step in (inside, -inside))
        assert within.low <= 0 <= within.high
        assert not beyond.low <= 0 <= beyond.high


def test_long_axes_have_fewer_points() -> None:
    release = release_of(np.ones(5000))
    assert len(release.cdf()) == 512
    assert [point.position for point in release.cdf(points=3)] == [0, 2500, 4999]
    assert len(release.cdf(points=5000)) == 5000
    assert release.cdf()[-1].share == 1.0
    assert spread(10, 20).tolist() == list(range(10))


def test_a_quantile_between_points_is_a_little_wide() -> None:
    """Exact at every cell, and as wide as the neighbours' on a long axis."""
    values = np.random.default_rng(1).poisson(30, 3000).astype(float)
    errors = IndependentCells.of_law(LAW, (3000,))
    found = release_of(values, errors).quantile("0.5")
    above = np.cumsum(values) - values.sum() / 2
    half = [1.959964 * np.sqrt(errors.variance(np.where(np.arange(3000) <= cell, 0.5, -0.5))) for cell in range(3000)]
    exact = int(np.argmax(above + half >= 0)), 1 + int(np.flatnonzero(above - half < 0)[-1])
    assert isinstance(found, Interval)
    assert exact[0] - 2 <= found.low <= exact[0] <= exact[1] <= found.high <= exact[1] + 2


REFUSED: list[tuple[Callable[[sdp.Release], object], str]] = [
    (lambda release: release.mean(), "axis is missing; choose one of sex, hour"),
    (lambda release: release.mean("sex"), "axis is 'sex', whose labels have no order; choose one of hour"),
    (lambda release: release.cdf("sex"), "axis is 'sex', whose labels have no order"),
    (lambda release: release.quantile("0.5", "age"), "axis is 'age', which is not known"),
    (lambda release: release.quantile(1, "hour"), "q is 1; give a number between 0 and 1"),
    (lambda release: release.quantile("x", "hour"), "q is 'x'"),
    (lambda release: release.mean("hour", level=1), "level is 1"),
    (lambda release: release.cdf("hour", points=1), "points is 1; give a whole number of at least 2"),
    (lambda release: replace(release, values=-release.values).mean("hour"), "release is of a total that cannot"),
    (lambda release: replace(release, uncertainty=None).mean("hour"), "release is without an estimate of its error"),
    (
        lambda release: replace(release, uncertainty=CellErrors(np.ones((2, 10)))).mean("hour"),
        "query is about 20 cells, and this release keeps only the error of each",
    ),
]


@pytest.mark.parametrize(("ask", "complaint"), REFUSED, ids=[complaint for _, complaint in REFUSED])
def test_questions_that_cannot_be_answered(ask: Callable[[sdp.Release], object], complaint: str) -> None:
    release = release_of(np.ones((2, 10)), domain=HOURS)
    with pytest.raises(InvalidInput) as found:
        ask(release)
    assert str(found.value).startswith(complaint)


def test_bins_without_an_end() -> None:
    release = release_of(np.array([1.0, 5.0]), domain=sdp.Domain(sdp.Bins("age", [0, 65, np.inf])))
    with pytest.raises(InvalidInput, match="axis is 'age', which has a bin without an end"):
        release.mean()
    with pytest.raises(InvalidInput, match="the quantile lies in its bin from 65 without an end"):
        release.quantile("0.5")
    assert release.quantile("0.1").estimate == pytest.approx(39.0)
    assert release.cdf()[-1].position == np.inf
    unsure = release_of(np.array([5.0, 5.0]), IndependentCells(np.array([4.0, 4.0])), domain=release.domain)
    found = unsure.quantile("0.45")
    assert isinstance(found, Interval)
    assert [found.low, found.high] == [0.0, np.inf]
    assert found.estimate == pytest.approx(58.5)


def test_an_axis_of_a_row_is_not_named() -> None:
    with pytest.raises(InvalidInput, match="axis is 'hour'; leave it out"):
        release_of(np.ones(3)).mean("hour")
