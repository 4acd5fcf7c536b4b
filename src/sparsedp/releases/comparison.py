"""Comparing two releases of the same cells; with the truth, for its owner only: `sparsedp.publishing.truth`."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.releases import saved_form
from sparsedp.releases.queries import place_in_words, shown_place
from sparsedp.releases.release import Release
from sparsedp.releases.uncertainty import Interval, UnknownTogether, checked_level, normal_quantile, shown_number
from sparsedp.validate import Number, whole

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["Comparison", "Difference", "compare"]


def compare(first: Release, second: Release, level: Number = 0.95) -> Comparison:
    """Two releases of the same domain, cell by cell; what they tell together was published already."""
    for argument, one in (("first", first), ("second", second)):
        if not isinstance(one, Release):
            raise InvalidInput(argument, f"of type {type(one).__name__}", "give a release")
    share = checked_level(level)
    if (first.domain, first.time, first.shape) != (second.domain, second.time, second.shape):
        given = f"of other cells ({_cells(second)}) than the first ({_cells(first)})"
        raise InvalidInput("second", given, "compare releases of one domain; a `marginal` of each may have one")
    if first.quantity.column != second.quantity.column or first.quantity.value != second.quantity.value:
        given = f"of another quantity ({second.quantity}) than the first ({first.quantity})"
        raise InvalidInput("second", given, "compare releases of one quantity")
    shared = _share_their_noise(first, second)
    stderr = None
    if first.stderr is not None and second.stderr is not None:
        stderr = first.stderr + second.stderr if shared else np.hypot(first.stderr, second.stderr)
    total = _total_difference(first, second, share, shared=shared)
    return Comparison(("first", "second"), first, first.values, second.values, stderr, total, share)


def _cells(release: Release) -> str:
    named = release.domain is not None or release.time is not None
    return release.span if named else f"{len(release):,} cells without names"


def _share_their_noise(first: Release, second: Release) -> bool:
    """Whether both were recovered from one synopsis, and so have errors that go together."""
    if first.synopsis is None or second.synopsis is None:
        return False
    return first.synopsis is second.synopsis or first.synopsis.digest == second.synopsis.digest


def _total_difference(first: Release, second: Release, level: float, *, shared: bool) -> Interval | None:
    if first.uncertainty is None or second.uncertainty is None:
        return None
    try:
        ones = np.ones(first.shape)
        deviations = [sqrt(errors.variance(ones)) for errors in (first.uncertainty, second.uncertainty)]
    except UnknownTogether:
        return None
    half = normal_quantile(level) * (sum(deviations) if shared else sqrt(sum(one**2 for one in deviations)))
    apart = float(second.values.sum() - first.values.sum())
    return Interval(apart - half, apart + half, apart, level)


# Two tables of the same cells, side by side.


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
        return _correlation(self.first, self.second)

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


def _correlation(first: Floats, second: Floats) -> float:
    """Pearson's; not a number where one of the two does not vary."""
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return nan
    return float(np.corrcoef(first.ravel(), second.ravel())[0, 1])


def _free_name(name: str, table: pa.Table) -> str:
    """An axis may have the name already."""
    return name if name not in table.column_names else _free_name(f"{name}_", table)
