"""What the axes of a release are, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.reports.drawn_words import listed
from sparsedp.reports.groupings import zone_of
from sparsedp.reports.moments_in_words import in_words
from sparsedp.reports.time_groups import own_unit
from sparsedp.reports.views import axes_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MOST_LABELS = 8
LONGEST_LABEL = 40


def axis_in_words(axis: Axis) -> str:
    """What its cells are."""
    if isinstance(axis, Categories):
        shown = ", ".join(_short(str(label)) for label in axis.labels[:MOST_LABELS])
        more = f" and {axis.length - MOST_LABELS:,} more" if axis.length > MOST_LABELS else ""
        return f"{axis.length:,} label{'s' if axis.length > 1 else ''}: {shown}{more}"
    if isinstance(axis, Integers):
        return f"whole numbers from {axis.first:,} to {axis.last:,}"
    if isinstance(axis, Bins):
        return f"{axis.length:,} bin{'s' if axis.length > 1 else ''} from {axis.edges[0]:g} to {axis.edges[-1]:g}"
    if isinstance(axis, Calendar):
        called, zone = unit_of(axis), zone_of(axis)
        cells = f"{axis.length:,} {called}{'s' if axis.length > 1 and not called.endswith('s') else ''}"
        return f"{cells}, {span_of(axis)}" + (f" ({zone})" if zone else "")
    return f"{axis.length:,} cells"


def unit_of(axis: Calendar) -> str:
    """What one of its cells is called: "day", "hour", "15 minutes"; "cell" where it is nothing usual."""
    (times,) = axis.columns().values()
    return own_unit(times.astype(np.int64))[1]


def span_of(axis: Calendar) -> str:
    """From its first cell to its last: "1 Jan 2013 to 31 Dec 2013"."""
    (times,) = axis.columns().values()
    unit, _ = own_unit(times.astype(np.int64))
    first, last = (in_words(time, unit) for time in (times[0], times[-1]))
    return first if first == last else f"{first} to {last}"


def default_title(release: Release) -> str:
    """What is shown and in which pieces: "Records per day, by origin", "Total amount by age and sex"."""
    axes = axes_of(release)
    time = next((axis for axis in axes if isinstance(axis, Calendar) and unit_of(axis) != "cell"), None)
    names = [axis.name for axis in axes if axis is not time]
    what = str(release.quantity)
    title = f"{what[:1].upper()}{what[1:]}"
    if time is not None:
        title += f" per {unit_of(time)}" + ("," if names else "")
    if not names:
        return title
    return f"{title} by {listed(names)}"


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
