"""A release: the published estimate of every cell, with the promise that came with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp import columns_file
from sparsedp.arrays import Floats
from sparsedp.axes import Calendar, Categories
from sparsedp.axes.base import Cells
from sparsedp.domain import Domain
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.moments import Moments
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.releases import saved_form
from sparsedp.releases.linear_queries import given_weights, weights_of
from sparsedp.releases.uncertainty import (
    Interval,
    Uncertainty,
    checked_level,
    interval_of,
    uncertainty_from,
)
from sparsedp.time_axis import TimeAxis
from sparsedp.validate import Number

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Release:
    """D*, an estimate of all n cells. Public: any number of any queries costs nothing more.

    `values` of Adaptive are never negative (unless signed sums were published), in a way that keeps sums; those of the
    other mechanisms are not clipped, as that would make every long sum too large. None are rounded, unless constraints
    ask for whole numbers. `recovery` says how the estimate was made and how the recovery ended.

    `values` have the shape of the `domain`, which says what the cells are; a plain vector has none, and a plain table
    has the axes axis0, axis1, …. The cells of a stream's release are its ticks, and `time` says when they were.
    `uncertainty` is what is known of the error; `nonnegative` says that the true counts are known to be.
    """

    values: Floats
    guarantee: Guarantee
    mechanism: str
    noise: dict[str, Any]
    recovery: dict[str, Any]
    time: TimeAxis | None = None
    domain: Domain | None = None
    uncertainty: Uncertainty | None = None
    nonnegative: bool = False

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        if self.domain is None and values.ndim > 1:
            object.__setattr__(self, "domain", Domain.of_shape(values.shape))
        if self.domain is not None:
            values = _shaped(values, self.domain)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        if self.time is not None:
            if self.domain is not None:
                raise InvalidInput("time", "given beside a domain", "give a domain with a Calendar, or the time alone")
            if not isinstance(self.time, TimeAxis):
                raise InvalidInput("time", f"of type {type(self.time).__name__}", "give a TimeAxis")
            self.time.times(len(self))  # refuses a calendar that ends before the release does

    def with_time(self, axis: TimeAxis) -> Release:
        """The same release, its cells being the ticks of a time axis."""
        return replace(self, time=axis)

    @property
    def times(self) -> npt.NDArray[Any]:
        """When each tick was: datetime64[us], in UTC if the axis is; the ticks' numbers if it has no calendar."""
        if self._ticks is None:
            raise InvalidInput("release", "without a time axis", "its cells are numbered from 0; `with_time` gives one")
        return self._ticks.times(len(self))

    @property
    def _ticks(self) -> TimeAxis | None:
        """The times of the cells in a row: a stream's, or those of a domain that is one calendar."""
        if self.domain is not None and len(self.domain.axes) == 1:
            axis = self.domain.axes[0]
            return axis.time if isinstance(axis, Calendar) else None
        return self.time

    @property
    def shape(self) -> tuple[int, ...]:
        """The domain's shape; (n,) for a vector."""
        return self.values.shape

    @cached_property
    def stderr(self) -> Floats | None:
        """The standard error of every cell, of the values' shape; None where nothing is known of the error."""
        if self.uncertainty is None:
            return None
        errors = np.array(self.uncertainty.stderr(), dtype=np.float64)
        if errors.size != self.values.size:
            raise InvalidInput("uncertainty", f"of {errors.size} cells", f"the release has {len(self)}")
        errors = errors.reshape(self.shape)
        errors.flags.writeable = False
        return errors

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
        """Cells as in a numpy array: `release[3]`, `release[3:9]`, `release[2, :]`.

        An axis of categories also takes a label, `release["north", 3]`, and a calendar a time, `release["2026-01-01"]`.
        """
        try:
            return self.values[self.place_of(cells)]
        except (IndexError, TypeError):
            wanted = f"cell numbers within the shape {self.shape}; sums over times or labels: `box_sum`"
            raise InvalidInput("cells", "no place in this release", f"give {wanted}") from None

    def place_of(self, cells: Any) -> Any:
        """What `release[cells]` means, with cell numbers for labels and times."""
        if isinstance(cells, tuple):
            return tuple(self._number_of(cell, axis) for axis, cell in enumerate(cells))
        return self._number_of(cells, 0)

    def _number_of(self, cell: Any, axis: int) -> Any:
        if not isinstance(cell, str | date | np.datetime64):
            return cell
        if self.domain is not None and axis < len(self.domain.axes):
            named = self.domain.axes[axis]
            if isinstance(named, Calendar | Categories):
                return int(np.asarray(named.cells_of(cell))[0])
        if self.time is None:
            return cell  # numpy says that this is no index
        tick = self.time.tick_of("time", cell)
        if tick >= len(self):
            given = f"{self.time.shown(tick)}, after the last tick"
            raise InvalidInput("time", given, f"give one up to {self.time.shown(len(self) - 1)}")
        return tick

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.ravel().tolist())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """So that numpy functions take a release as it is: `np.quantile(release, 0.9)`."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def query(self, question: Callable[[Floats], Answer] | npt.ArrayLike) -> Answer | float:
        """Ask anything: a function of all cells, or weights for a weighted sum of them.

        `release.query(np.argmax)`, `release.query(np.arange(24) < 6)`.
        """
        if callable(question):
            return question(self.values)
        return float(self.values.ravel() @ given_weights("question", question, self.shape).ravel())

    def range_sum(self, start: Moments, stop: Moments) -> Any:
        """The sum of cells start, …, stop − 1, as in a Python slice; arrays of bounds give an array of sums.

        On a time axis a bound may also be a time: `release.range_sum("2026-01-01", "2026-02-01")` is all of January.
        """
        starts, stops = self.range_bounds(start, stop)
        sums = self._prefix_sums[stops] - self._prefix_sums[starts]
        return float(sums) if np.ndim(sums) == 0 else sums

    def box_sum(self, box: Mapping[str, object] | None = None, /, **axes: object) -> float:
        """The sum of a box of cells, in the axes' own words: `release.box_sum(region="north", age=(18, 65))`.

        A range is (start, stop) without its stop: of edges, whole numbers or times. A list is several labels, numbers
        or times, and a slice counts cells. An axis that is not named is summed over whole. Names that Python does not
        take as arguments go into a mapping: `release.box_sum({"time of day": "noon"})`.
        """
        cells = self.box({**(box or {}), **axes})
        part = self.values
        for axis, wanted in enumerate(cells):
            part = part[(slice(None),) * axis + (wanted,)]
        return float(part.sum())

    def box(self, wanted: Mapping[str, object]) -> tuple[Cells, ...]:
        """The cells of a box on each axis."""
        if self.domain is None:
            raise InvalidInput("box", "asked of a release without a domain", "ask for a range of cell numbers")
        return self.domain.box(wanted)

    def interval(self, query: Any, level: Number = 0.95) -> Interval:
        """Where the true answer of a linear query lies, in `level` of all releases like this one.

        `query`: a cell as in `release[…]`, a slice, a range (start, stop) as in `range_sum`, a box by name
        ({"region": "north"}) as in `box_sum`, or one weight for each cell.
        """
        if self.uncertainty is None:
            name = self.recovery.get("name", "")
            remedy = f"the recovery {name!r} says nothing of its error; those of Adaptive and Laplace do"
            raise InvalidInput("release", "without an estimate of its error", remedy)
        share = checked_level(level)
        weights = weights_of(self, query)
        estimate = float(self.values.ravel() @ weights.ravel())
        at_least_zero = self.nonnegative and not (weights < 0).any()
        return interval_of(self.uncertainty, weights, estimate, share, at_least_zero=at_least_zero)

    def range_bounds(self, start: Moments, stop: Moments) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Bounds of ranges as cell numbers, within the cells and their end."""
        if len(self.shape) > 1:
            raise InvalidInput("release", f"a table of {len(self.shape)} axes", "use `box_sum` with the axes' names")
        starts, stops = self._bounds("start", start), self._bounds("stop", stop)
        if starts.shape != stops.shape and starts.ndim and stops.ndim:
            raise InvalidInput("stop", f"of shape {stops.shape}", f"give as many bounds as start has, {starts.shape}")
        if np.any(starts > stops):
            raise InvalidInput("start", "after stop", "give start ≤ stop")
        return starts, stops

    def _bounds(self, argument: str, given: Moments) -> npt.NDArray[Any]:
        ticks = self._ticks
        bounds = np.asarray(given) if ticks is None else ticks.ticks_of(argument, given)
        if bounds.dtype.kind not in "iu":
            raise InvalidInput(argument, "not whole numbers", "give cell numbers, counted from 0")
        if bounds.size and not (bounds.min() >= 0 and bounds.max() <= len(self)):
            limits = f"give cell numbers from 0 to {len(self)}"
            if ticks is not None and ticks.start is not None:
                limits += f", or times from {ticks.shown(0)} to {ticks.shown(len(self))}"
            raise InvalidInput(argument, "outside the cells", limits)
        return bounds

    @cached_property
    def _prefix_sums(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.values)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a Parquet file: where each cell is, `count`, and `stderr` where it is known; the promise is metadata.

        Where a cell is: `cell`, its number; on a time axis `tick`, and `time` (a timestamp) where there is a calendar;
        in a domain a column under each axis' own name, or two, such as age_left and age_right, for bins.
        """
        utc = saved_form.columns_in_utc(self)
        return columns_file.write(path, "release", saved_form.columns(self), saved_form.description(self), utc=utc)

    @property
    def _span(self) -> str:
        """What the cells are, in words."""
        if self.domain is not None:
            return str(self.domain)
        return "its cells" if self.time is None else self.time.span(len(self))

    def __repr__(self) -> str:
        span = "" if self.time is None and self.domain is None else f", {self._span}"
        status = self.recovery.get("status")
        return f"Release({len(self)} cells by {self.mechanism}{span}. {self.guarantee} Recovery: {status}.)"


def _shaped(values: Floats, domain: Domain) -> Floats:
    """The values of all cells in the domain's shape; a vector of them is row by row."""
    if not isinstance(domain, Domain):
        raise InvalidInput("domain", f"of type {type(domain).__name__}", "give a sparsedp.Domain")
    if values.shape not in (domain.shape, (domain.size,)):
        raise InvalidInput("values", f"of shape {values.shape}", f"the domain has the shape {domain.shape}")
    return values.reshape(domain.shape)


def open_release(path: str | os.PathLike[str]) -> Release:
    """A saved release, checked against its digest.

    Of its error the file keeps each cell's standard error, and all where the cells' errors are independent.
    """
    columns, description = columns_file.read(path, "release")
    try:
        release = _from_file(columns, description)
    except (KeyError, TypeError, InvalidInput):
        raise BadFile(
            f"{path} is a sparsedp release with fields missing; it was not written by this library."
        ) from None
    places = saved_form.places(release)
    named = columns.keys() - set(saved_form.PUBLISHED)
    if named != places.keys() or not all(_same(columns[name], places[name]) for name in places):
        raise BadFile(f"{path} has columns that disagree with {release._span}; it was not written by this library.")
    return release


def _from_file(columns: dict[str, columns_file.Column], description: dict[str, Any]) -> Release:
    release = Release(
        values=columns["count"].astype(np.float64, copy=True),
        guarantee=Guarantee.from_description(description["guarantee"]),
        mechanism=description["mechanism"],
        noise=description["noise"],
        recovery=description["recovery"],
        time=TimeAxis.from_description(description["time"]) if "time" in description else None,
        domain=Domain.from_description(description["domain"]) if "domain" in description else None,
        nonnegative=description.get("nonnegative") is True,
    )
    if "stderr" not in columns:
        return release
    errors = columns["stderr"].astype(np.float64, copy=True).reshape(release.shape)
    return replace(release, uncertainty=uncertainty_from(description.get("uncertainty"), errors))


def _same(column: columns_file.Column, other: columns_file.Column) -> bool:
    return column.dtype == other.dtype and np.array_equal(column, other)
