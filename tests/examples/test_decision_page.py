"""The page that says which mechanism to take: its code runs, and its figures agree with one another and other pages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "which-mechanism.md").read_text()


ONE_RUN = "import functools\nimport sparsedp\nsparsedp.preview = functools.partial(sparsedp.preview, runs=1)\n"
"""Previews of one made-up table of each kind, and not of as many as take seconds."""


def test_its_code_runs(tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(ONE_RUN + "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)))
    run = subprocess.run([sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Hierarchical(branching=16) {'cell': " in run.stdout


def test_its_shares_of_the_error_of_laplace_are_those_of_its_table() -> None:
    """At ε = 0.1 and 0.01, of cells and of ranges."""
    adaptive, laplace = (
        [[float(figure.replace(",", "")) for figure in entry.split(" / ")] for entry in line.split(" | ")]
        for line in re.findall(r"^\| `(?:Adaptive|Laplace)\(\)` \| .*? \| (.*) \|$", PAGE, re.MULTILINE)
    )
    said = re.findall(
        r"makes ([\d.]+) to ([\d.]+) of `Laplace`'s error in single cells and ([\d.]+) to ([\d.]+) of", PAGE
    )
    for place in range(2):
        shares = sorted(ours[place] / theirs[place] for ours, theirs in zip(adaptive, laplace, strict=True))
        assert [f"{share:.2f}" for share in shares] == list(said[0][2 * place : 2 * place + 2])


def test_its_figures_under_epsilon_and_delta_are_those_of_the_guarantees() -> None:
    section = PAGE[PAGE.index("## ε, or (ε, δ)?") :].split("\n## ")[0]
    figures = re.findall(r"\d[\d,]* / \d[\d,]*", section)
    assert len(figures) == 4
    assert all(f"| {each} |" in (DOCS / "guarantees.md").read_text() for each in figures)


def test_its_figures_of_streams_are_those_of_the_streams_page() -> None:
    for figure in ("495", "40,089", "1,318"):
        assert figure in PAGE
        assert figure in (DOCS / "streams.md").read_text()
