"""What a tutorial's page shows is its script: the code, word for word and in order, and the output, but for figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tutorial_pages import PAGES, SCRIPTS, TUTORIALS, Tutorial, without_numbers

every_tutorial = pytest.mark.parametrize("tutorial", TUTORIALS, ids=[tutorial.name for tutorial in TUTORIALS])


@every_tutorial
def test_the_code_of_a_page_is_the_scripts_own_in_order(tutorial: Tutorial) -> None:
    blocks, place = tutorial.blocks("python"), 0
    assert len(blocks) >= 3
    for block in blocks:
        assert block in tutorial.script[place:], f"not in {tutorial.name}.py, or not in this order:\n{block}"
        place = tutorial.script.index(block, place) + len(block)


@every_tutorial
def test_a_page_leaves_out_only_the_beginning_and_the_picture(tutorial: Tutorial) -> None:
    shown = "".join(tutorial.blocks("python"))
    body = tutorial.script.split("# ----", 1)[1].rsplit("parser = argparse", 1)[0]
    left_out = [line for line in body.splitlines()[1:] if line.strip() and not line.startswith("# ----")]
    assert [line for line in left_out if line not in shown.splitlines()] == []


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
