"""A release: the published estimate of every cell, with the promise that came with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp import columns_file
from sparsedp.arrays import Floats
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.moments import Moments
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.time_axis import TimeAxis

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Release:
    """D*, an estimate of all n cells. Public: any number of any queries costs nothing more.

    `values` are not rounded or clipped: noise can make a cell fractional or negative, and clipping would make every
    long sum too large. `recovery` says how the estimate was made and how the recovery ended. The cells of a stream's
    release are its ticks, and `time` says when they were; any other release has none.
    """

    values: Floats
    guarantee: Guarantee
    mechanism: str
    noise: dict[str, Any]
    recovery: dict[str, Any]
    time: TimeAxis | None = None

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        if self.time is not None:
            if not isinstance(self.time, TimeAxis):
                raise InvalidInput("time", f"of type {type(self.time).__name__}", "give a TimeAxis")
            self.time.times(len(self))  # refuses a calendar that ends before the release does

    def with_time(self, axis: TimeAxis) -> Release:
        """The same release, its cells being the ticks of a time axis."""
        return replace(self, time=axis)

    @property
    def times(self) -> npt.NDArray[Any]:
        """When each tick was: datetime64[us], in UTC if the axis is; the ticks' numbers if it has no calendar."""
        if self.time is None:
            raise InvalidInput("release", "without a time axis", "its cells are numbered from 0; `with_time` gives one")
        return self.time.times(len(self))

    @property
    def spent(self) -> Budget:
        """What the release was charged at, exactly."""
        return self.guarantee.spent

    @property
    def private(self) -> bool:
        """False when the noise was seeded for a test: such a release protects nobody."""
        return self.guarantee.private

    def __len__(self) -> int:
        return int(self.values.size)

    def __getitem__(self, cells: Any) -> Any:
        """Cells as in a numpy array: `release[3]`, `release[3:9]`; on a time axis also `release["2026-01-01"]`."""
        if self.time is not None and isinstance(cells, str | date | np.datetime64):
            tick = self.time.tick_of("time", cells)
            if tick >= len(self):
                given = f"{self.time.shown(tick)}, after the last tick"
                raise InvalidInput("time", given, f"give one up to {self.time.shown(len(self) - 1)}")
            return self.values[tick]
        return self.values[cells]

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """So that numpy functions take a release as it is: `np.quantile(release, 0.9)`."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def query(self, question: Callable[[Floats], Answer] | npt.ArrayLike) -> Answer | float:
        """Ask anything: a function of all cells, or weights for a weighted sum of them.

        `release.query(np.argmax)`, `release.query(np.arange(24) < 6)`.
        """
        if callable(question):
            return question(self.values)
        weights = np.asarray(question)
        if weights.shape != self.values.shape or weights.dtype.kind not in "biuf":
            given = f"an array of shape {weights.shape} and type {weights.dtype}"
            raise InvalidInput("question", given, f"give a function, or one number for each of the {len(self)} cells")
        return float(self.values @ weights)

    def range_sum(self, start: Moments, stop: Moments) -> Any:
        """The sum of cells start, …, stop − 1, as in a Python slice; arrays of bounds give an array of sums.

        On a time axis a bound may also be a time: `release.range_sum("2026-01-01", "2026-02-01")` is all of January.
        """
        starts, stops = self._bounds("start", start), self._bounds("stop", stop)
        if starts.shape != stops.shape and starts.ndim and stops.ndim:
            raise InvalidInput("stop", f"of shape {stops.shape}", f"give as many bounds as start has, {starts.shape}")
        if np.any(starts > stops):
            raise InvalidInput("start", "after stop", "give start ≤ stop")
        sums = self._prefix_sums[stops] - self._prefix_sums[starts]
        return float(sums) if np.ndim(sums) == 0 else sums

    def _bounds(self, argument: str, given: Moments) -> npt.NDArray[Any]:
        """Bounds of ranges as cell numbers, within the cells and their end."""
        bounds = np.asarray(given) if self.time is None else self.time.ticks_of(argument, given)
        if bounds.dtype.kind not in "iu":
            raise InvalidInput(argument, "not whole numbers", "give cell numbers, counted from 0")
        if bounds.size and not (bounds.min() >= 0 and bounds.max() <= len(self)):
            limits = f"give cell numbers from 0 to {len(self)}"
            if self.time is not None and self.time.start is not None:
                limits += f", or times from {self.time.shown(0)} to {self.time.shown(len(self))}"
            raise InvalidInput(argument, "outside the cells", limits)
        return bounds

    @cached_property
    def _prefix_sums(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.values)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a Parquet file with the columns `cell` and `count`; the promise is in its metadata.

        On a time axis the columns are `tick`, `time` (a timestamp, where there is a calendar) and `count`.
        """
        columns = {**self._places(), "count": self.values}
        utc = ["time"] if self.time is not None and self.time.utc else []
        return columns_file.write(path, "release", columns, self._describe(), utc=utc)

    def _places(self) -> dict[str, columns_file.Column]:
        """The columns that say which cell a count is for."""
        numbers = np.arange(len(self), dtype=np.int64)
        if self.time is None:
            return {"cell": numbers}
        return {"tick": numbers} if self.time.start is None else {"tick": numbers, "time": self.times}

    def _describe(self) -> dict[str, Any]:
        time = {} if self.time is None else {"time": self.time.describe()}
        return {
            "guarantee": self.guarantee.describe(),
            "mechanism": self.mechanism,
            "noise": self.noise,
            "recovery": self.recovery,
            **time,
        }

    def __repr__(self) -> str:
        span = "" if self.time is None else f", {self.time.span(len(self))}"
        status = self.recovery.get("status")
        return f"Release({len(self)} cells by {self.mechanism}{span}. {self.guarantee} Recovery: {status}.)"


def open_release(path: str | os.PathLike[str]) -> Release:
    """A saved release, checked against its digest."""
    columns, description = columns_file.read(path, "release")
    try:
        release = Release(
            values=columns["count"].astype(np.float64, copy=True),
            guarantee=Guarantee.from_description(description["guarantee"]),
            mechanism=description["mechanism"],
            noise=description["noise"],
            recovery=description["recovery"],
            time=TimeAxis.from_description(description["time"]) if "time" in description else None,
        )
    except (KeyError, TypeError, InvalidInput):
        raise BadFile(
            f"{path} is a sparsedp release with fields missing; it was not written by this library."
        ) from None
    places = release._places()
    if columns.keys() - {"count"} != places.keys() or not all(_same(columns[name], places[name]) for name in places):
        axis = "its cells" if release.time is None else release.time.span(len(release))
        raise BadFile(f"{path} has columns that disagree with {axis}; it was not written by this library.")
    return release


def _same(column: columns_file.Column, other: columns_file.Column) -> bool:
    return column.dtype == other.dtype and np.array_equal(column, other)
