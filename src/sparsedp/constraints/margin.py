"""A margin: the totals of a table over some of its axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Integers, Numbers


@dataclass(frozen=True, eq=False)
class Margin:
    """`totals[i, …]` is the sum of all cells at place i, … of the `axes` (rising); no axes: the grand total."""

    axes: tuple[int, ...]
    totals: Integers

    def of(self, table: Numbers) -> Numbers:
        """The sums of `table` that this margin is about."""
        others = tuple(axis for axis in range(table.ndim) if axis not in self.axes)
        return np.asarray(table.sum(axis=others))

    def over(self, dimensions: int, figures: Numbers) -> Numbers:
        """`figures`, one for each total, in a shape that broadcasts to the table's."""
        shape = iter(figures.shape)
        return figures.reshape([next(shape) if axis in self.axes else 1 for axis in range(dimensions)])

    def shared_with(self, other: Margin) -> tuple[Integers, Integers]:
        """Both margins' totals over the axes they share; of one table they are equal."""
        shared = [axis for axis in self.axes if axis in other.axes]
        return _over(self, shared), _over(other, shared)

    def groups(self, shape: tuple[int, ...]) -> Integers:
        """For each cell the number of its total, the totals being counted from 0 in order."""
        numbers = np.arange(self.totals.size, dtype=np.int64).reshape(self.totals.shape)
        return np.ascontiguousarray(np.broadcast_to(self.over(len(shape), numbers), shape))

    def most_off(self, table: Floats) -> float:
        """The largest error of the table's sums, relative to the totals (absolute below 1)."""
        off = np.abs(self.of(table) - self.totals) / np.maximum(self.totals, 1)
        return float(off.max(initial=0.0))


def _over(margin: Margin, axes: list[int]) -> Integers:
    others = tuple(place for place, axis in enumerate(margin.axes) if axis not in axes)
    return np.asarray(margin.totals.sum(axis=others))
