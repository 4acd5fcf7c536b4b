"""What the pages say that previews print: the same words, and figures that a new run would not put far elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tutorial_pages import without_numbers

import sparsedp as sdp
from sparsedp.previews._questions import GOOD_UP_TO, MOST_PAIRS, NOISE_FROM

DOCS = Path(__file__).parent.parent.parent / "docs"
pytestmark = pytest.mark.slow
FAR = 0.1
"""A preview gives the same figures each time, but for what recoveries have learned since the page was written."""


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def test_the_preview_of_its_own_page() -> None:
    page = (DOCS / "preview.md").read_text()
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    visits = ["day:2026-01-01..2026-12-31", "age:0..100/10", "sex:F,M"]
    assert f"visits = {json.dumps(visits)}" in page
    assert 'sdp.preview(visits, epsilon="0.4", total=20_000)' in page
    printed = str(sdp.preview(visits, epsilon="0.4", total=20_000))
    assert " ".join(without_numbers(shown)) == " ".join(without_numbers(printed))
    assert numbers(shown) == pytest.approx(numbers(printed), rel=FAR)


def test_the_verdicts_of_the_page_are_those_of_the_library() -> None:
    page = (DOCS / "preview.md").read_text()
    assert f"| good | up to {100 * GOOD_UP_TO:.0f} % |" in page
    assert f"| noise | from {100 * NOISE_FROM:.0f} % |" in page
    assert f"Of more than {MOST_PAIRS} pairs of axes" in page


def test_the_boxes_of_the_page_on_mechanisms() -> None:
    page = (DOCS / "which-mechanism.md").read_text()
    said = re.findall(r'says about (\d+) for a box of 110 cells by `"ranges"`, (\d+) by the default', page)
    found = []
    for mechanism in ("adaptive:ranges", "adaptive"):
        axes = ["day:2013-01-01..2013-12-31", "origin:EWR,JFK,LGA"]
        guess = sdp.preview(
            axes, epsilon=1, contribution=100, total=227_000, smoothness="flat", mechanism=mechanism
        ).table
        found += [row["error"] for row in guess if row["cells"] == 110]
    assert [float(figure) for figure in said[0]] == pytest.approx(found, rel=FAR)
