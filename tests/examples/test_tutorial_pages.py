"""What a tutorial's page shows is its script: the code, word for word and in order, and the output, but for figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tutorial_pages import PAGES, SCRIPTS, TUTORIALS, Tutorial, without_numbers

every_tutorial = pytest.mark.parametrize("tutorial", TUTORIALS, ids=[tutorial.name for tutorial in TUTORIALS])


@every_tutorial
def test_the_code_of_a_page_is_the_scripts_own_whole_and_in_order(tutorial: Tutorial) -> None:
    """So that pasting the blocks one after another does what the script does: the first one has the imports."""
    blocks = tutorial.blocks("python")
    assert len(blocks) >= 4
    assert "import sparsedp as sdp\n" in blocks[0]
    assert "from synthetic_" in blocks[0]
    assert lines_of("".join(blocks)) == lines_of(tutorial.shown_code)


def lines_of(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.strip()]


@every_tutorial
def test_a_page_begins_with_whom_it_is_for_and_what_it_costs(tutorial: Tutorial) -> None:
    first = tutorial.page.split("\n\n")[1]
    assert first.startswith("*For whoever publishes ")
    for said in ("It costs ", "ε = ", "c = "):
        assert said in first


@every_tutorial
def test_no_output_is_shown_twice(tutorial: Tutorial) -> None:
    lines = [line for block in tutorial.blocks("text") for line in block.splitlines() if line.strip()]
    assert len(set(lines)) == len(lines)


@every_tutorial
def test_no_script_deletes_anything(tutorial: Tutorial) -> None:
    """It would be a ledger, which is kept for ever."""
    for word in ("rmtree", "unlink", "remove("):
        assert word not in tutorial.script


@every_tutorial
def test_a_page_names_the_command_and_its_picture(tutorial: Tutorial) -> None:
    (command,) = tutorial.blocks("sh")
    script, picture = re.findall(r"python (\S+) --picture (\S+)", command)[0]
    assert script == f"examples/tutorials/{tutorial.name}.py"
    assert Path(picture).name in re.findall(r"\]\((.*?\.png)\)", tutorial.page)
    assert (PAGES / Path(picture).name).stat().st_size < 150_000


def test_every_script_has_its_page() -> None:
    scripts = {path.stem for path in SCRIPTS.glob("*.py") if not path.stem.startswith("synthetic_")}
    pages = {path.stem.replace("-", "_") for path in PAGES.glob("*.md")}
    assert scripts == pages == {tutorial.name for tutorial in TUTORIALS}


def test_levelling_keeps_the_words() -> None:
    assert without_numbers("rs12  −0.5 ± 1,2\n\n 13:00 h") == ["rs# # ± #", "# h"]
