"""What readers are told of numbers that leave records out, and of what ranges miss."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from report_releases import a_year_of_hours, by_day_and_sex, by_diagnosis, of_random_sums

import sparsedp as sdp
from sparsedp.axes import Axis
from sparsedp.axes.domain import Quantity
from sparsedp.counts import Counts
from sparsedp.noise.source import SeededSource
from sparsedp.reports._page import snippets
from sparsedp.reports._reading import DEVIATIONS, at_odds, reading, what_ranges_miss
from sparsedp.reports._statement import key_figures
from sparsedp.synopsis import Synopsis

DOMAIN = sdp.Domain.parse("hour:0..23")


@pytest.mark.parametrize(("records", "said"), [(1, "at most 1 record that"), (50, "at most 50 records that")])
def test_readers_are_told_that_people_with_more_records_are_cut(records: int, said: str) -> None:
    counts = Counts(np.full(24, 900, dtype=np.int64), DOMAIN, records, ("tailnum",), records)
    release = sdp.release(counts, epsilon=1)
    assert said in " ".join(reading(release, [], []))
    assert key_figures(release)[0].name == "Records counted"
    assert key_figures(release)[0].note == f"at most {records} per tailnum"


def test_nothing_is_said_where_nothing_was_cut() -> None:
    release = sdp.release([900] * 24, epsilon=1, domain=DOMAIN)
    assert "at most" not in " ".join(reading(release, [], []))
    assert key_figures(release)[0].name == "All records"


def sums_of_euros() -> sdp.Release:
    quantity = Quantity("amount", Fraction(1, 100))
    counts = Counts(np.full(24, 90_000, dtype=np.int64), DOMAIN, 50_000, ("tailnum",), 1, quantity)
    return sdp.release(counts, epsilon=1)


def test_sums_say_that_values_were_clamped() -> None:
    total = key_figures(sums_of_euros())[0]
    assert (total.name, total.note) == (
        "Total amount",
        "at most 1 record per tailnum; values clamped to declared bounds",
    )


@pytest.mark.parametrize("make", [a_year_of_hours, by_day_and_sex, sums_of_euros])
def test_the_height_that_a_lone_number_needs_is_told(make: Callable[[], sdp.Release]) -> None:
    release = make()
    told = " ".join(reading(release, [], []))
    assert isinstance(release.synopsis, Synopsis)
    least = DEVIATIONS * sqrt(release.synopsis.noise_variance) * float(release.quantity.resolution)
    found = re.search(r"stands alone, less than about ([\d,.]+) above", told)
    assert found
    assert float(found[1].replace(",", "")) == pytest.approx(least, rel=0.05)


@pytest.mark.parametrize("make", [by_diagnosis, of_random_sums, lambda: by_day_and_sex().marginal("sex")])
def test_nothing_is_said_of_lone_numbers_where_none_were_smoothed(make: Callable[[], sdp.Release]) -> None:
    assert not any("stands alone" in part for part in what_ranges_miss(make()))


@pytest.mark.parametrize("shape", [4096, (64, 64)])
def test_numbers_that_were_measured_in_groups_only(shape: int | tuple[int, int]) -> None:
    release = sdp.Adaptive(workload="ranges").release(np.full(shape, 2), epsilon="0.1", source=SeededSource(1))
    assert "measured in groups only" in what_ranges_miss(release)[0]


def test_patterns_that_repeat_are_warned_of_where_they_can_be() -> None:
    def told(axis: Axis) -> str:
        counts = np.full(axis.length, 50)
        return " ".join(what_ranges_miss(sdp.release(counts, epsilon=1, domain=sdp.Domain(axis))))

    assert "all Mondays" in told(sdp.Calendar("day", "2024-01-01", every="1d", length=90))
    assert "all Mondays" in told(sdp.Calendar("hour", "2024-01-01", every="1h", length=24 * 60))
    assert "repeat" not in told(sdp.Calendar("day", "2024-01-01", every="1d", length=20))
    assert "repeat" not in told(sdp.Calendar("month", "2024-01-01", every="1mo", length=60))
    assert "every tenth cell of “age”" in told(sdp.Integers("age", 0, 99))
    assert "repeat" not in told(sdp.Categories("kind", [f"label {number}" for number in range(60)]))


def test_sums_in_sql_are_said_to_have_no_range() -> None:
    python, shell, _ = snippets(by_day_and_sex(), "a.parquet")
    assert "Sums in SQL come without a range" in python.says
    assert "release.marginal('sex')" in python.code
    assert "without ranges" in shell.says


def test_sums_that_smoothing_moved_too_far_are_named() -> None:
    release = sdp.release(np.full((60, 3), 40), epsilon=1, domain=["day:2024-01-01..2024-02-29", "ward:a,b,c"])
    assert at_odds(release) == []
    values = release.values.copy()
    values[:, 1] += 50.0
    (sentence,) = at_odds(replace(release, values=values))
    assert sentence.startswith("Smoothing moved some sums further than noise explains: ward b (")
    assert "as measured" in sentence
