"""Pictures with matplotlib: the right kind, with ranges, as files and as figures."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from report_releases import (
    EVERY,
    a_year_of_hours,
    by_day_and_sex,
    by_delays,
    by_diagnosis,
    not_private,
    of_random_sums,
    on_four_axes,
)

import sparsedp as sdp
from sparsedp.axes import Axis
from sparsedp.reports import plot

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_release_is_drawn(name: str, tmp_path: Path) -> None:
    path = plot(EVERY[name](), tmp_path / "a.png")
    assert path == tmp_path / "a.png"
    assert path.read_bytes().startswith(MAGIC[".png"])


@pytest.mark.parametrize("ending", MAGIC)
def test_the_ending_says_which_kind_of_file(ending: str, tmp_path: Path) -> None:
    assert plot(by_diagnosis(), tmp_path / f"a{ending}").read_bytes().startswith(MAGIC[ending])


def test_a_line_has_a_point_for_each_day_and_a_band() -> None:
    release = a_year_of_hours()
    (axes,) = plot(release).axes
    line = axes.get_lines()[0]
    assert line.get_ydata() == pytest.approx(release.values.reshape(365, 24).sum(axis=1))
    assert len(axes.collections) == 1
    assert axes.get_ylabel() == "records per day"
    assert plot(of_random_sums()).axes[0].collections[:] == []


def region_age_and_month() -> sdp.Release:
    axes = [
        sdp.Categories("region", ["north", "south"]),
        sdp.Bins("age", [0, 18, 40, 65, 120]),
        sdp.Calendar("month", "2024-01-01", every="1mo", length=12),
    ]
    return sdp.release(np.full((2, 4, 12), 30), epsilon=1, mechanism="laplace", domain=sdp.Domain(axes))


def days(length: int, *axes: Axis) -> sdp.Release:
    domain = sdp.Domain([sdp.Calendar("day", "2023-01-01", every="1d", length=length), *axes])
    return sdp.release(np.full(domain.shape, 30), epsilon=1, mechanism="laplace", domain=domain)


def integers(length: int) -> sdp.Release:
    domain = sdp.Domain(sdp.Integers("ward", 0, length - 1))
    return sdp.release(np.full(length, 3), epsilon=1, mechanism="laplace", domain=domain)


@pytest.mark.parametrize(
    ("make", "title", "amount"),
    [
        (region_age_and_month, "Records by region and age, summed over month", "records"),
        (a_year_of_hours, "Records per day", "records per day"),
        (by_day_and_sex, "Records per day, by sex", "records per day"),
        (lambda: days(365, sdp.Categories("sex", ["F", "M"])), "Records per week, by sex", "records per week"),
        (on_four_axes, "Records per day, by sex, summed over age and ward", "records per day"),
        (by_diagnosis, "Records by diagnosis", "records"),
        (lambda: integers(8000), "Records by ward (in steps of 100)", "records per step of 100"),
    ],
)
def test_title_and_scale_say_what_is_drawn(make: Callable[[], sdp.Release], title: str, amount: str) -> None:
    figure = plot(make())
    assert figure.get_suptitle() == title
    assert amount in {figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()}


def test_the_scale_of_a_heat_map_says_how_much_a_square_holds() -> None:
    release = days(365, sdp.Integers("ward", 1, 12))
    figure = plot(release)
    (scale,) = (axes for axes in figure.axes if axes.get_ylabel().startswith("records"))
    assert figure.get_suptitle() == f"{scale.get_ylabel().capitalize()}, by ward"
    squares = np.asarray(figure.axes[0].images[0].get_array())
    assert (
        scale.get_ylabel()
        == {365: "records per day", 53: "records per week", 12: "records per month"}[squares.shape[1]]
    )


def test_a_long_title_says_more_than_a_label_would() -> None:
    axes = [sdp.Categories(f"a rather long name of axis {place}", ["a", "b"]) for place in range(3)]
    release = sdp.release(np.full((2, 2, 2), 30), epsilon=1, mechanism="laplace", domain=sdp.Domain(axes))
    assert plot(release).get_suptitle().endswith("…")
    assert "axis 0 and a rather long name of axis 1" in plot(release).get_suptitle()


def test_bars_have_labels_and_ranges() -> None:
    release = by_diagnosis()
    (axes,) = plot(release).axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(release.values.tolist())
    assert axes.get_yticklabels()[0].get_text() == "influenza"
    ends = axes.collections[0].get_segments()
    assert [float(end[0][0]) for end in ends] == [release.interval(cell).low for cell in range(5)]


def test_a_heat_map_has_its_errors_beside_it() -> None:
    release = by_delays()
    values, errors = plot(release).axes[:2]
    assert np.asarray(values.images[0].get_array()) == pytest.approx(release.values)
    asked = release.interval((0, 0))
    assert float(np.asarray(errors.images[0].get_array())[0, 0]) == pytest.approx((asked.high - asked.low) / 2)


def test_few_labels_along_time_are_lines_that_need_no_colour() -> None:
    release = by_day_and_sex()
    (axes,) = plot(release).axes
    lines = axes.get_lines()[:2]
    assert [line.get_label() for line in lines] == ["F", "M"]
    assert len({(str(line._linestyle), str(line._dash_pattern)) for line in lines}) == 2
    assert len({line.get_marker() for line in lines}) == 2
    assert np.array([line.get_ydata() for line in lines]) == pytest.approx(release.values.T)
    assert len(axes.collections) == 2


def test_what_is_not_private_says_so() -> None:
    assert "NOT PRIVATE" in str(plot(not_private())._supxlabel.get_text())


def test_dollars_and_foreign_letters_are_no_formulas(tmp_path: Path) -> None:
    labels = ["$x", "a $ b $ c", "\\frac{", "日本", "x" * 300, "<svg/>"]
    release = sdp.release([30] * 6, epsilon=1, domain=sdp.Domain(sdp.Categories("$\\alpha$", labels)))
    plot(release, tmp_path / "a.svg")


@pytest.mark.parametrize("name", ["a.html", "a.jpg", "a", "missing/a.png"])
def test_places_that_cannot_be_drawn_to_get_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(sdp.SparsedpError, match=r"ending in \.png or \.svg or \.pdf|no folder"):
        plot(by_diagnosis(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(sdp.InvalidInput, match=r'pip install "sparsedp\[plot\]"'):
        plot(by_diagnosis())


def test_labels_in_an_order_stand_one_beside_another() -> None:
    """Weekdays by sex: a line for each sex, along Monday to Sunday."""
    domain = [sdp.Calendar("day", "2024-01-01", "1d", 140), sdp.Categories("sex", ["F", "M"])]
    release = sdp.release(np.full((140, 2), 9), epsilon=1, domain=domain, mechanism="laplace")
    (axes,) = release.marginal("day.weekday", "sex").plot().axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert [line.get_xdata().tolist() for line in axes.lines] == [list(range(7))] * 2
