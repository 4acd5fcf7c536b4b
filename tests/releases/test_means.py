"""Means of a summed value, by groups: what is divided, which range they have, and what has none."""

from fractions import Fraction
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from repeatable_noise import made_once
from sparsedp.arrays import Floats
from sparsedp.axes.domain import Domain, Quantity
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.releases.means import _MOST_GROUPS, caveat
from sparsedp.releases.uncertainty import normal_quantile

DOMAIN = Domain.of(["ward:north,east,south", "day:2024-01-01..2024-02-29/1d"])
CLAMP = (0, 500)


def counted(records: Any, totals: Any, domain: Domain = DOMAIN, clamp: tuple[int, int] = CLAMP) -> Counts:
    """So many records with these totals, each another person's."""
    most, bounds = max(map(abs, clamp)), (Fraction(clamp[0]), Fraction(clamp[1]))
    counts = Counts(np.array(records, np.int64), domain, 1, ("who",), 1)
    quantity = Quantity("cost", Fraction(1), bounds)
    negative = clamp[0] < 0
    return Counts(np.array(totals, np.int64), domain, most, ("who",), 1, quantity, negative, counts=counts)


@made_once
def truth() -> tuple[Any, Any]:
    chance = np.random.default_rng(0)
    records = chance.poisson(np.array([30.0, 12.0, 3.0])[:, None], DOMAIN.shape)
    totals = [[np.minimum(chance.lognormal(4, 1, n), 500).astype(np.int64).sum() for n in row] for row in records]
    return records, np.array(totals)


@made_once
def release() -> sdp.Release:
    return sdp.release(counted(*truth()), epsilon=1)


def test_a_mean_is_the_total_over_the_count_as_sql_has_them() -> None:
    found = release().mean(by="ward")
    assert [each.place for each in found] == [{"ward": "north"}, {"ward": "east"}, {"ward": "south"}]
    asked = release().sql("select ward, sum(cost) / sum(count) as mean from release group by ward")
    by_ward = dict(asked.fetchall())
    for each in found:
        assert each.interval.estimate == pytest.approx(by_ward[each.place["ward"]])
        assert 0 <= each.interval.low <= each.interval.estimate <= each.interval.high <= 500
    counts = release().counts
    assert counts is not None
    whole: Any = release().mean()
    assert whole.estimate == pytest.approx(release().values.sum() / counts.values.sum())


def test_groups_are_axes_coarsenings_and_several_of_them() -> None:
    months = release().mean(by="day.month")
    assert [str(each.place["day.month"])[:7] for each in months] == ["2024-01", "2024-02"]
    both = release().mean(by=["ward", "day.month"])
    assert len(both) == 6
    assert list(both[0].place) == ["ward", "day.month"]
    marginal = release().marginal("ward", "day.month")
    same = marginal.mean(by=["ward", "day.month"])
    assert [each.interval.low for each in same] == pytest.approx([each.interval.low for each in both])


def test_sql_has_a_table_of_means() -> None:
    found = release().sql("select * from means('ward')")
    assert found.columns == ["ward", "mean", "low", "high"]
    expected = [
        (each.place["ward"], each.interval.estimate, each.interval.low, each.interval.high)
        for each in release().mean(by="ward")
    ]
    assert found.fetchall() == expected
    joined = "select ward, total, low from release join Means ( 'ward' ) using (ward)"
    assert len(release().sql(joined)) == len(release())
    months = release().sql("select day_month, ward, mean from means('ward, day.month') order by all limit 1").fetchone()
    assert months is not None
    assert (str(months[0])[:7], months[1]) == ("2024-01", "east")
    with pytest.raises(InvalidInput, match="did you mean 'ward'"):
        release().sql("select * from means('wrd')")
    with pytest.raises(InvalidInput, match=r"^query is refused"):
        release().sql("select * from means(ward) from release")


def test_the_column_of_sums_goes_by_the_name_of_the_value_too() -> None:
    asked = release().sql("select sum(cost), sum(total), sum(COST) from release").fetchone()
    assert asked is not None
    assert asked[0] == asked[1] == asked[2]
    assert "cost" not in release().sql("select * from release").columns
    assert release().sql("select sum(cost) from grouped where day_month < '2024-02-01'").fetchone()


# The range: all means that the noise leaves plausible.


def fieller(total: float, count: float, of_total: float, of_count: float, level: float) -> tuple[float, float]:
    """The textbook's, of two independent normal errors with these deviations; nothing is clamped."""
    known = normal_quantile(level) ** 2
    a, b, c = count**2 - known * of_count**2, total * count, total**2 - known * of_total**2
    half = sqrt(b**2 - a * c)
    return (b - half) / a, (b + half) / a


def made_of(total: float, count: float, of_total: float, of_count: float, clamp: tuple[int, int]) -> Any:
    """A release of one cell with such estimates and normal errors."""
    from dataclasses import replace

    from sparsedp.releases.error_models import IndependentCells

    one = Domain.of(["ward:north,"])
    found = sdp.release(counted([5], [5], one, clamp), epsilon=1, mechanism="laplace")
    assert found.counts is not None
    counts = replace(
        found.counts, values=np.array([count]), uncertainty=IndependentCells(np.array([of_count**2])), nonnegative=False
    )
    return replace(
        found,
        values=np.array([total]),
        uncertainty=IndependentCells(np.array([of_total**2])),
        counts=counts,
        nonnegative=False,
    )


@given(mean=st.floats(-80, 80), count=st.floats(30, 1000), of_total=st.floats(1, 1000), of_count=st.floats(0.01, 10))
def test_beside_normal_noise_it_is_fiellers(mean: float, count: float, of_total: float, of_count: float) -> None:
    found = made_of(mean * count, count, of_total, of_count, (-(10**6), 10**6)).mean()
    low, high = fieller(mean * count, count, of_total, of_count, 0.95)
    assert found.low == pytest.approx(low, abs=5 + 0.01 * (high - low))
    assert found.high == pytest.approx(high, abs=5 + 0.01 * (high - low))


def chance_beyond(mean: float, reach: float, of_total: Fraction, of_count: Fraction) -> float:
    """P(|X − mean·Y| > reach) of two discrete Laplace variables with these scales, by summing over all of them."""
    laws = [DiscreteLaplaceLaw(scale) for scale in (of_total, of_count)]
    farthest = [law.quantile(1 - 1e-9) for law in laws]
    xs, ys = (np.arange(-far, far + 1) for far in farthest)
    of_x, of_y = ([law.pmf(int(each)) for each in one] for law, one in zip(laws, (xs, ys), strict=True))
    chances = np.outer(np.array(of_x), np.array(of_y))
    return float(chances[np.abs(xs[:, None] - mean * ys[None, :]) > reach].sum())


@pytest.mark.parametrize("clamp", [(0, 60), (-60, 40)], ids=str)
def test_what_is_guaranteed_ends_where_the_exact_law_of_both_noises_does(clamp: tuple[int, int]) -> None:
    one, epsilon = Domain.of(["ward:north,"]), Fraction(2)
    sums, counts = 60 / (epsilon * Fraction(3, 4)), 1 / (epsilon * Fraction(1, 4))
    found = sdp.release(counted([40], [40 * 9], one, clamp), epsilon=epsilon, mechanism="laplace")
    assert found.counts is not None
    mean: Any = found.mean(kind="guaranteed")
    assert mean.kind == "guaranteed"
    total, count = float(found.values[0]), float(found.counts.values[0])
    for end in (mean.low, mean.high):
        if clamp[0] < end < clamp[1]:
            apart = abs(total - end * count)
            step = 1 + abs(end)  # the law has steps
            assert chance_beyond(end, apart + step, sums, counts) <= 0.0501
            assert chance_beyond(end, max(0.0, apart - step), sums, counts) >= 0.0499
    least, middle = clamp[0], min(max(total / count, clamp[0]), clamp[1]) if count > 0 else clamp[0]
    for inside in np.linspace(mean.low, mean.high, 5):
        apart = abs(total - inside * count)
        assert chance_beyond(inside, apart - 1 - abs(inside), sums, counts) >= 0.0499
    assert least <= mean.low <= middle <= mean.high


def test_guaranteed_ranges_are_of_groups_and_files_and_the_shell_too(tmp_path: Path) -> None:
    opened = sdp.open_release(release().save(tmp_path / "a.parquet"))
    for by in ("ward", ["ward", "day.month"]):
        found = release().mean(by=by, kind="guaranteed")
        assert [each.interval for each in opened.mean(by=by, kind="guaranteed")] == [each.interval for each in found]
        for each in found:
            assert 0 <= each.interval.low <= each.interval.estimate <= each.interval.high <= 500
    with pytest.raises(InvalidInput, match="for the mean of an axis"):
        counts_alone().mean(kind="guaranteed")
    with pytest.raises(InvalidInput, match="kind"):
        release().mean(by="ward", kind="sure")


def test_it_never_leaves_the_clamp_and_says_where_nothing_is_known() -> None:
    nothing: Any = made_of(50.0, 1.0, 50.0, 5.0, (0, 500)).mean()
    assert (nothing.low, nothing.high) == (0.0, 500.0)
    none: Any = made_of(0.0, 0.0, 50.0, 5.0, (0, 500)).mean()
    assert isnan(none.estimate)
    assert (none.low, none.high) == (0.0, 500.0)
    much: Any = made_of(49_000.0, 100.0, 2000.0, 1.0, (0, 500)).mean()
    assert much.high == 500.0
    assert 440 < much.low < much.estimate == 490


def test_the_sentence_beside_it_names_the_clamp() -> None:
    assert "clamped to 0 to 500" in caveat(release())
    assert "says nothing of what clamping changed" in caveat(release())


@pytest.mark.parametrize("kind", ["likely", "guaranteed"])
@pytest.mark.parametrize("mechanism", ["adaptive", "laplace"])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.1"}, {"epsilon": "0.2"}], ids=str)
def test_ranges_hold_the_mean_of_skewed_values(kind: str, mechanism: str, budget: dict[str, Any]) -> None:
    """40 releases, three wards each: of 120 ranges at 95 %, fewer than 100 hold in one of 10⁸ runs."""
    records, totals = (table.sum(axis=1) for table in truth())
    domain = Domain([DOMAIN.axis("ward")])
    means, held = totals / records, 0
    for _ in range(40):
        release = sdp.release(counted(records, totals, domain), mechanism=mechanism, **budget)
        found = release.mean(by="ward", kind=kind)
        held += sum(each.interval.low <= mean <= each.interval.high for each, mean in zip(found, means, strict=True))
    assert held >= 100


def test_wrong_totals_are_not_held() -> None:
    """The same comparison fails where the truth is another: by a tenth."""
    records, totals = (table.sum(axis=1) for table in truth())
    domain = Domain([DOMAIN.axis("ward")])
    found = sdp.release(counted(100 * records, 100 * totals, domain), epsilon=1).mean(by="ward")
    for each, mean in zip(found, totals / records, strict=True):
        assert not each.interval.low <= 1.1 * mean <= each.interval.high


# What is refused.


def counts_alone() -> sdp.Release:
    return sdp.release(np.arange(3), epsilon=1, domain=["ward:north,east,south"])


WRONG: list[tuple[Any, str]] = [
    ({"by": "wrd"}, "did you mean 'ward'"),
    ({"by": []}, "by is empty; name one of ward, day"),
    ({"by": 3}, "by is of type int"),
    ({"by": ["ward", 3]}, "by is of type list"),
    ({"by": ["ward", "ward"]}, "named twice"),
    ({"by": "ward", "axis": "day"}, "by is given beside the axis 'day'"),
    ({"by": "ward", "level": 2}, "level is 2"),
    ({"axis": "ward"}, "labels"),
]


@pytest.mark.parametrize(("asked", "said"), WRONG, ids=str)
def test_what_has_no_mean_is_told_why(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        release().mean(**asked)


def test_a_release_without_counts_or_without_sums_is_told_how_to_get_them() -> None:
    with pytest.raises(InvalidInput, match=r"^release is one of counts alone; .*with_counts=True"):
        counts_alone().mean(by="ward")
    sums = counted(*truth())
    alone = Counts(sums.values.copy(), DOMAIN, 500, ("who",), 1, sums.quantity)
    with pytest.raises(InvalidInput, match=r"^release is one of sums alone"):
        sdp.release(alone, epsilon=1).mean(by="ward")
    with pytest.raises(InvalidInput, match=r"^release is one of sums alone"):
        sdp.release(alone, epsilon=1).sql("select * from means('ward')")


def test_very_many_groups_are_refused_before_any_is_asked() -> None:
    domain = Domain.of([f"cell:0..{_MOST_GROUPS}"])
    zeros: Floats = np.zeros(_MOST_GROUPS + 1)
    many = sdp.release(counted(zeros, zeros, domain), epsilon=1, mechanism="laplace")
    with pytest.raises(InvalidInput, match=f"by is {_MOST_GROUPS + 1:,} groups"):
        many.mean(by="cell")
