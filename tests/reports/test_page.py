"""What is on the page, before any browser sees it; and that it is written whole or not at all."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_releases import a_year_of_hours, by_day_and_sex, by_diagnosis, not_private, on_four_axes

import sparsedp as sdp
from sparsedp.axes.domain import Quantity
from sparsedp.reports import _views, write_report
from sparsedp.reports._page import page_of
from sparsedp.reports.words import default_title

RECORD = {
    "data_set": "visits",
    "spend": 3,
    "time": "2026-01-01T00:00:00Z",
    "total": "ε = 2",
    "spent": "ε = 1.5",
    "left": "ε = 0.5",
}


def data_of(page: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def test_the_page_points_nowhere() -> None:
    page = page_of(a_year_of_hours(), title="Flights")
    # The one address is the name of SVG's language, which nothing is loaded from.
    assert set(re.findall(r"https?://[^\s\"']*", page)) == {"http://www.w3.org/2000/svg"}
    assert re.findall(r"(?:src|href)=\"([^\"]*)\"", page) == ["data:,", "#main"]
    assert "default-src 'none'" in page
    assert "unsafe-inline" not in page


def test_the_page_says_what_was_published_and_what_is_promised() -> None:
    release = by_diagnosis()
    page = page_of(release, title="Diagnoses")
    for part in (
        "ε = 0.5",
        "1.65",
        "62.3 %",
        "at most 3 in total",
        str(release.guarantee),
        "5 labels: influenza, asthma, diabetes type 2, measles, plague",
        "laplace",
        "every cell got its own noise",
        "95 of 100 releases",
    ):
        assert part in page


def test_the_ledger_has_its_line() -> None:
    release = by_diagnosis()
    assert "names no ledger" in page_of(release, title="x")
    page = page_of(replace(release, record=RECORD), title="x")
    assert "names no ledger" not in page
    for part in (
        "visits",
        "Line in the ledger</dt><dd>no. 3",
        "1 Jan 2026 00:00 UTC",
        "ε = 1.5",
        "Left for later releases</dt><dd>ε = 0.5",
    ):
        assert part in page


def test_a_test_release_is_called_not_private_and_promises_nothing() -> None:
    page = page_of(not_private(), title="x")
    assert 'role="alert"' in page
    assert "Do not publish" in page
    assert "odds" not in page
    assert "hides any one person" not in page


def test_sums_of_a_value_are_called_by_its_name() -> None:
    release = replace(by_diagnosis(), quantity=Quantity("amount", Fraction(1, 100)))
    page = page_of(release, title="x")
    assert "Total amount" in page
    assert data_of(page)["column"] == "total"
    assert "sum(total)" in page


def test_the_chart_has_the_released_values_and_their_ranges() -> None:
    release = by_day_and_sex()
    view = data_of(page_of(release, title="x"))["views"][0]
    picture = view["pictures"][-1]
    assert view["kinds"] == ["lines", "heat"]
    assert picture["name"] == "day"
    assert picture["values"] == pytest.approx(release.values.T.ravel().tolist(), abs=0.01)
    asked = release.interval((7, 1))
    assert (picture["low"][67], picture["high"][67]) == pytest.approx((asked.low, asked.high), abs=0.01)


def test_a_million_cells_make_a_small_page() -> None:
    release = sdp.release(np.arange(2**20) % 50, epsilon="0.5", mechanism="laplace")
    page = page_of(release, title="x")
    assert len(page) < 1_000_000
    assert "1,048,576 cells, too many for one page" in page
    pictures = data_of(page)["views"][0]["pictures"]
    assert [picture["name"] for picture in pictures] == ["steps of 100,000", "steps of 10,000"]
    assert all("low" in picture for picture in pictures)


def test_pairs_of_axes_that_do_not_fit_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = [sdp.Integers(f"a{number}", 0, 3) for number in range(4)]
    release = sdp.release(np.zeros((4,) * 4, int), epsilon=1, domain=sdp.Domain(axes))
    page = page_of(release, title="x")
    assert len(data_of(page)["views"]) == 6 + 4
    assert "There was no room" not in page
    monkeypatch.setattr(_views, "MOST_POINTS_IN_ALL", 4 * 4 + 3 * 16)
    page = page_of(release, title="x")
    assert len(data_of(page)["views"]) == 3 + 4
    assert "There was no room on this page for a1 × a2, a1 × a3, a2 × a3: ask the file." in page


def test_titles_and_files() -> None:
    assert "<title>Records by day, sex, age and ward</title>" in page_of(
        on_four_axes(), title="Records by day, sex, age and ward"
    )
    page = page_of(by_diagnosis(), title="x", file="my visits.parquet")
    assert "sdp.open_release(&#x27;my visits.parquet&#x27;)" in page
    assert "Put the name" not in page
    assert "Put the name of your own file" in page_of(by_diagnosis(), title="x")


def test_the_version_is_that_which_wrote_the_file() -> None:
    page = page_of(replace(by_diagnosis(), written_by="sparsedp 0.0.7"), title="x")
    assert "<dt>File written by</dt><dd>sparsedp 0.0.7</dd>" in page


def test_what_only_specialists_ask_for_is_folded_away() -> None:
    plain, folded = page_of(by_day_and_sex(), title="x").split("<details>")
    assert "computed directly" not in plain
    assert "layers" not in plain.split("<body>")[1]
    assert "layers: computed directly" in folded.split("</details>")[0]
    assert "adaptively: sums of neighbouring cells were measured" in plain


@pytest.mark.parametrize(
    ("make", "title"),
    [
        (a_year_of_hours, "Records per hour"),
        (by_day_and_sex, "Records per day, by sex"),
        (on_four_axes, "Records per day, by sex, age and ward"),
        (by_diagnosis, "Records by diagnosis"),
    ],
)
def test_titles_say_how_much_a_number_holds(make: Callable[[], sdp.Release], title: str) -> None:
    assert default_title(make()) == title


def test_the_time_is_told_as_people_write_it() -> None:
    page = page_of(a_year_of_hours(), title="x")
    assert "8,760 hours, 1 Jan 2013 00:00 to 31 Dec 2013 23:00" in page
    months = sdp.Calendar("month", "2024-01-01", every="1mo", length=15)
    release = sdp.release([90] * 15, epsilon=1, mechanism="laplace", domain=sdp.Domain(months))
    page = page_of(release, title="x")
    assert "15 months, Jan 2024 to Mar 2025" in page
    assert '<p class="lead">Jan 2024 to Mar 2025: 15 numbers' in page
    weeks = sdp.Calendar.between("week", "2024-01-01", "2024-12-29", "1w")
    page = page_of(sdp.release([90] * 52, epsilon=1, mechanism="laplace", domain=sdp.Domain(weeks)), title="x")
    assert "52 weeks, 1 Jan 2024 to 29 Dec 2024" in page


def test_a_release_file_of_the_same_name_beside_the_page_is_named_in_the_examples(tmp_path: Path) -> None:
    release = by_diagnosis()
    release.save(tmp_path / "visits.release.parquet")
    assert "visits.release.parquet" in write_report(release, tmp_path / "visits.html").read_text()


def test_the_page_is_written_under_its_name_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = write_report(by_diagnosis(), str(tmp_path / "a.html"))
    assert path == tmp_path / "a.html"
    assert os.listdir(tmp_path) == ["a.html"]
    first = path.read_bytes()
    assert write_report(by_diagnosis(), path).read_bytes() == first
    assert "<title>Records by diagnosis</title>" in path.read_text()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.pdf", r"ending in \.pdf; give one ending in \.html or \.htm"),
        ("a.parquet", r"ending in \.parquet"),
        ("a", "without an ending"),
        ("missing/a.html", "There is no folder"),
        ("folder.html", "is a folder"),
        ("a\0.html", "not the name of a file"),
    ],
)
def test_places_that_cannot_be_written_get_a_sentence(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(sdp.SparsedpError, match=sentence):
        write_report(by_diagnosis(), tmp_path / name)
    assert os.listdir(tmp_path) == ["folder.html"]


def test_a_failing_disk_leaves_the_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_report(by_diagnosis(), tmp_path / "a.html")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(sdp.BadFile, match=r"No space left on device; nothing was left half-written\.$"):
        write_report(by_day_and_sex(), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.html"]


@pytest.mark.parametrize("title", ["", "   ", 3, "x" * 201])
def test_titles_that_are_none(title: object, tmp_path: Path) -> None:
    with pytest.raises(sdp.InvalidInput, match=r"^title is "):
        write_report(by_diagnosis(), tmp_path / "a.html", title=title)  # type: ignore[arg-type]


def test_a_path_is_wanted() -> None:
    with pytest.raises(sdp.InvalidInput, match="path is of type int"):
        write_report(by_diagnosis(), 3)  # type: ignore[arg-type]
