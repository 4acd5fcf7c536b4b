"""Marginals, boxes and intervals by coarsenings, beside plain sums of the release's own values."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.releases.sums import Sums

DOMAIN = sdp.Domain(
    [
        sdp.Calendar("t", "2024-02-28T18:00", "6h", 30),
        sdp.Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels=["state"]),
        sdp.Integers("age", 0, 5, bands={"child": 0, "adult": 2}),
    ]
)
COUNTS = np.random.default_rng(1).poisson(20, DOMAIN.shape)
with noise_from(__name__):
    RELEASES = {name: sdp.release(COUNTS, epsilon=1, domain=DOMAIN, mechanism=name) for name in ("adaptive", "laplace")}

NAMES = [
    *("t", "t.weekday", "t.hour_of_day", "t.hour_of_week", "t.month_of_year", "t.day", "t.week", "t.month"),
    *("county", "county.state", "age", "age.band"),
]
marginals = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True).map(tuple)


def plain_sums(values: Floats, names: tuple[str, ...]) -> Floats:
    """Cell by cell."""
    found = [DOMAIN.part(name) for name in names]
    sums = np.zeros([DOMAIN.shape[axis] if coarse is None else coarse.groups for axis, coarse in found])
    for cell in np.ndindex(*DOMAIN.shape):
        sums[tuple(cell[axis] if coarse is None else coarse.group_of[cell[axis]] for axis, coarse in found)] += values[
            cell
        ]
    return sums


@given(names=marginals, seed=st.integers(0, 9))
def test_sums_of_any_table(names: tuple[str, ...], seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=DOMAIN.shape)
    sums, domain = Sums.named(DOMAIN, names)
    expected = plain_sums(table, names)
    np.testing.assert_allclose(sums.of(table), expected, atol=1e-12)
    assert domain.names == names
    assert domain.shape == sums.lengths == expected.shape
    weights = np.random.default_rng(seed + 1).normal(size=expected.shape)
    spread = sums.spread(weights)
    assert spread.shape == DOMAIN.shape
    assert (spread * table).sum() == pytest.approx((weights * expected).sum())
    cells = plain_sums(np.ones(DOMAIN.shape), names)
    assert (sums.layer is None) == (cells.min() == 0)
    assert sums.fewest <= cells.min()


@given(names=marginals)
def test_a_marginal_has_the_sums_and_the_errors_of_its_cells(names: tuple[str, ...]) -> None:
    _agrees(RELEASES["laplace"], names)


@pytest.mark.parametrize(
    "names",
    [
        ("t.weekday",),
        ("county.state", "t.month", "age.band"),
        ("t.hour_of_day", "t.week", "county"),
        ("age.band", "age"),
        ("county.state", "t.weekday", "t.hour_of_day"),
    ],
    ids=" × ".join,
)
def test_errors_that_go_together(names: tuple[str, ...]) -> None:
    _agrees(RELEASES["adaptive"], names)


def _agrees(release: sdp.Release, names: tuple[str, ...]) -> None:
    marginal = release.marginal(*names)
    np.testing.assert_allclose(marginal.values, plain_sums(release.values, names), atol=1e-9)
    assert marginal.domain is not None
    assert marginal.domain.names == names
    assert marginal.total().estimate == pytest.approx(release.total().estimate)
    sums, _ = Sums.named(DOMAIN, names)
    assert marginal.stderr is not None
    for place in ((0,) * len(names), tuple(length - 1 for length in marginal.shape)):
        weights = np.zeros(marginal.shape)
        weights[place] = 1.0
        cells = sums.spread(weights)
        if cells.any():
            assert marginal.stderr[place] == pytest.approx(np.sqrt(release.known_errors.variance(cells)))
            one, same = release.interval(cells), marginal.interval(weights)
            # Sums of many whole numbers are taken as normal: half a step away at most.
            assert (one.low, one.high) == pytest.approx((same.low, same.high), abs=0.5)
        else:
            assert marginal.values[place] == marginal.stderr[place] == 0


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize(
    ("box", "cells"),
    [
        ({"t.weekday": "Thu"}, ([1, 2, 3, 4, 29], slice(None), slice(None))),
        ({"t.weekday": ["Wed", "Thu"], "t.day": ("2024-02-28", "2024-03-02")}, (slice(0, 5), slice(None), slice(None))),
        ({"t.month": "2024-02", "county.state": "north"}, (slice(0, 5), slice(0, 2), slice(None))),
        ({"county": "north", "age.band": "adult"}, (slice(None), slice(0, 2), slice(2, 6))),
        ({"county": ["a", "c"], "county.state": "north"}, (slice(None), slice(0, 1), slice(None))),
        ({"t.hour_of_day": 18, "t.day": "2024-02-29"}, (slice(4, 5), slice(None), slice(None))),
        ({"t.week": "2024-02-26", "age.band": ["child", "adult"]}, (slice(0, 17), slice(None), slice(None))),
    ],
)
def test_boxes(name: str, box: dict[str, object], cells: tuple[Any, ...]) -> None:
    release = RELEASES[name]
    assert release.box_sum(box) == pytest.approx(release.values[cells].sum())
    found = release.interval(box)
    weights = np.zeros(release.shape)
    weights[cells] = 1.0
    assert found.estimate == pytest.approx(release.values[cells].sum())
    assert (found.low, found.high) == pytest.approx((release.interval(weights).low, release.interval(weights).high))


def test_a_box_in_which_nothing_is() -> None:
    release = RELEASES["laplace"]
    box = {"county": "c", "county.state": "north"}
    assert release.box_sum(box) == 0
    assert release.interval(box).estimate == 0


def test_a_marginal_of_groups_is_saved_and_goes_on(tmp_path: Path) -> None:
    for release in RELEASES.values():
        marginal = release.marginal("t.month", "county.state", "age.band")
        again = sdp.open_release(marginal.save(tmp_path / "x.parquet"))
        assert again.domain == marginal.domain
        np.testing.assert_array_equal(again.values, marginal.values)
        found, same = again.interval({"county.state": "north"}), release.interval({"county": "north"})
        assert (found.low, found.high) == pytest.approx((same.low, same.high), abs=0.5)
        days = release.marginal("t.day", "county")
        np.testing.assert_allclose(days.marginal("t.day.month").values, release.marginal("t.month").values, atol=1e-9)
        np.testing.assert_allclose(days.marginal("county.state").values, release.marginal("county.state").values)


def test_a_saved_release_knows_its_groups(tmp_path: Path) -> None:
    again = sdp.open_release(RELEASES["adaptive"].save(tmp_path / "x.parquet"))
    assert again.domain == DOMAIN
    np.testing.assert_allclose(
        again.marginal("t.weekday", "age.band").values, RELEASES["adaptive"].marginal("t.weekday", "age.band").values
    )


def test_tops_and_shares_of_groups() -> None:
    weekdays = RELEASES["laplace"].marginal("t.weekday")
    assert weekdays.top(1)[0].place == {
        "t.weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[int(weekdays.values.argmax())]
    }
    marginal = RELEASES["laplace"].marginal("t.hour_of_day", "t.day", "age.band")
    with pytest.raises(InvalidInput, match=r"'t\.hour_of_day', whose labels are no numbers; choose one of t\.day\."):
        marginal.cdf("t.hour_of_day")
    assert marginal.cdf("t.day")[-1].share == pytest.approx(1)


def test_means_quantiles_and_shares_along_a_coarsening() -> None:
    domain = [sdp.Calendar("t", "2024-03-01", "1h", 24 * 40), sdp.Categories("sex", ["F", "M"])]
    counts = np.random.default_rng(3).poisson(5, (24 * 40, 2)) + np.tile(np.arange(24), 40)[:, None]
    release = sdp.release(counts, epsilon=1, domain=domain, mechanism="laplace")
    hours = release.values.sum(axis=1).reshape(40, 24).sum(axis=0)
    found = release.mean("t.hour_of_day")
    assert found.estimate == pytest.approx(hours @ np.arange(24) / hours.sum())
    assert found == release.marginal("t.hour_of_day").mean()
    assert release.quantile(0.5, "t.hour_of_day").estimate == int(np.searchsorted(np.cumsum(hours), hours.sum() / 2))
    assert release.cdf("t.month")[0].share == pytest.approx(release.values[: 24 * 31].sum() / release.values.sum())
    alone = release.marginal("t")
    assert alone.mean("t.hour_of_day").estimate == pytest.approx(found.estimate)
    with pytest.raises(InvalidInput, match=r"axis is 't\.weekday', whose labels are no numbers; choose one of t\."):
        release.mean("t.weekday")


def test_sql_over_groups() -> None:
    release = RELEASES["adaptive"]
    found = release.sql("select t_weekday, county_state, sum(count) as n from grouped group by all order by all")
    expected = release.marginal("t.weekday", "county.state")
    assert [row[:2] for row in found][:3] == [("Mon", "north"), ("Mon", "south"), ("Tue", "north")]
    np.testing.assert_allclose([row[2] for row in found], expected.values.ravel())
    for name in NAMES:
        column = name.replace(".", "_")
        (total,) = release.sql(f"select sum(n) from (select sum(count) as n from grouped group by {column})").fetchall()  # noqa: S608
        assert total[0] == pytest.approx(release.total().estimate)
    months = release.sql("select t_month, sum(count) from grouped where t_hour_of_day = 18 group by 1 order by 1")
    both = release.marginal("t.month", "t.hour_of_day").values[:, -1]
    np.testing.assert_allclose([row[1] for row in months], both)
    assert str(months.fetchall()[0][0]) == "2024-02-01 00:00:00"
    assert len(release.sql("from grouped")) == len(release)
    assert release.sql("from grouped limit 1").columns[:5] == ["t", "county", "age", "count", "stderr"]
    weekend = release.sql("select t from GROUPED where t_weekday in ('Sat', 'Sun')").to_pandas()
    assert set(weekend["t"].dt.day_of_week) == {5, 6}


def test_sql_sees_what_it_saw_before() -> None:
    release = RELEASES["adaptive"]
    assert release.sql("from release").columns == release.to_arrow().column_names
    own = sdp.release([1, 2], epsilon=1, domain=["x:a,b"])
    assert release.sql("select x from grouped", {"grouped": own}).fetchall() == [("a",), ("b",)]
    assert sdp.release([1, 2], epsilon=1, domain=["x:a,b"]).sql("from grouped").columns == ["x", "count", "stderr"]
    with pytest.raises(InvalidInput, match=r"grouped"):
        sdp.release([1, 2], epsilon=1).sql("from grouped")
    with pytest.raises(InvalidInput, match=r"`grouped`, whose columns are t, county, .* t_weekday"):
        release.sql("select wekday from grouped")


def test_columns_of_groups_whose_names_are_taken() -> None:
    domain = sdp.Domain(
        [sdp.Categories("a", {"n": ["x"], "s": ["y"]}), sdp.Categories("A_group", ["p", "q"]), sdp.Integers("b", 0, 1)]
    )
    release = sdp.release(np.full((2, 2, 2), 10), epsilon=1, domain=domain)
    assert release.sql("from grouped").columns == ["a", "A_group", "b", "count", "stderr", "a.group"]


def test_labels_that_would_be_sql() -> None:
    bands = {"it's": 0, 'a "b"': 2, "'); drop view release; --": 4, "\n": 5, "$1 ?": 6}
    labels = sdp.Categories('x"y', {"it's": ["a'"], "')": ["b"]}, levels=["state"], ordered=True)
    for shown in (bands, {name: begin for name, begin in bands.items() if name != "\n"}):
        release = sdp.release(
            np.arange(16).reshape(8, 2) + 9, epsilon=9, domain=[sdp.Integers("age", 0, 7, shown), labels]
        )
        found = release.sql("select age_band, sum(count) from grouped group by 1").fetchall()
        assert {row[0] for row in found} == set(shown)
        assert release.sql('select "x""y_state" from grouped limit 2').fetchall() == [("it's",), ("')",)]


def test_groups_in_utc() -> None:
    release = sdp.release(np.full(72, 9), epsilon=1, domain=sdp.Calendar("t", "2024-01-01T00:00Z", "1h", 72))
    found = release.sql("select distinct t_day from grouped order by 1").to_arrow()
    assert str(found.schema.field("t_day").type) == "timestamp[us, tz=UTC]"


def test_parts_that_cannot_be_meant() -> None:
    release = RELEASES["laplace"]
    with pytest.raises(UnknownName, match=r"did you mean 't\.weekday'"):
        release.marginal("t.wekday")
    with pytest.raises(InvalidInput, match="axes is named twice"):
        release.marginal("t.weekday", "t.weekday")
    with pytest.raises(UnknownName, match=r"t\.weekday is 'Sar'"):
        release.box_sum({"t.weekday": "Sar"})
    with pytest.raises(UnknownName, match="axis is 'weekday'"):
        release.interval({"weekday": "Sat"})
