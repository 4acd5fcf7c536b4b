"""How far a call walks through the house: modules, functions, and changes of folder, for what users do most.

`python tools/walk.py`: every journey is made twice, and the second one counted, when all is loaded and compiled. A
change of folder is a call from a function in one folder of the package to a function in another, or the return from it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import sparsedp as sdp

PACKAGE = Path(sdp.__file__).parent


@dataclass
class Walk:
    """What one journey went through, told by the interpreter's own events."""

    modules: set[str] = field(default_factory=set)
    functions: set[tuple[str, int]] = field(default_factory=set)
    changes: int = 0
    _folder: str | None = None
    _known: dict[str, tuple[str, str] | None] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call, or of a return, within the package."""
        if event not in ("call", "return"):
            return
        at = frame.f_code.co_filename
        if at not in self._known:
            path = Path(at)
            inside = path.is_relative_to(PACKAGE)
            self._known[at] = (str(path), str(path.parent)) if inside else None
        here = self._known[at]
        if here is None:
            return
        module, folder = here
        if event == "call":
            self.modules.add(module)
            self.functions.add((module, frame.f_code.co_firstlineno))
        if folder != self._folder:
            self.changes += self._folder is not None
            self._folder = folder


def walk(journey: Callable[[], object]) -> Walk:
    """One journey, counted when it is made for the second time."""
    journey()
    found = Walk()
    sys.setprofile(found)
    try:
        journey()
    finally:
        sys.setprofile(None)
    return found


def journeys(folder: Path) -> dict[str, Callable[[], object]]:
    """What users do most, with public inputs."""
    draw = np.random.default_rng(1)
    row, table = draw.poisson(3, 4096), draw.poisson(3, (64, 64))
    people = pd.DataFrame({"person": np.arange(500), "ward": draw.choice(["a", "b", "c"], 500)})
    compressive = sdp.Compressive(sparsity=16)
    stream = sdp.ContinualAdaptive(epsilon=1)
    stream.observe_many(row[:2000])
    books, number = sdp.open_ledger(folder / "ledger.db"), iter(range(100))
    books.declare("visits", epsilon=10)

    def publish() -> object:
        to = folder / f"{next(number)}.parquet"
        domain = ["ward:a,b,c"]
        return sdp.publish(people, to=to, domain=domain, privacy_unit="person", epsilon="0.1", ledger=books["visits"])

    return {
        "release of a row": lambda: sdp.release(row, epsilon=1),
        "release of a table": lambda: sdp.release(table, epsilon=1),
        "Compressive": lambda: compressive.release(row, epsilon=1),
        "publish records, with a ledger": publish,
        "a stream's tick": lambda: stream.observe(3),
        "a stream's release": stream.release,
    }


def main() -> int:
    """Print one line a journey."""
    table = Table("", "modules", "functions", "changes of folder")
    for column in table.columns[1:]:
        column.justify = "right"
    with tempfile.TemporaryDirectory() as folder:
        for name, journey in journeys(Path(folder)).items():
            found = walk(journey)
            table.add_row(name, *(f"{n:,}" for n in (len(found.modules), len(found.functions), found.changes)))
    Console().print(table)
    files = list(PACKAGE.rglob("*.py"))
    lines = sum(len(file.read_text().splitlines()) for file in files)
    print(f"{len(files)} files, {lines:,} lines in the package")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
