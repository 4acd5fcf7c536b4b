"""Two tables of the same cells, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.releases import saved_form
from sparsedp.releases.release import Release
from sparsedp.releases.top_cells import place_in_words, shown_place
from sparsedp.releases.uncertainty import Interval, normal_quantile, shown_number
from sparsedp.validate import whole

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Difference:
    """One cell of both: what it is, its two values, and where the true difference lies (None if nothing is known)."""

    place: dict[str, Any]
    first: float
    second: float
    interval: Interval | None

    def __str__(self) -> str:
        found = shown_number(self.second - self.first, "+") if self.interval is None else str(self.interval)
        first, second = shown_number(self.first), shown_number(self.second)
        return f"{shown_place(self.place)}: {first} → {second}, difference {found}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The values of two tables of the same cells, and how far apart they are.

    `difference` is second − first, and `stderr` its standard error, cell by cell, None where that is not known: of two
    releases with noise of their own the root of the sum of squares, and of two that share theirs the sum. `total` is
    the difference of the sums of all cells, None where its error is not known. `correlation` is that of the cells.
    """

    names: tuple[str, str]
    release: Release
    first: Floats
    second: Floats
    stderr: Floats | None
    total: Interval | None
    level: float

    @property
    def private(self) -> bool:
        """Whether this tells nothing but what was published."""
        return self.release.private

    @property
    def difference(self) -> Floats:
        """Second − first."""
        return self.second - self.first

    @property
    def correlation(self) -> float:
        """Pearson's, between the cells of both; not a number if all cells of one are the same."""
        return correlation(self.first, self.second)

    def largest(self, k: int = 10) -> list[Difference]:
        """The cells that differ most, by the size of the difference. Each interval holds for one cell chosen before."""
        apart = np.abs(self.difference).ravel()
        count = min(whole("k", k), len(apart))
        cells = np.argsort(-apart, kind="stable")[:count]
        return [self._cell(tuple(int(part) for part in np.unravel_index(cell, self.release.shape))) for cell in cells]

    def _cell(self, place: tuple[int, ...]) -> Difference:
        first, second = float(self.first[place]), float(self.second[place])
        interval = None
        if self.stderr is not None:
            half = normal_quantile(self.level) * float(self.stderr[place])
            interval = Interval(second - first - half, second - first + half, second - first, self.level)
        return Difference(place_in_words(self.release, place), first, second, interval)

    def to_arrow(self) -> pa.Table:
        """One row a cell: where it is, both values, the difference, and its standard error where that is known."""
        import pyarrow as pa

        places = self.release.to_arrow()
        table = places.select([name for name in places.column_names if name not in saved_form.published(self.release)])
        columns = {self.names[0]: self.first, self.names[1]: self.second, "difference": self.difference}
        if self.stderr is not None:
            columns["stderr"] = self.stderr
        for name, values in columns.items():
            table = table.append_column(_free_name(name, table), pa.array(np.ascontiguousarray(values).ravel()))
        return table

    def __str__(self) -> str:
        largest = [f"  {cell}" for cell in self.largest(5)]
        return "\n".join([*self._facts(), "largest differences:", *largest])

    def _facts(self) -> list[str]:
        cells = self.release.values.size
        first, second = float(self.first.sum()), float(self.second.sum())
        apart = shown_number(second - first, "+")
        if self.total is not None:
            low, high = shown_number(self.total.low, "+"), shown_number(self.total.high, "+")
            apart += f" [{low}, {high}] at {self.level:.6g}"
        return [
            f"{cells:,} cells, {self.release.span}",
            f"total: {shown_number(first)} → {shown_number(second)}, difference {apart}",
            f"cells: mean absolute difference {np.abs(self.difference).mean():,.6g}, "
            f"correlation {self.correlation:.4f}",
        ]

    __repr__ = __str__


def correlation(first: Floats, second: Floats) -> float:
    """Pearson's; not a number where one of the two does not vary."""
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return nan
    return float(np.corrcoef(first.ravel(), second.ravel())[0, 1])


def _free_name(name: str, table: pa.Table) -> str:
    """An axis may have the name already."""
    return name if name not in table.column_names else _free_name(f"{name}_", table)
