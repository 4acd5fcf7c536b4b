"""A few labels along time, or another ordered axis: a line for each, told apart without colours."""

import re

import numpy as np
import pytest
from report_releases import by_day_and_sex, on_four_axes
from watched_page import Opener, WatchedPage

import sparsedp as sdp
from sparsedp.reports._views import main_view

pytest_plugins = ["report_browser"]

LINES = "g.series path.line[data-points]"


def by_hour_and(labels: int) -> sdp.Release:
    axes = [sdp.Integers("hour", 0, 23), sdp.Categories("kind", [f"kind {number}" for number in range(labels)])]
    counts = 100 + 40 * np.indices((24, labels))[1]
    return sdp.release(counts, epsilon=1, mechanism="laplace", domain=sdp.Domain(axes))


def points(page: WatchedPage) -> list[str]:
    found = page.page.locator(LINES).evaluate_all("all => all.map(each => each.dataset.points)")
    return [str(each) for each in found]


@pytest.mark.parametrize("width", [360, 1100])
def test_a_line_with_its_band_and_its_name_for_each_label(opened: Opener, width: int) -> None:
    page = opened(by_day_and_sex(), width=width)
    assert points(page) == ["60", "60"]
    assert page.count("path.band") == 2
    assert page.page.locator(".label-of-line").all_text_contents() == ["F", "M"]
    assert page.text(".scale .name >> nth=0") == "records per day"
    assert page.overflow() == 0


def test_eight_lines_need_no_colours(opened: Opener) -> None:
    page = opened(by_hour_and(8))
    dashes = page.page.locator(LINES).evaluate_all("all => all.map(each => each.getAttribute('stroke-dasharray'))")
    assert len(set(dashes)) == 8
    samples = page.page.locator("g.names path.point").evaluate_all("all => all.map(each => each.getAttribute('d'))")
    shapes = [re.sub(r"^M[^a-z]*", "", sample) for sample in samples]
    assert len(set(shapes)) == 8
    names = page.page.locator(".label-of-line").evaluate_all("all => all.map(each => each.getBoundingClientRect().y)")
    assert min(np.diff(sorted(names))) >= 14  # none is written over another


def test_more_labels_or_no_order_make_a_heat_map() -> None:
    assert main_view(by_hour_and(8)).kinds == ("lines", "heat")
    assert main_view(by_hour_and(9)).kinds == ("heat",)
    axes = [sdp.Categories(name, ["a", "b", "c"]) for name in ("one", "other")]
    assert main_view(sdp.release(np.full((3, 3), 90), epsilon=1, domain=sdp.Domain(axes))).kinds == ("heat",)


def test_keys_go_along_a_line_and_from_label_to_label(opened: Opener) -> None:
    release = by_day_and_sex()
    page = opened(release)
    assert page.press("ArrowRight").startswith("F, Mon 1 Jan 2024: ")
    text = page.press("ArrowDown")
    assert text.startswith("M, Mon 1 Jan 2024: ")
    found = re.search(r": ([\d.]+), likely ([\d.]+) to ([\d.]+)$", text)
    assert found
    asked = release.interval((0, 1))
    assert [float(number) for number in found.groups()] == pytest.approx([asked.estimate, asked.low, asked.high], abs=1)
    assert page.press("End").startswith("M, Thu 29 Feb 2024: ")
    assert page.press("PageDown").startswith("M, Thu 29 Feb 2024: ")
    assert page.press("PageUp").startswith("M, Mon 19 Feb 2024: ")
    assert page.press("ArrowUp").startswith("F, Mon 19 Feb 2024: ")
    assert page.count(".cursor path.strong.s0") == 1
    assert page.press("Home").startswith("F, Mon 1 Jan 2024: ")


def test_the_mouse_reads_the_nearest_line_and_a_drag_zooms(opened: Opener) -> None:
    page = opened(by_hour_and(3))
    for row in range(3):
        box = page.box(f"g.series.s{row} path.line[data-points]")
        page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.text("#readout").startswith(f"kind {row}, hour 1")
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"], box["y"], steps=3)
    page.page.mouse.up()
    assert points(page) == ["12"] * 3 or points(page) == ["13"] * 3
    page.press("Escape")
    assert points(page) == ["24"] * 3


def test_the_heat_map_is_a_choice(opened: Opener) -> None:
    page = opened(by_day_and_sex())
    assert page.page.locator("#kind option").all_inner_texts() == ["a line for each label", "a heat map"]
    page.page.select_option("#kind", "heat")
    assert page.count("rect.square") == 120
    assert page.page.is_hidden("#zoom")
    page.page.select_option("#kind", "lines")
    assert points(page) == ["60", "60"]
    assert page.page.is_visible("#zoom")
    page.page.select_option("#view", label="sex")
    assert page.page.is_hidden("#kind-field")


def test_long_lines_open_with_points_that_can_be_told_apart(opened: Opener) -> None:
    axes = [sdp.Calendar("day", "2013-01-01", every="1d", length=365), sdp.Categories("origin", ["EWR", "JFK", "LGA"])]
    page = opened(sdp.release(np.full((365, 3), 90), epsilon=1, domain=sdp.Domain(axes)))
    assert page.page.locator("#picture option").all_inner_texts() == ["month", "week", "day"]
    assert points(page) == ["51"] * 3  # and two parts of weeks, drawn apart
    assert page.count("path.point.part") == 6
    page.page.select_option("#picture", label="day")
    assert points(page) == ["365"] * 3


def test_ranges_of_coarser_lines_are_the_release_s_own() -> None:
    release = by_day_and_sex()
    week = main_view(release).pictures[0]
    assert week.groupings[1].name == "week"
    asked = release.interval({"sex": "M", "day": slice(7, 14)})
    assert week.banded.low is not None
    assert (week.banded.values[1, 1], week.banded.low[1, 1]) == pytest.approx((asked.estimate, asked.low))


def test_bins_and_whole_numbers_have_lines_too(opened: Opener) -> None:
    page = opened(on_four_axes())
    page.page.select_option("#view", label="sex × age")
    assert points(page) == ["3", "3"]
    assert page.press("ArrowRight", "ArrowRight").startswith("F, age 18 to under 65: ")
