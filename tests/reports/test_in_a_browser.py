"""The page in a real browser: it is drawn, it answers to mouse, finger and keyboard, and it asks nothing of anybody."""

import csv
import io
import re
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
    on_four_axes,
)
from watched_page import Opener, WatchedPage

import sparsedp as sdp

pytest_plugins = ["report_browser"]


def told(text: str) -> list[float]:
    """The value and the two ends of its range, from what the live region says of a point."""
    found = re.search(r": ([\d,.−]+), likely ([\d,.−]+) to ([\d,.−]+)$", text)
    assert found, text
    return [float(number.replace(",", "").replace("−", "-")) for number in found.groups()]


def expected(interval: sdp.Interval) -> list[float]:
    return [interval.estimate, interval.low, interval.high]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("width", [360, 1100])
def test_every_kind_of_release_is_drawn_and_nothing_sticks_out(opened: Opener, name: str, width: int) -> None:
    page = opened(EVERY[name](), width=width)
    drawn = page.box("#chart svg")
    assert drawn["width"] <= width
    assert drawn["height"] > 100
    assert page.count("#chart path.line, #chart rect.bar, #chart rect.square") >= 1
    assert page.overflow() == 0
    assert page.text("#chart-help")


def test_a_line_has_a_point_for_each_day_and_a_band(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    assert page.page.locator("path.line").get_attribute("data-points") == "365"
    assert page.page.locator("path.band").get_attribute("data-points") == "365"
    labels = page.page.locator(".scale text").all_text_contents()
    assert "Jan" in labels
    assert "Oct" in labels
    assert "2013" in labels
    line = page.box("path.line")
    assert line["width"] > 700
    assert line["height"] > 50


def test_other_resolutions_are_a_choice(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    offered = page.page.locator("#picture option").all_inner_texts()
    assert offered == ["month", "week", "day", "6 hours", "hour"]
    page.page.select_option("#picture", label="month")
    assert page.page.locator("path.line").get_attribute("data-points") == "12"
    assert page.count("circle.point") == 12
    page.page.select_option("#picture", label="week")
    assert page.count("circle.point.part") == 2  # 2013 began on a Tuesday and ended on one
    page.page.select_option("#picture", label="hour")
    assert page.page.locator("path.line").get_attribute("data-points") == "8760"


def test_a_phone_opens_with_points_that_can_be_told_apart(opened: Opener) -> None:
    page = opened(a_year_of_hours(), width=360)
    assert page.page.locator("#picture").evaluate("each => each.selectedOptions[0].text") == "week"


def test_arrow_keys_move_along_the_line_and_are_announced(opened: Opener) -> None:
    release = a_year_of_hours()
    page = opened(release)
    live = page.page.locator("#readout")
    assert live.get_attribute("aria-live") == "polite"
    first = page.press("ArrowRight")
    assert first.startswith("Tue 1 Jan 2013: ")
    assert told(first) == pytest.approx(expected(release.interval({"hour": slice(0, 24)})), abs=1)
    assert page.press("ArrowRight").startswith("Wed 2 Jan 2013: ")
    assert page.press("ArrowLeft").startswith("Tue 1 Jan 2013: ")
    assert page.press("End").startswith("Tue 31 Dec 2013: ")
    assert page.press("ArrowRight").startswith("Tue 31 Dec 2013: ")
    assert page.press("PageUp").startswith("Sat 21 Dec 2013: ")
    assert page.press("Home").startswith("Tue 1 Jan 2013: ")
    assert page.count(".cursor .here") == 1


def test_the_mouse_reads_points_and_a_drag_zooms(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    line = page.box("path.line")
    middle, high = line["x"] + line["width"] / 2, line["y"] + line["height"] / 2
    page.page.mouse.move(middle, high)
    assert " Jul 2013: " in page.text("#readout")
    page.page.mouse.down()
    page.page.mouse.move(middle + 100, high, steps=3)
    page.page.mouse.up()
    points = int(page.page.locator("path.line").get_attribute("data-points") or 0)
    assert 30 <= points <= 60
    assert page.text("#readout").startswith("Zoomed: ")
    page.page.click("#whole")
    assert page.page.locator("path.line").get_attribute("data-points") == "365"


def test_a_finger_reads_points(opened: Opener) -> None:
    page = opened(by_day_and_sex(), width=360)
    page.page.select_option("#kind", "heat")
    page.page.select_option("#picture", label="day")
    page.page.locator("g.squares").scroll_into_view_if_needed()
    squares = page.box("g.squares")
    page.page.touchscreen.tap(squares["x"] + squares["width"] - 3, squares["y"] + squares["height"] - 5)
    assert page.text("#readout").startswith("M, Thu 29 Feb 2024: ")


def test_buttons_and_keys_zoom_too(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    points = page.page.locator("path.line")
    assert page.page.is_disabled("#wider")
    page.page.click("#closer")
    assert points.get_attribute("data-points") == "183"
    page.page.click("#later")
    assert page.page.is_enabled("#earlier")
    page.press("+")
    assert points.get_attribute("data-points") == "92"
    page.press("-")
    assert points.get_attribute("data-points") == "184"
    page.press("Escape")
    assert points.get_attribute("data-points") == "365"


def test_bars_have_a_bar_a_range_and_a_value_for_each_label(opened: Opener) -> None:
    release = by_diagnosis()
    page = opened(release)
    assert page.count("rect.bar") == page.count("path.whisker") == 5
    assert page.page.locator("text.label").all_text_contents()[0] == "influenza"
    widths = page.page.locator("rect.bar").evaluate_all("bars => bars.map(bar => Number(bar.getAttribute('width')))")
    assert np.corrcoef(widths, release.values)[0, 1] > 0.9999
    # Noise of whole numbers on whole counts: nothing is rounded.
    half = release.interval(0).high - release.values[0]
    assert page.text("text.value >> nth=0") == f"{release.values[0]:,.0f} ± {half:,.0f}"
    assert page.press("ArrowDown", "ArrowDown").startswith("asthma: ")


def test_a_heat_map_has_a_square_for_each_cell_and_moves_both_ways(opened: Opener) -> None:
    release = by_delays()
    page = opened(release)
    assert page.count("rect.square") == 64 * 64
    fills = page.page.locator("rect.square").evaluate_all("all => all.map(each => each.getAttribute('fill'))")
    assert len(set(fills)) > 20
    # The scale is the same everywhere: no square is darker than that of the largest value.
    darkness = [-sum(int(part) for part in fill[4:-1].split(",")) for fill in fills]
    assert darkness[int(np.argmax(release.values))] == max(darkness)
    page.press("Home", "ArrowRight", "ArrowRight")
    text = page.press("ArrowUp")
    assert text.startswith("departure delay −55 to under −50, arrival delay −50 to under −45: ")
    assert page.count("g.legend rect") > 20
    page.page.select_option("#colour", "error")
    assert page.count("g.legend .fades") == 0
    assert page.text("g.legend .name") == "± how far it may be off"


def test_marginals_of_many_axes_are_a_choice_with_their_own_ranges(opened: Opener) -> None:
    release = on_four_axes()
    page = opened(release)
    offered = page.page.locator("#view option").all_inner_texts()
    assert offered[0] == "day × sex"
    assert set(offered) >= {"age × ward", "day", "sex", "age", "ward"}
    page.page.select_option("#view", label="sex")
    interval = release.interval({"sex": "F"})
    text = page.press("ArrowDown")
    assert text.startswith("F: ")
    assert told(text) == pytest.approx(expected(interval), abs=1)
    page.page.select_option("#view", label="age × ward")
    assert page.count("rect.square") == 15


def test_the_table_says_the_same_and_can_be_saved(opened: Opener) -> None:
    release = by_diagnosis()
    page = opened(release, title="Diagnoses, 2024")
    assert page.page.is_hidden("#table")
    page.page.click("#show-table")
    assert page.page.locator("#show-table").get_attribute("aria-expanded") == "true"
    assert page.page.locator("#table thead th").all_inner_texts() == [
        "diagnosis",
        "records",
        "likely from",
        "likely to",
    ]
    rows = page.page.locator("#table tbody tr").all_inner_texts()
    assert len(rows) == 5
    assert rows[0].split("\t")[:2] == ["influenza", f"{release.values[0]:,.0f}"]
    with page.page.expect_download() as download:
        page.page.click("#download")
    assert download.value.suggested_filename == "Diagnoses-2024.csv"
    table = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert [row["diagnosis"] for row in table] == ["influenza", "asthma", "diabetes type 2", "measles", "plague"]
    assert [float(row["count"]) for row in table] == pytest.approx(release.values.tolist(), abs=0.5)
    assert all(float(row["low"]) <= float(row["count"]) <= float(row["high"]) for row in table)


def test_a_long_table_is_cut_and_says_so(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    page.page.select_option("#picture", label="hour")
    page.page.click("#show-table")
    assert page.count("#table tbody tr") == 2000
    assert "The first 2,000 of 8,760 rows" in page.text("#table caption")


def test_dark_readers_get_a_dark_page(opened: Opener) -> None:
    def brightness(colour: str) -> float:
        return sum(int(part) for part in colour[4:-1].split(",")) / 3

    light, dark = (opened(by_delays(), scheme=scheme) for scheme in ("light", "dark"))
    assert brightness(light.style("body", "backgroundColor")) > 200
    assert brightness(dark.style("body", "backgroundColor")) < 50
    assert brightness(dark.style("body", "color")) > 200
    darkest = [page.page.locator("g.legend rect").first.get_attribute("fill") or "" for page in (light, dark)]
    assert brightness(darkest[0]) > 200 > 50 > brightness(darkest[1])


def test_what_is_not_private_has_a_red_banner(opened: Opener) -> None:
    page = opened(not_private())
    assert "NOT PRIVATE" in page.text(".banner")
    red, green, blue = (int(part) for part in page.style(".banner", "backgroundColor")[4:-1].split(","))
    assert red > 3 * max(green, blue)
    assert page.box(".banner")["y"] < 300
    assert opened(by_diagnosis()).count(".banner") == 0


def test_the_chart_is_drawn_again_when_the_window_changes(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    page.page.set_viewport_size({"width": 420, "height": 800})
    page.page.wait_for_function("document.querySelector('#chart svg').clientWidth < 400")
    assert page.overflow() == 0


def test_pixels_are_really_painted(opened: Opener) -> None:
    """Not only in the document: a picture of the chart has the line's own colour in it."""
    page = opened(a_year_of_hours())
    shot = page.page.locator("#chart").screenshot()
    import matplotlib.image as images

    pixels = images.imread(io.BytesIO(shot), format="png")[..., :3]
    accent = np.array([0x0F, 0x5C, 0x9C]) / 255
    assert (np.abs(pixels - accent).max(axis=-1) < 0.02).sum() > 500


def test_paper_has_no_buttons(opened: Opener) -> None:
    page = opened(by_delays())
    page.page.emulate_media(media="print")
    assert page.page.is_hidden("#actions")
    assert page.page.is_visible("#chart svg")


def test_released_values_are_on_the_page(opened: Opener) -> None:
    """A constraint that makes cells exact is shown as such."""
    constraints = sdp.Constraints(zeros=np.array([True, False, False, False]))
    domain = sdp.Domain(sdp.Categories("kind", ["never", "a", "b", "c"]))
    page = opened(sdp.release([0, 50, 60, 70], epsilon=1, domain=domain, constraints=constraints))
    assert page.press("Home") == "never: 0, known exactly"


def marks(page: WatchedPage) -> list[str]:
    return page.page.locator("g.scale:not(.legend) text:not(.name)").all_text_contents()


@pytest.mark.parametrize(
    ("edges", "shown"),
    [
        ([0, 5, 18, 40, 65, 85, 120], ["0", "5", "18", "40", "65", "85", "120"]),
        (range(0, 101, 5), [str(edge) for edge in range(0, 101, 5)]),
    ],
)
def test_bins_of_unequal_width_are_marked_at_every_edge(opened: Opener, edges: list[int], shown: list[str]) -> None:
    """They are drawn equally wide: 0, 40 and 120 alone would look like a scale of equal steps."""
    axes = [sdp.Bins("age", edges), sdp.Integers("hour", 0, 23)]
    counts = np.full((len(edges) - 1, 24), 90)
    page = opened(sdp.release(counts, epsilon=1, mechanism="laplace", domain=sdp.Domain(axes)))
    assert page.count("rect.square") == counts.size
    assert marks(page)[: len(shown)] == shown
