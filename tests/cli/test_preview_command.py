"""Previews from the shell."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused, run


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


ASKED = ("preview", "--by", "hour:0..23", "--epsilon", "0.5", "--mechanism", "laplace", "--shape", "smooth")


def test_words_figures_and_a_picture() -> None:
    assert "nothing is spent" in ok(*ASKED, "--total", "10000", "-o", "preview.png").text
    assert Path("preview.png").read_bytes().startswith(b"\x89PNG")
    found = ok(*ASKED, "--total", "10_000..20_000", "--json").json
    assert found["budget"] == {"epsilon": "1/2"}
    assert {row["total"] for row in found["errors"]} == {10_000, 20_000}
    assert [row["question"] for row in found["questions"]] == ["the total", "a cell"] * 2
    assert {row["verdict"] for row in found["questions"]} == {"good"}
    assert found["left_out"] == found["suggestions"] == []


def test_questions_are_a_table_with_what_would_be_better_below() -> None:
    asked = ("preview", "--by", "hour:0..23", "--by", "sex:F,M", "--epsilon", "0.05", "--mechanism", "laplace")
    ended = ok(*asked, "--total", "1000", "--shape", "smooth")
    lines = [line.split() for line in ended.text.splitlines()]
    assert ["question", "entries", "typical", "entry", "error", "of", "one", "relative", "error", "verdict"] in lines
    assert any(line[:1] == ["sex"] and line[-1:] == ["rough"] for line in lines)
    assert any(line[:2] == ["a", "cell"] and line[-1:] == ["noise"] for line in lines)
    assert "\n- Fewer cells: " in ended.text
    drawn = run(*asked, "--total", "1000", "--shape", "smooth", terminal=True)
    assert drawn.code == 0
    assert "│ sex " in drawn.text


PROJECT = """
[data]
source = "nowhere.parquet"
unit = "patient_id"
max_contributions = 3
by = ["hour:0..23", "sex:F,M"]
[privacy]
ledger = "none.db"
epsilon = 0.1
mechanism = "laplace"
[output]
release = "hours.parquet"
"""


def test_the_project_file_says_what_a_preview_can_use_and_nothing_else_is_looked_at() -> None:
    Path("sparsedp.toml").write_text(PROJECT)
    ended = ok("preview", "--total", "1000", "--shape", "flat")
    assert "at ε = 0.1 by laplace, for hour (24) × sex (2)" in ended.text
    assert ended.errors == (
        "sparsedp: from sparsedp.toml: max_contributions = 3, by = ['hour:0..23', 'sex:F,M'], "
        "epsilon = 0.1, mechanism = laplace.\n"
    )
    assert [path.name for path in Path().iterdir()] == ["sparsedp.toml"]
    # Laplace noise of scale 30.
    figures = ok("preview", "--total", "1000", "--shape", "flat", "--json").json
    assert figures["errors"][0]["laplace"] == pytest.approx(30 * 2**0.5, rel=0.01)


def test_what_is_typed_takes_precedence_over_the_project_file() -> None:
    Path("elsewhere.toml").write_text(PROJECT)
    ended = ok(
        "preview", "--project", "elsewhere.toml", "--total", "1000", "--shape", "flat", "--rho", "0.5", "--by", "x:1..9"
    )
    assert "at ρ = 0.5 by laplace, for x (9)" in ended.text
    assert ended.errors == "sparsedp: from elsewhere.toml: max_contributions = 3, mechanism = laplace.\n"


def test_sums_of_a_value_are_not_what_a_preview_is_of() -> None:
    Path("sparsedp.toml").write_text(PROJECT.replace("[privacy]", 'value = "amount"\n[privacy]'))
    ended = ok("preview", "--total", "1000", "--shape", "flat")
    assert "sparsedp.toml publishes sums of amount; a preview is of counts" in ended.errors


def test_a_workload_as_for_a_release() -> None:
    asked = ("preview", "--by", "hour:0..5", "--by", "sex:F,M", "--epsilon", "1", "--total", "999", "--shape", "flat")
    assert "by adaptive:hour*sex,sex" in ok(*asked, "--workload", "hour*sex,sex").text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*ASKED, "--total", "many"), "give one, such as 50000"),
        ((*ASKED, "--total", "100", "-o", "preview.doc"), "end it in .png or .svg or .pdf"),
        ((*ASKED[:5], "--total", "100", "--mechanism", "laplac"), "did you mean 'laplace'?"),
        ((*ASKED[:5], "--total", "100", "--mechanism", "laplace:cells"), "a setting of adaptive only"),
        ((*ASKED[:5], "--total", "100", "--mechanism", "adaptive:cell"), "did you mean 'cells'?"),
        (("preview", "--epsilon", "1", "--total", "100"), "--by is missing"),
        (("preview", "--by", "hour:0..23", "--total", "100"), "epsilon is missing"),
        ((*ASKED, "--total", "100", "--workload", "cells"), "a setting of adaptive only"),
        ((*ASKED[:5], "--total", "100", "--workload", "hour*sx"), "a marginal of 'sx', which is not known"),
        ((*ASKED, "--total", "100", "--project", "none.toml"), "There is no project file none.toml"),
        ((*ASKED, "--total", "100", "--max-contributions", "0"), "--max-contributions is 0"),
    ],
)
def test_refusals(arguments: tuple[str, ...], says: str) -> None:
    assert says in refused(*arguments)
