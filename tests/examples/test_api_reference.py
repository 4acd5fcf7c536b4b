"""The API reference is built from the docstrings, without a warning, and has every public name."""

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
    every_public_name_is_there_with_its_docstring(tmp_path)
    what_classes_inherit_is_there_too(tmp_path)
    signatures_are_short(tmp_path)
    nothing_private_to_this_machine_is_in_it(tmp_path)


def sections(page: Path) -> dict[str, str]:
    """The parts of a page by the names they explain."""
    parts = re.split(r'<(?:section|div) id="([^"]+)"', page.read_text())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def every_public_name_is_there_with_its_docstring(pages: Path) -> None:
    found = sections(pages / "sparsedp.html")
    for name in sorted(set(sparsedp.__all__) - {"__version__"}):
        assert name in found, f"{name} is not in the reference"
        assert name in CONSTANTS or 'class="docstring"' in found[name], f"{name} has no docstring"


def what_classes_inherit_is_there_too(pages: Path) -> None:
    measure = sections(pages / "sparsedp" / "mechanisms" / "base.html")["Mechanism.measure"]
    assert "sparsedp/mechanisms/base.html#Mechanism.measure" in (pages / "sparsedp.html").read_text()
    # One item for each argument, not one paragraph for them all.
    items = [re.sub(r"<[^>]*>", "", item) for item in re.findall(r"<li>(.*?)</li>", measure, re.DOTALL)]
    assert [item for item in items if item.startswith("epsilon: the privacy budget")]
    assert len(items) >= 8


def signatures_are_short(pages: Path) -> None:
    page = re.sub(r"<[^>]*>", "", (pages / "sparsedp" / "mechanisms" / "base.html").read_text())
    assert "counts: ArrayLike" in page
    assert "numpy._typing" not in page


def nothing_private_to_this_machine_is_in_it(pages: Path) -> None:
    for page in pages.rglob("*.html"):
        assert str(TOOL.parent.parent) not in page.read_text()
