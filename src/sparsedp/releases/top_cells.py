"""The largest cells of a release, in the axes' own words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.axes import Bins, Calendar, Categories
from sparsedp.axes.base import Axis
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable
from sparsedp.releases.positions import positions
from sparsedp.releases.uncertainty import HIGHEST_LEVEL, Interval, checked_level
from sparsedp.validate import Number, whole, yes_or_no

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


@dataclass(frozen=True)
class CellAnswer:
    """A cell and where its true count lies. `place` says what it is on each axis, as `box_sum` takes it."""

    place: dict[str, Any]
    interval: Interval

    def __str__(self) -> str:
        return f"{shown_place(self.place)}: {self.interval}"


def top(release: Release, k: int, level: Number, *, simultaneous: bool) -> list[CellAnswer]:
    """The k largest cells, largest first; of equal ones, the first in the table."""
    count = min(whole("k", k), len(release))
    wanted = checked_level(level)
    if yes_or_no("simultaneous", simultaneous):
        wanted = 1 - (1 - wanted) / len(release)
        if wanted > HIGHEST_LEVEL:
            given = f"asked for {len(release):,} cells at once"
            raise InvalidInput("simultaneous", given, "ask for a lower level, or ask a `marginal` of fewer cells")
    values = release.values.ravel()
    least = np.partition(values, len(values) - count)[len(values) - count]
    chosen = np.flatnonzero(values >= least)
    largest = chosen[np.argsort(-values[chosen], kind="stable")][:count]
    places = [tuple(int(part) for part in np.unravel_index(cell, release.shape)) for cell in largest.tolist()]
    return [CellAnswer(place_in_words(release, place), _interval(release, place, wanted)) for place in places]


def _interval(release: Release, place: tuple[int, ...], level: float) -> Interval:
    return release.interval(place if len(place) > 1 else place[0], level)


def place_in_words(release: Release, place: tuple[int, ...]) -> dict[str, Any]:
    """What a cell is on each axis: a label, a number, the edges of a bin, or when it begins."""
    if release.domain is not None:
        return {axis.name: _word(axis, cell) for axis, cell in zip(release.domain.axes, place, strict=True)}
    at = positions(release, None)
    return {at.name: at.value(float(at.left[place[0]]))}


def _word(axis: Axis, cell: int) -> Any:
    if isinstance(axis, Categories):
        return axis.labels[cell]
    if isinstance(axis, Bins):
        return axis.edges[cell], axis.edges[cell + 1]
    if isinstance(axis, Calendar):
        begin = axis.time.times(cell + 1)[cell].item()
        return begin.replace(tzinfo=UTC) if axis.time.utc else begin
    return next(iter(axis.columns().values()))[cell].item()


def shown_place(place: dict[str, Any]) -> str:
    """A place in a line of text."""
    return printable(", ".join(f"{name} {_shown(at)}" for name, at in place.items()))


def _shown(at: object) -> str:
    if isinstance(at, tuple):
        return f"from {at[0]:g} to {at[1]:g}"
    return str(at).removesuffix(" 00:00:00")
