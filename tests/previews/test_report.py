"""What a preview says and draws."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.mechanisms import Mechanism


@pytest.fixture(scope="module")
def preview() -> sdp.Preview:
    domain = sdp.Domain([sdp.Categories("<area>", ["a", "b"]), sdp.Integers("hour", 0, 23)])
    return sdp.preview(domain, epsilon="0.5", total=(1000, 9000), mechanism="hierarchical", runs=2)


def test_words_say_what_was_assumed_and_that_nothing_is_spent(preview: sdp.Preview) -> None:
    text = str(preview)
    for part in ("ε = 0.5", "hierarchical", "<area> (2) × hour (24)", "1,000 or 9,000", "nothing is spent"):
        assert part in text
    assert len(re.findall(r"^the total", text, re.MULTILINE)) == 2 * 2
    assert text.count("a box of 5 cells") == 2
    assert "stands out, by three standard errors, from about" in text
    assert repr(preview).startswith("Preview(<area> (2) × hour (24), ε = 0.5, hierarchical: a cell off by ")


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (sdp.Adaptive(), "adaptive"),
        (sdp.Adaptive("ranges"), "adaptive:ranges"),
        ("adaptive:cells", "adaptive:cells"),
        (sdp.Hierarchical(branching=16), "hierarchical (branching 16)"),
        (sdp.Compressive(basis="cosine", seed=3), "compressive (basis cosine)"),
    ],
)
def test_the_workload_and_other_settings_are_said(mechanism: Mechanism | str, said: str) -> None:
    preview = sdp.preview(64, epsilon=1, total=900, smoothness="flat", mechanism=mechanism, runs=1)
    assert f" by {said}, for axis0 (64)" in str(preview)
    assert f", {said}: a cell off by" in repr(preview)
    assert f"release by {said} at" in preview.plot().get_suptitle()


def test_html_holds_the_same_and_escapes_names(preview: sdp.Preview) -> None:
    html = preview._repr_html_()
    assert "&lt;area&gt;" in html
    assert "<area>" not in html
    assert html.count("<tr>") == 2 * 4 + 2 * 5
    assert "nothing is spent" in html


def test_what_people_ask_is_shown_with_a_verdict(preview: sdp.Preview) -> None:
    text = str(preview)
    assert text.count("What people ask, and how far off") == 2
    assert "if they add up to about 9,000:" in text
    for row in preview.questions:
        assert re.search(rf"^{row['question']} .* {row['verdict']}$", text, re.MULTILINE)
    assert "Good: the error is up to 10 %" in text


def test_cells_that_are_mostly_noise_are_called_so() -> None:
    faint = sdp.preview(100, epsilon="0.01", total=100, mechanism="laplace", runs=1)
    assert re.search(r"^a cell .* noise$", str(faint), re.MULTILINE)


def test_where_there_is_no_error_there_is_nothing_to_halve() -> None:
    text = str(sdp.preview(2, epsilon=10**9, total=5, smoothness="flat", mechanism="laplace", runs=1))
    assert "–" in text
    assert "far more" not in text
    assert "a range of 1 cell " in text


def test_a_lone_cell_may_never_stand_out() -> None:
    """A projection to few coefficients smears a lone cell over many."""
    mechanism = sdp.Compressive(basis="cosine", sparsity=2, rows=8, seed=1)
    smeared = sdp.preview(256, epsilon=1, total=10**5, smoothness="flat", mechanism=mechanism, runs=1)
    assert smeared.table[0]["stands_out"] is None
    assert "does not stand out" in str(smeared)


def test_a_picture_is_written(preview: sdp.Preview, tmp_path: Path) -> None:
    path = preview.plot(tmp_path / "preview.png")
    assert path == tmp_path / "preview.png"
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["missing/preview.png", "preview.foo", "preview"])
def test_where_none_can_be_written_a_sentence_says_so_and_nothing_is(
    preview: sdp.Preview, tmp_path: Path, name: str
) -> None:
    with pytest.raises(sdp.SparsedpError, match=r"ending in \.png or \.svg or \.pdf|no folder"):
        preview.plot(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_a_path_the_figure_itself_is_returned(preview: sdp.Preview) -> None:
    release, errors, questions = preview.plot().axes
    assert "smooth, total 1,000" in release.get_title(loc="left")
    assert release.get_xlabel() == "hour"
    assert release.get_title(loc="left").endswith(("; <area> a", "; <area> b"))
    assert errors.get_ylabel() == "root mean square error"
    asked = next(line for line in errors.get_lines() if line.get_label() == "a cell")
    assert asked.get_xdata().tolist() == [0.25, 0.5, 1, 2]
    drawn = asked.get_ydata().tolist()
    assert drawn == sorted(drawn, reverse=True)
    assert "if the counts add up to about 1,000" in questions.get_title(loc="left")
    assert [label.get_text() for label in questions.get_yticklabels()] == ["the total", "<area>", "hour", "a cell"]
    verdicts = [row["verdict"] for row in preview.questions if row["total"] == 1000]
    assert [text.get_text().split(", ")[1] for text in questions.texts] == verdicts


def test_the_picture_has_room_for_some_questions_only() -> None:
    many = sdp.preview((2, 3, 2, 3, 2, 3), epsilon=1, total=9000, mechanism="laplace", runs=1)
    questions = many.plot().axes[2]
    shown = [label.get_text() for label in questions.get_yticklabels()]
    assert len(shown) == 16 < len(many.questions)
    assert (shown[0], shown[-1]) == ("the total", "a cell")


def test_the_picture_is_in_the_axes_own_words_and_no_band_is_below_zero() -> None:
    texts = ["day:2024-01-01..2024-02-29", "ward:3..5"]
    preview = sdp.preview(texts, epsilon="0.1", total=500, smoothness="spiky", runs=1)
    axis = preview.plot().axes[0]
    counts, band = axis.collections
    days = np.array(["2023-12-31", "2024-03-01"], dtype="datetime64[D]").astype(float)
    for drawn in (counts, band):
        places = drawn.get_paths()[0].vertices[:, 0]
        assert days[0] < places.min() < places.max() < days[1]
    assert band.get_paths()[0].vertices[:, 1].min() >= 0
    assert axis.get_title(loc="left").endswith(("; ward 3", "; ward 4", "; ward 5"))


def test_labels_stand_below_the_picture_where_no_axis_has_an_order() -> None:
    domain = sdp.Domain(sdp.Categories("kind", [f"kind {number}" for number in range(30)]))
    axis = sdp.preview(domain, epsilon=1, total=900, mechanism="laplace", runs=1).plot().axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()][:2] == ["kind 0", "kind 3"]


def test_without_matplotlib_one_sentence_says_so(preview: sdp.Preview, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(sdp.InvalidInput, match=r'pip install "sparsedp\[plot\]"'):
        preview.plot()
