"""The ranges in pictures are those that the release itself gives."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_releases import a_year_of_hours, by_day_and_sex, by_diagnosis, of_random_sums, on_four_axes

import sparsedp as sdp
from sparsedp.arrays import Floats
from sparsedp.estimation.errors.log_linear import LogLinearErrors
from sparsedp.releases.uncertainty import CellErrors
from sparsedp.reports import _views
from sparsedp.reports._views import OF_CELLS_ONLY, TOO_MANY, UNKNOWN, Bands, View, main_view, views_of
from sparsedp.reports.grouping import groupings_of, largest_groups


def view_of(release: sdp.Release, title: str) -> View:
    return next(view for view in views_of(release)[0] if view.title == title)


def test_days_of_a_year_of_hours() -> None:
    release = a_year_of_hours()
    days = next(picture for picture in main_view(release).pictures if picture.groupings[0].name == "day").banded
    assert days.low is not None
    assert days.high is not None
    for day in (0, 100, 364):
        asked = release.interval((24 * day, 24 * day + 24))
        assert (days.values[day], days.low[day], days.high[day]) == pytest.approx(
            (asked.estimate, asked.low, asked.high)
        )


@pytest.mark.parametrize("make", [a_year_of_hours, by_diagnosis, by_day_and_sex])
def test_cells(make: type) -> None:
    release: sdp.Release = make()
    low, high = Bands(release).cell_ends
    generator = np.random.default_rng(0)
    for place in zip(*(generator.integers(0, length, 12) for length in release.shape), strict=True):
        cell = tuple(int(number) for number in place)
        asked = release.interval(cell if len(cell) > 1 else cell[0])
        assert (low[cell], high[cell]) == pytest.approx((asked.low, asked.high))


@pytest.mark.parametrize("mechanism", ["laplace", "adaptive"])
def test_every_band_holds_its_own_value(mechanism: str) -> None:
    release = sdp.release(np.zeros((12, 20)), epsilon=1, mechanism=mechanism)
    low, high = Bands(release).cell_ends
    assert (low <= release.values).all()
    assert (release.values <= high).all()
    assert (low >= 0)[release.values >= 0].all()
    for view in views_of(release)[0]:
        for banded in (picture.banded for picture in view.pictures):
            assert banded.low is not None
            assert banded.high is not None
            assert (banded.low <= banded.values).all()
            assert (banded.values <= banded.high).all()


def test_sums_over_the_other_axes() -> None:
    release = on_four_axes()
    picture = view_of(release, "sex × age").pictures[0]
    assert [grouping.scale["name"] for grouping in picture.groupings] == ["sex", "age"]
    asked = release.interval({"sex": "M", "age": (18, 65)})
    banded = picture.banded
    assert banded.low is not None
    assert banded.high is not None
    assert (banded.values[1, 1], banded.low[1, 1], banded.high[1, 1]) == pytest.approx(
        (asked.estimate, asked.low, asked.high)
    )


def test_labels_beyond_the_first_are_put_together() -> None:
    labels = [f"label {number}" for number in range(80)]
    counts = np.arange(80) * 100
    release = sdp.release(counts, epsilon=1, mechanism="laplace", domain=sdp.Domain(sdp.Categories("kind", labels)))
    picture = main_view(release).pictures[0]
    shown = picture.groupings[0].scale["labels"]
    assert shown[:2] == ["label 79", "label 78"]
    assert shown[-1] == "all others (31)"
    assert len(shown) == 50
    rest = release.interval({"kind": labels[:31]})
    assert picture.banded.values[-1] == pytest.approx(rest.estimate)
    assert picture.banded.low is not None
    assert picture.banded.low[-1] == pytest.approx(rest.low)


def test_what_a_file_with_errors_of_cells_can_tell() -> None:
    release = a_year_of_hours()
    assert release.stderr is not None
    kept = replace(release, uncertainty=CellErrors(release.stderr))
    pictures = {picture.groupings[0].name: picture.banded for picture in main_view(kept).pictures}
    assert pictures["hour"].low is not None
    assert pictures["day"].low is None
    assert pictures["day"].why_not == OF_CELLS_ONLY


def test_nothing_is_made_up_where_nothing_is_known() -> None:
    banded = main_view(of_random_sums()).pictures[-1].banded
    assert banded.low is None
    assert banded.why_not == UNKNOWN


def test_ranges_stop_where_they_cost_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_views, "MOST_WORK", 1_000)
    release = sdp.release(
        np.full((14, 2, 3), 20), epsilon=1, domain=["day:1..14", "sex:F,M", "ward:a,b,c"], mechanism="laplace"
    )
    banded = view_of(release, "day × sex").pictures[0].banded
    assert banded.low is None
    assert banded.why_not == TOO_MANY
    assert banded.values.sum() == pytest.approx(release.values.sum())


def test_weights_are_clean_after_each_range() -> None:
    """Overlapping axes, any order: the ranges of a view do not depend on those asked before."""
    release = by_day_and_sex()
    first = view_of(release, "sex").pictures[0].banded
    again = Bands(release)
    views_of(release)
    assert first.low is not None
    assert first.low.tolist() == pytest.approx([release.interval({"sex": sex}).low for sex in "FM"])
    assert again.work == 0


def of_a_fitted_model() -> sdp.Release:
    """By age, town and income: measured by marginals, with more towns than a page shows by name."""
    towns = ",".join(f"t{number}" for number in range(70))
    domain = sdp.Domain.of(["age:5..34", f"town:{towns}", "income:low<mid<high"])
    counts = np.random.default_rng(4).poisson(np.arange(1, 71)[:, None] / 5, domain.shape)
    return sdp.Adaptive("marginals").release(counts, domain=domain, epsilon=1)


def test_the_ranges_of_a_fitted_model_are_about_those_of_each_sum() -> None:
    """They come from the diagonal of its system, also for groups that no axis declares: steps, and all other towns."""
    release = of_a_fitted_model()
    bands, axes = Bands(release), release.domain.axes if release.domain else ()
    towns = axes[1]
    assert isinstance(towns, sdp.Categories)
    tens = groupings_of(axes[0])[0]
    assert tens.group_of.tolist() == [0] * 5 + [1] * 10 + [2] * 10 + [3] * 5
    most = largest_groups(towns, release.values.sum(axis=(0, 2)), 40)
    banded = bands.of([tens, most, None])
    assert banded.low is not None
    assert banded.high is not None
    for point in ((0, 0), (2, 17), (1, 39)):
        weights = np.zeros(release.shape)
        weights[np.ix_(tens.group_of == point[0], most.group_of == point[1])] = 1.0
        asked = release.interval(weights)
        assert banded.values[(*point, 0)] == pytest.approx(asked.estimate)
        assert banded.high[(*point, 0)] - asked.estimate == pytest.approx(asked.high - asked.estimate, rel=0.4)


@pytest.mark.parametrize("opened", [False, True])
def test_a_page_of_a_fitted_model_does_not_ask_for_one_sum_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, opened: bool
) -> None:
    """Each costs hundreds of passes over the table: for a census of 16,000 cells the page took many minutes."""
    release = of_a_fitted_model()
    asked: list[int] = []
    if opened:
        release.save(tmp_path / "release.parquet")
        release = sdp.open_release(tmp_path / "release.parquet")
    variance = LogLinearErrors.variance

    def watched(errors: LogLinearErrors, weights: Floats) -> float:
        asked.append(1)
        return variance(errors, weights)

    monkeypatch.setattr(LogLinearErrors, "variance", watched)
    views, _ = views_of(release)
    assert sum(picture.banded.values.size for view in views for picture in view.pictures) > 2000
    assert all(picture.banded.low is not None for view in views for picture in view.pictures)
    assert len(asked) < 400
