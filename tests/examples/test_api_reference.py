"""The API reference is built from signatures and docstrings, without a warning, and has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import sparsedp

TOOL = Path(__file__).parent.parent.parent / "tools" / "build_api_reference.py"
CONSTANTS = {"MECHANISMS", "__version__"}
"""Public names that are no class and no function, and so have no docstring of their own."""


def test_the_reference(tmp_path: Path) -> None:
    """One test, for it is built once: of several, each process that runs some of them would build its own."""
    run = subprocess.run([sys.executable, "-W", "error", TOOL, "--out", tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    every_public_name_is_there_once_with_its_docstring(tmp_path)
    what_classes_inherit_is_there_too((tmp_path / "mechanisms.md").read_text())
    keywords_that_go_on_are_named((tmp_path / "streams.md").read_text())
    proofs_are_linked_and_examples_are_code(tmp_path)
    nothing_private_to_this_machine_is_in_it(tmp_path)


def sections(page: str) -> dict[str, str]:
    """The parts of a page by the names they explain."""
    parts = re.split(r"^##+ (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def words_of(section: str) -> str:
    """What is said in it beside code and what it inherits from."""
    return re.sub(r"```.*?```|^Inherits from [^\n]*$", "", section, flags=re.DOTALL | re.MULTILINE).strip()


def every_public_name_is_there_once_with_its_docstring(pages: Path) -> None:
    found = [sections(page.read_text()) for page in pages.glob("*.md")]
    for name in sorted(set(sparsedp.__all__) - {"__version__"}):
        explained = [page[name] for page in found if name in page]
        assert len(explained) == 1, f"{name} is in the reference {len(explained)} times"
        assert name in CONSTANTS or words_of(explained[0]), f"{name} has no docstring"


def what_classes_inherit_is_there_too(page: str) -> None:
    assert "Inherits from [Mechanism](#mechanism)." in sections(page)["Laplace"]
    measure = sections(page)["Mechanism.measure"]
    # One item for each argument, not one paragraph for them all.
    items = re.findall(r"^- (.*)$", measure, re.MULTILINE)
    assert [item for item in items if item.startswith("`epsilon`: the privacy budget")]
    assert len(items) >= 8
    assert "counts: ArrayLike" in measure
    assert "numpy" not in page


def keywords_that_go_on_are_named(page: str) -> None:
    assert "epsilon: Number | Budget" in sections(page)["ContinualAdaptive"]
    assert "Unpack" not in page


def proofs_are_linked_and_examples_are_code(pages: Path) -> None:
    texts = [page.read_text() for page in pages.glob("*.md")]
    targets = [target for text in texts for target in re.findall(r"\]\((src/[^)]+)\)", text)]
    assert "src/sparsedp/mechanisms/adaptive.md" in targets
    assert [target for target in targets if not (TOOL.parent.parent / target).exists()] == []
    for text in texts:
        assert not re.search(r"^>>>", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)


def nothing_private_to_this_machine_is_in_it(pages: Path) -> None:
    for page in pages.glob("*.md"):
        assert str(TOOL.parent.parent) not in page.read_text()
