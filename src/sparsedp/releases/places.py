"""Where in a release: cell numbers for labels and times, and the bounds of ranges."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sparsedp.axes import Calendar, Categories
from sparsedp.axes.base import Axis
from sparsedp.errors import InvalidInput
from sparsedp.moments import Moments

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


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


def axis_numbers(release: Release, names: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers of the axes of those names, for a marginal."""
    if release.domain is None:
        raise InvalidInput("axes", "asked of a release without a domain", "it is a row of cells: ask for ranges")
    if not names:
        remedy = f"name one of {', '.join(release.domain.names)}; the sum of all is `total`"
        raise InvalidInput("axes", "missing", remedy)
    found = tuple(release.domain.axes.index(release.domain.axis(name)) for name in names)
    if len(set(found)) < len(found):
        raise InvalidInput("axes", "named twice", "name each axis once")
    return found
