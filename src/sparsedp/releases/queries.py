"""What a release can be asked by the axes' own words: cells, ranges, boxes, weights, and its largest cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.axes import Bins, Calendar, Categories
from sparsedp.axes.base import Axis, Cells
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable
from sparsedp.moments import Moments
from sparsedp.progress import advance, stage
from sparsedp.releases.distribution import positions
from sparsedp.releases.sums import Sums
from sparsedp.releases.uncertainty import HIGHEST_LEVEL, LIKELY, Interval, checked_kind, checked_level
from sparsedp.validate import Number, whole, yes_or_no

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


# Linear queries as people ask them, a cell, a range, a box or weights, turned into one weight for each cell.

_WANTED = "give a cell, a slice, a (start, stop) range, a box by name, or one weight for each cell"

_SMALLEST, _LARGEST = 1e-100, 1e100
"""Of the largest weight: squares and sums of such weights are floats, whatever the cells hold."""


def weights_of(release: Release, query: object) -> Floats:
    """The weights of a query; cells that are asked for as they are weigh 1."""
    if isinstance(query, Mapping):
        return _ones(release, np.ix_(*_numbers(release.shape, release.box(query))))
    if isinstance(query, tuple) and len(query) == 2 and len(release.shape) == 1:
        start, stop = (int(bound) for bound in range_bounds(release, *query))
        return _ones(release, slice(start, stop))
    if isinstance(query, tuple) and len(query) != len(release.shape):
        raise InvalidInput("query", f"a place on {len(query)} axes", f"there are {len(release.shape)}; {_WANTED}")
    if isinstance(query, np.ndarray | list):
        return given_weights("query", query, release.shape)
    if isinstance(query, tuple) or _is_place(query):
        if not all(_is_place(part) for part in (query if isinstance(query, tuple) else (query,))):
            raise InvalidInput("query", "a place not of cell numbers", _WANTED)
        return _ones(release, place_of(release, query))
    raise InvalidInput("query", f"of type {type(query).__name__}", _WANTED)


def given_weights(argument: str, weights: Any, shape: tuple[int, ...]) -> Floats:
    """One number for each cell."""
    array = np.asarray(weights)
    if array.shape != shape or array.dtype.kind not in "biuf":
        given = f"an array of shape {array.shape} and type {array.dtype}"
        cells = f"each of the {shape[0]} cells" if len(shape) == 1 else f"each cell of the shape {shape}"
        function = "a function, or " if argument == "question" else ""
        raise InvalidInput(argument, given, f"give {function}one number for {cells}")
    if not np.isfinite(array).all():
        raise InvalidInput(argument, "not finite somewhere", "give finite weights")
    with np.errstate(over="ignore"):  # of wider floats; they are refused below
        numbers = array.astype(np.float64)
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest and not _SMALLEST <= largest <= _LARGEST:
        given = f"weights of up to {largest:.1g}, whose squares or sums leave what floats hold"
        raise InvalidInput(argument, given, f"give weights whose largest is between {_SMALLEST:g} and {_LARGEST:g}")
    return numbers


def _ones(release: Release, cells: Any) -> Floats:
    weights = np.zeros(release.shape)
    try:
        weights[cells] = 1.0
    except (IndexError, TypeError):
        raise InvalidInput("query", "outside the cells", f"their shape is {release.shape}") from None
    return weights


def _is_place(query: object) -> bool:
    if isinstance(query, bool | np.timedelta64):
        return False
    return isinstance(query, Integral | slice | str | np.datetime64) or hasattr(query, "year")


def _numbers(shape: tuple[int, ...], box: tuple[Cells, ...]) -> list[Any]:
    return [np.arange(length)[cells] for length, cells in zip(shape, box, strict=True)]


# Where in a release: cell numbers for labels and times, and the bounds of ranges.


def place_of(release: Release, cells: Any) -> Any:
    """What `release[cells]` means, with cell numbers for labels and times."""
    if isinstance(cells, tuple):
        return tuple(_number_of(release, cell, axis) for axis, cell in enumerate(cells))
    return _number_of(release, cells, 0)


def _number_of(release: Release, cell: Any, axis: int) -> Any:
    if isinstance(cell, slice):
        return _numbers_of(release, cell, axis)
    if not _is_named(cell):
        return cell
    named = _axis(release, axis)
    if isinstance(named, Calendar | Categories):
        found = named.cells_of(cell)
        return found if isinstance(found, slice) or len(found) > 1 else int(found[0])
    if release.time is None:
        return cell  # numpy says that this is no index
    tick = release.time.tick_of("time", cell)
    if tick >= len(release):
        given = f"{release.time.shown(tick)}, after the last tick"
        raise InvalidInput("time", given, f"give one up to {release.time.shown(len(release) - 1)}")
    return tick


def _numbers_of(release: Release, cells: slice, axis: int) -> Any:
    """A slice between times, without its stop, as cell numbers; one of numbers is what numpy makes of it."""
    if not (_is_named(cells.start) or _is_named(cells.stop)):
        return cells
    named = _axis(release, axis)
    if not isinstance(named, Calendar) and release.time is None:
        raise InvalidInput("cells", "a slice between labels", 'give cell numbers, or times on a calendar: "2026-01-01"')
    if cells.step is not None:
        raise InvalidInput("cells", "a slice between times with a step", "give one without")
    start = 0 if cells.start is None else cells.start
    stop = release.shape[axis] if cells.stop is None else cells.stop
    if isinstance(named, Calendar):
        return named.cells_of((start, stop))
    first, last = range_bounds(release, start, stop)
    return slice(int(first), int(last))


def _axis(release: Release, axis: int) -> Axis | None:
    return release.domain.axes[axis] if release.domain is not None and axis < len(release.domain.axes) else None


def _is_named(cell: object) -> bool:
    return isinstance(cell, str | date | np.datetime64)


def range_bounds(release: Release, start: Moments, stop: Moments) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Bounds of ranges as cell numbers, within the cells and their end."""
    if len(release.shape) > 1:
        raise InvalidInput("release", f"a table of {len(release.shape)} axes", "use `box_sum` with the axes' names")
    starts, stops = _bounds(release, "start", start), _bounds(release, "stop", stop)
    if starts.shape != stops.shape and starts.ndim and stops.ndim:
        raise InvalidInput("stop", f"of shape {stops.shape}", f"give as many bounds as start has, {starts.shape}")
    if np.any(starts > stops):
        raise InvalidInput("start", "after stop", "give start ≤ stop")
    return starts, stops


def _bounds(release: Release, argument: str, given: Moments) -> npt.NDArray[Any]:
    ticks = release.ticks
    bounds = np.asarray(given) if ticks is None else ticks.ticks_of(argument, given)
    if bounds.dtype.kind not in "iu":
        raise InvalidInput(argument, "not whole numbers", "give cell numbers, counted from 0")
    if bounds.size and not (bounds.min() >= 0 and bounds.max() <= len(release)):
        limits = f"give cell numbers from 0 to {len(release)}"
        if ticks is not None and ticks.start is not None:
            limits += f", or times from {ticks.shown(0)} to {ticks.shown(len(release))}"
        raise InvalidInput(argument, "outside the cells", limits)
    return bounds


def sums_of(release: Release, names: tuple[str, ...]) -> tuple[Sums, Domain]:
    """The sums of a marginal by the names of axes and coarsenings, and their domain."""
    if release.domain is None:
        raise InvalidInput("axes", "asked of a release without a domain", "it is a row of cells: ask for ranges")
    return Sums.named(release.domain, names)


# The largest cells of a release, in the axes' own words.


@dataclass(frozen=True)
class CellAnswer:
    """A cell and where its true count lies. `place` says what it is on each axis, as `box_sum` takes it."""

    place: dict[str, Any]
    interval: Interval

    def __str__(self) -> str:
        return f"{shown_place(self.place)}: {self.interval}"


def top(release: Release, k: int, level: Number, *, simultaneous: bool, kind: str = LIKELY) -> list[CellAnswer]:
    """The k largest cells, largest first; of equal ones, the first in the table."""
    count = min(whole("k", k), len(release))
    wanted, kind = checked_level(level), checked_kind(kind)
    if yes_or_no("simultaneous", simultaneous):
        wanted = level_of_each(wanted, len(release))
    values = release.values.ravel()
    least = np.partition(values, len(values) - count)[len(values) - count]
    chosen = np.flatnonzero(values >= least)
    largest = chosen[np.argsort(-values[chosen], kind="stable")][:count]
    places = [tuple(int(part) for part in np.unravel_index(cell, release.shape)) for cell in largest.tolist()]
    return [CellAnswer(place_in_words(release, place), _interval(release, place, wanted, kind)) for place in places]


def level_of_each(level: float, many: int) -> float:
    """At which level each of so many intervals has to hold for all of them to hold at once (Bonferroni's)."""
    wanted = 1 - (1 - level) / many
    if wanted > HIGHEST_LEVEL:
        given = f"asked for {many:,} intervals at once"
        raise InvalidInput("simultaneous", given, "ask for a lower level, or ask a `marginal` of fewer cells")
    return wanted


def _interval(release: Release, place: tuple[int, ...], level: float, kind: str) -> Interval:
    return release.interval(place if len(place) > 1 else place[0], level, kind)


MOST_INTERVALS = 100_000
"""Of one answer."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of all cells of a release, in its shape: `low`, `high` and `estimate`, as in `Interval`."""

    low: Floats
    high: Floats
    estimate: Floats
    level: float
    kind: str


def intervals(release: Release, level: Number, kind: str, *, simultaneous: bool) -> Intervals:
    """Of every cell, one by one."""
    share = checked_level(level)
    if len(release) > MOST_INTERVALS:
        remedy = f"ask a `marginal` of at most {MOST_INTERVALS:,} cells, or `stderr`"
        raise InvalidInput("release", f"of {len(release):,} cells", remedy)
    wanted = level_of_each(share, len(release)) if yes_or_no("simultaneous", simultaneous) else share
    with stage(f"asking for the intervals of {len(release):,} cells"):
        found = []
        for number, place in enumerate(np.ndindex(*release.shape)):
            advance(number / len(release))
            found.append(_interval(release, place, wanted, kind))
    ends = ([getattr(one, name) for one in found] for name in ("low", "high", "estimate"))
    low, high, estimate = (np.array(end).reshape(release.shape) for end in ends)
    return Intervals(low, high, estimate, share, kind)


def place_in_words(release: Release, place: tuple[int, ...]) -> dict[str, Any]:
    """What a cell is on each axis: a label, a number, the edges of a bin, or when it begins."""
    if release.domain is not None:
        return words_in(release.domain, place)
    at = positions(release, None)
    return {at.name: at.value(float(at.left[place[0]]))}


def words_in(domain: Domain, place: tuple[int, ...]) -> dict[str, Any]:
    """The same of a cell of a domain."""
    return {axis.name: _word(axis, cell) for axis, cell in zip(domain.axes, place, strict=True)}


def _word(axis: Axis, cell: int) -> Any:
    if isinstance(axis, Categories):
        return axis.labels[cell]
    if isinstance(axis, Bins):
        return axis.edges[cell], axis.edges[cell + 1]
    if isinstance(axis, Calendar):
        begin = axis.time.times(cell + 1)[cell].item()
        return begin.replace(tzinfo=UTC) if axis.time.utc else begin
    value = next(iter(axis.columns().values()))[cell]
    return value.item() if isinstance(value, np.generic) else value


def shown_place(place: dict[str, Any]) -> str:
    """A place in a line of text."""
    return printable(", ".join(f"{name} {_shown(at)}" for name, at in place.items()))


def _shown(at: object) -> str:
    if isinstance(at, tuple):
        return f"from {at[0]:g} to {at[1]:g}"
    return str(at).removesuffix(" 00:00:00")
