"""What the documents say runs, and what they point at exists."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sparsedp

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md")]
SOURCE = Path(sparsedp.__file__).parent
MODULES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): text.count(">>> ")
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in (text := path.read_text())
}
"""Those with examples in their docstrings, and how many: to look for them in all others takes half a minute."""


@pytest.mark.parametrize(
    ("document", "printed"),
    [
        ("README.md", "Differentially private with ε = 0.5"),
        ("docs/streams.md", "8 ε = 0.5"),
        ("docs/counts.md", "promised by the caller"),
        ("docs/records.md", "county:north(a,b),south(c)/state"),
        ("docs/releases.md", "visits"),
        ("docs/marginals.md", "county.region"),
        ("docs/compressive.md", "Differentially private with ε = 0.5"),
        ("docs/signatures.md", "signed with SHA256:"),
        pytest.param("docs/preview.md", "no data was seen and nothing is spent", marks=pytest.mark.slow),
    ],
)
def test_a_documents_examples_run_in_order(document: str, printed: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks))
    run = subprocess.run([sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert printed in run.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=[str(path.relative_to(ROOT)) for path in DOCUMENTS])
def test_links_lead_somewhere(document: Path) -> None:
    for target, _, anchor in re.findall(r"\]\(([^)#\s]*)(#([^)\s]+))?\)", document.read_text()):
        if target.startswith("http"):
            continue
        file = document.parent / target if target else document
        assert file.exists(), f"{document.name} points at {target}"
        assert not anchor or anchor in anchors(file), f"{document.name} points at {target}#{anchor}"


def anchors(document: Path) -> set[str]:
    """What the headings of a page are called in links, on code hosts and in the site alike."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 1100


def test_the_accuracy_page_quotes_its_tables() -> None:
    """The main figures are those that the benchmarks wrote into the pages of tables."""
    page = (ROOT / "docs" / "accuracy.md").read_text()
    tables = (ROOT / "docs" / "accuracy-tables.md").read_text()
    published = (ROOT / "docs" / "published.md").read_text()
    figure = r"([\d.]+ \[.*?\])"
    sources = (
        ("the other mechanisms of this library", tables, rf"- {{}}: .* to the best other mechanism.*?: {figure}"),
        ("seven published mechanisms, run here", published, rf"- {{}}: {figure} times the error of the best"),
        ("the same seven, figures as published", tables, rf"- {{}}: .* to the best published figure.*?: {figure}"),
    )
    for row, source, pattern in sources:
        (quoted,) = re.findall(rf"^\| {row} \|.*$", page, re.MULTILINE)
        written = [re.findall(pattern.format(mode), source) for mode in ("cells", "ranges", "any")]
        assert quoted.strip(" |").split(" | ")[2:] == [only for (only,) in written]
    by_setting = re.findall(r"^\| \*geometric mean\* \| (.*) \| \*\*", published, re.MULTILINE)
    for row, figures in zip(("both", "cells", "ranges"), by_setting, strict=True):
        assert f"| {row} | {figures} |" in page
    verdicts = re.findall(r"^- (?:met|MISSED): .*$", (ROOT / "docs" / "coverage.md").read_text(), re.MULTILINE)
    assert len(verdicts) == 5
    assert all(line in page for line in verdicts)


@pytest.mark.parametrize("document", DOCUMENTS, ids=[str(path.relative_to(ROOT)) for path in DOCUMENTS])
def test_nothing_is_left_to_be_filled_in(document: Path) -> None:
    assert not re.findall(r"^[A-Z]{3,}$|TODO|FIXME|XXX", document.read_text(), re.MULTILINE)


def test_make_targets_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in DOCUMENTS:
        for named in re.findall(r"`(?:\w+=\S+ )?make ([a-z-]+)", document.read_text()):
            assert named in targets, f"{document.name} names `make {named}`"


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)) == (0, MODULES[name])


def test_there_are_docstring_examples() -> None:
    assert len(MODULES) >= 3
