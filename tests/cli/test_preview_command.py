"""Previews from the shell."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused


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
    ],
)
def test_refusals(arguments: tuple[str, ...], says: str) -> None:
    assert says in refused(*arguments)
