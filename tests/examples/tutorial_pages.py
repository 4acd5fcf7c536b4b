"""A tutorial: a page of docs/tutorials, the script that it is made of, and what the script printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs" / "tutorials"
SCRIPTS = ROOT / "examples" / "tutorials"


@dataclass(frozen=True)
class Tutorial:
    """One of them, by the name of its script."""

    name: str

    @property
    def page(self) -> str:
        return (PAGES / f"{self.name.replace('_', '-')}.md").read_text()

    @property
    def script(self) -> str:
        return (SCRIPTS / f"{self.name}.py").read_text()

    def blocks(self, language: str) -> list[str]:
        """The page's blocks of one language."""
        return re.findall(rf"^```{language}\n(.*?)^```", self.page, re.DOTALL | re.MULTILINE)

    @property
    def shown_code(self) -> str:
        """What of the script a page shows: all but its docstring, its arguments and the picture."""
        body = self.script.split("from __future__ import annotations\n", 1)[1].rsplit("parser = argparse", 1)[0]
        lines = body.replace("import argparse\n", "").splitlines()
        return "\n".join(line for line in lines if not line.startswith("# ----"))

    def run(self, folder: Path, *arguments: str, cheaper: tuple[str, str] | None = None) -> tuple[str, Path]:
        """What the script prints, and where it wrote, run in a folder as a reader would; warnings are errors.

        `cheaper`: a piece of it that mainly costs time, and what to run instead.
        """
        script = SCRIPTS / f"{self.name}.py"
        if cheaper is not None:
            assert self.script.count(cheaper[0]) == 1
            script = folder / script.name
            script.write_text(self.script.replace(*cheaper))
        run = subprocess.run(
            [sys.executable, "-W", "error", script, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(SCRIPTS)},
        )
        assert run.returncode == 0, run.stderr
        (out,) = (folder / "out" / "tutorials").iterdir()
        return run.stdout, out


def without_numbers(text: str) -> list[str]:
    """The lines of a text, its numbers and spaces levelled: noise changes figures, and figures change widths."""
    levelled = (re.sub(r"[+−-]?\d[\d,.:]*", "#", line) for line in text.splitlines())
    return [" ".join(line.split()) for line in levelled if line.strip()]


def shown_as_printed(tutorial: Tutorial, printed: str) -> None:
    """Every line of output on the page is one that the script prints, but for its figures."""
    lines = set(without_numbers(printed))
    blocks = tutorial.blocks("text")
    assert blocks
    for block in blocks:
        for line in without_numbers(block):
            assert line in lines, f"{tutorial.name} does not print such a line: {line}"


TUTORIALS = [Tutorial("daily_cases"), Tutorial("network_trace"), Tutorial("allele_counts"), Tutorial("census")]
