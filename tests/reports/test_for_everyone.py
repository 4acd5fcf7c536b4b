"""The page for those who use a keyboard or a screen reader, read from Chromium's own accessibility tree."""

from itertools import pairwise
from typing import Any

import pytest
from report_releases import EVERY, a_year_of_hours, by_day_and_sex, by_delays, by_diagnosis
from watched_page import Opener

pytest_plugins = ["report_browser"]

INTERACTIVE = {"button", "combobox", "checkbox", "link", "application", "textbox", "slider", "region"}


def luminance(colour: str) -> float:
    parts = [int(float(part)) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", EVERY)
def test_everything_that_acts_has_a_name(opened: Opener, name: str) -> None:
    nodes = opened(EVERY[name]()).accessible()
    acting = [node for node in nodes if node["role"] in INTERACTIVE]
    assert len(acting) >= 5
    assert [node for node in acting if not node["name"]] == []
    landmarks = [node["role"] for node in nodes]
    for landmark in ("main", "banner", "contentinfo", "status", "image"):
        assert landmark in landmarks


def test_the_table_is_one_with_named_columns_and_rows(opened: Opener) -> None:
    page = opened(by_diagnosis())
    page.page.click("#show-table")
    nodes = page.accessible()
    assert [node["name"] for node in nodes if node["role"] == "table"] == ["Bar chart of records by diagnosis"]
    heads = [node["name"] for node in nodes if node["role"] == "columnheader"]
    assert heads == ["diagnosis", "records", "likely from", "likely to"]
    assert "measles" in [node["name"] for node in nodes if node["role"] == "rowheader"]


def test_headings_go_down_one_step_at_a_time(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    levels = [int(node["level"]) for node in page.accessible() if node["role"] == "heading"]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_chart_says_what_it_is_and_how_to_use_it(opened: Opener) -> None:
    page = opened(by_delays())
    (chart,) = [node for node in page.accessible() if node["role"] == "application"]
    assert chart["name"] == "Heat map of records by departure delay × arrival delay. 4,096 points."
    assert chart["roledescription"] == "chart"
    assert chart["focusable"] is True
    described = page.page.locator("#chart").get_attribute("aria-describedby")
    assert "arrow keys" in page.text(f"#{described}")


def test_tab_reaches_everything_and_the_focus_is_seen(opened: Opener) -> None:
    page = opened(a_year_of_hours())
    reached: list[Any] = []
    for _ in range(30):
        page.page.keyboard.press("Tab")
        if page.page.evaluate("document.activeElement === document.body"):
            break
        reached.append(page.page.evaluate("document.activeElement.id || document.activeElement.className"))
        assert page.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached[0] == "skip"
    assert {"picture", "closer", "chart", "show-table", "download"} <= set(reached)


def test_the_skip_link_skips(opened: Opener) -> None:
    page = opened(by_diagnosis())
    page.page.keyboard.press("Tab")
    assert page.box(".skip")["x"] >= 0
    page.page.keyboard.press("Enter")
    assert page.page.evaluate("document.activeElement.id") == "main"


BEHIND = """(inner) => [...document.querySelectorAll(inner)].filter((all) => !all.disabled).slice(0, 60).map((each) => {
    let behind = each;
    while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    const style = getComputedStyle(each);
    const ink = each instanceof SVGElement ? style.fill : style.color;
    return [ink, getComputedStyle(behind || document.body).backgroundColor, each.textContent.slice(0, 30)];
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(opened: Opener, scheme: str) -> None:
    """AA of the guidelines for accessible pages: 4.5 to 1."""
    page = opened(by_day_and_sex(), scheme=scheme)
    page.page.click("#show-table")
    for inner in ("p", "dt", "dd", "a", "button", "select", "text", "caption", "th", "td", "code", "label", "li"):
        found = page.page.evaluate(BEHIND, inner)
        assert found, inner
        assert [each for each in found if contrast(each[0], each[1]) < 4.5] == []


def test_nothing_moves_for_those_who_ask_for_it(opened: Opener) -> None:
    page = opened(by_diagnosis())
    page.page.emulate_media(reduced_motion="reduce")
    assert page.style("html", "scrollBehavior") == "auto"
