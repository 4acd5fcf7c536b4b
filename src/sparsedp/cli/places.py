"""Where a cell is, as people write it: a day without its midnight, a month without its first day, a bin's two edges."""

from __future__ import annotations

from datetime import datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsedp.axes.base import Axis
    from sparsedp.releases.release import Release


def place_words(release: Release, place: dict[str, Any]) -> dict[str, Any]:
    """What a cell is on each axis, by the axis' name."""
    axes = {} if release.domain is None else {axis.name: axis for axis in release.domain.axes}
    return {name: word(axes.get(name), at) for name, at in place.items()}


def word(axis: Axis | None, at: Any) -> Any:
    """One value of an axis. Times that are not at midnight, and all that is no time, stay as they are."""
    if isinstance(at, tuple):
        return f"{at[0]:g} to {at[1]:g}"
    if axis is None or axis.kind != "calendar" or not isinstance(at, datetime) or at.time() != time():
        return at
    clock: Any = axis.time  # type: ignore[attr-defined]  # it is a calendar
    if getattr(clock, "months", None):
        if at.day != 1:
            return at.date().isoformat()
        return f"{at:%Y}" if clock.months % 12 == 0 and at.month == 1 else f"{at:%Y-%m}"
    return at.date().isoformat() if clock.every.total_seconds() % 86_400 == 0 else at
