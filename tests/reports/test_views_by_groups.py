"""Panels by weekday, hour, state and band: sums of groups with the ranges that the release itself gives."""

from dataclasses import replace

import numpy as np
import pytest
from test_page import data_of

import sparsedp as sdp
from repeatable_noise import made_once
from sparsedp.reports._page import page_of
from sparsedp.reports._views import views_of


@made_once
def by_hour_and_county() -> sdp.Release:
    domain = [
        sdp.Calendar("t", "2024-01-01", "6h", 4 * 430),
        sdp.Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels=["state"]),
    ]
    counts = np.random.default_rng(2).poisson(9, (4 * 430, 3))
    return sdp.release(counts, epsilon=1, domain=domain, mechanism="laplace")


def test_they_come_last_and_hold_sums_with_ranges() -> None:
    release = by_hour_and_county()
    views = {view.title: view for view in views_of(release)[0]}
    assert list(views)[:3] == ["t × county", "t", "county"]
    assert list(views)[3:] == ["t.weekday", "t.hour_of_day", "t.hour_of_week", "t.month_of_year", "county.state"]
    for title in list(views)[3:]:
        (picture,) = views[title].pictures
        marginal = release.marginal(title)
        np.testing.assert_allclose(picture.banded.values.ravel(), marginal.values)
        assert picture.banded.low is not None
        assert picture.banded.high is not None
        for group in range(len(marginal)):
            asked = marginal.interval(group)
            assert picture.banded.low.ravel()[group] == pytest.approx(asked.low, abs=0.5)
            assert picture.banded.high.ravel()[group] == pytest.approx(asked.high, abs=0.5)


def test_the_page_has_their_labels() -> None:
    page = page_of(by_hour_and_county(), title="x")
    found = {view["title"]: view for view in data_of(page)["views"]}
    (picture,) = found["t.weekday"]["pictures"]
    assert found["t.weekday"]["kinds"] == ["bars"]
    assert picture["axes"][0]["labels"] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert found["county.state"]["pictures"][0]["axes"][0]["labels"] == ["north", "south"]


def test_what_a_line_shows_already_has_no_panel() -> None:
    """Months of one year are its months; and groups as many as cells are the cells."""
    year = sdp.release(np.full(366, 9), epsilon=1, domain=sdp.Calendar.between("day", "2024-01-01", "2024-12-31"))
    assert [view.title for view in views_of(year)[0]] == ["day", "day.weekday"]
    each = sdp.Categories("county", {"north": ["a"], "south": ["b"]})
    alone = sdp.release([9, 8], epsilon=1, domain=each)
    assert [view.title for view in views_of(alone)[0]] == ["county"]
    ages = sdp.release(np.full(60, 9), epsilon=1, domain=sdp.Integers("age", 0, 59, bands=[0, 18]))
    assert [view.title for view in views_of(ages)[0]] == ["age", "age.band"]


def test_without_errors_there_are_none() -> None:
    release = replace(by_hour_and_county(), uncertainty=None)
    (picture,) = next(view for view in views_of(release)[0] if view.title == "t.weekday").pictures
    assert picture.banded.low is None
