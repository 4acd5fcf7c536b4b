"""Cells of an axis taken together for a picture: which ones each point adds up, and what is written beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class Grouping:
    """The cells `order[starts[i]]`, …, `order[starts[i + 1] − 1]` make point i; without an order, cells in a row.

    `name` says how much a point holds, such as "day" or "10 cells"; `scale` is what a chart needs to write labels:
    JSON-able, with the axis' name and kind. `partial` are the points at the ends that hold less than the others.
    """

    name: str
    starts: Integers
    cells: int
    scale: dict[str, Any]
    order: Integers | None = None
    partial: tuple[int, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def finest(self) -> bool:
        """Whether every point is one cell."""
        return len(self.starts) == self.cells

    def members(self, point: int) -> slice | Integers:
        """The cells of one point."""
        stop = int(self.starts[point + 1]) if point + 1 < len(self.starts) else self.cells
        run = slice(int(self.starts[point]), stop)
        return run if self.order is None else self.order[run]

    def sums(self, values: Floats, axis: int) -> Floats:
        """The points' sums along an axis of a table."""
        ordered = values if self.order is None else values.take(self.order, axis=axis)
        return ordered if self.finest else np.add.reduceat(ordered, self.starts, axis=axis)


def in_runs(keys: Integers) -> Integers:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
