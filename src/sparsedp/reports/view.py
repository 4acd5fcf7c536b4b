"""One thing to look at: the points of a picture, as fine or coarse as the reader likes, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparsedp.axes import Axis, Categories
from sparsedp.errors import InvalidInput
from sparsedp.reports.bands import Banded, Bands
from sparsedp.reports.grouping import Grouping
from sparsedp.reports.groupings import groupings_of, largest_groups

MOST_BARS = 50


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture's points: a `Grouping` for each axis shown (rows first, of two), and their values."""

    groupings: tuple[Grouping, ...]
    banded: Banded


@dataclass(frozen=True, eq=False)
class View:
    """One thing to look at, as fine or coarse as each of its `pictures`, coarsest first; `opens` with one of them.

    `kinds` are the ways to draw it, the first one unless the reader chooses: "line", "bars", "lines" (one for each
    label) or "heat".
    """

    kinds: tuple[str, ...]
    axes: tuple[str, ...]
    pictures: tuple[Picture, ...]
    opens: int = 0

    @property
    def kind(self) -> str:
        """How it is drawn first."""
        return self.kinds[0]

    @property
    def title(self) -> str:
        """The axes shown: "day × sex"."""
        return " × ".join(self.axes)


def picture_of(bands: Bands, axes: int, shown: dict[int, Grouping], *, rows_first: bool = True) -> Picture:
    """The sums over all axes that are not shown."""
    banded = bands.of([shown.get(place) for place in range(axes)])
    groupings = list(shown.values())
    shape = [len(grouping) for grouping in (groupings if rows_first else groupings[::-1])]
    parts = [
        None if part is None else part.reshape(shape) if rows_first else part.reshape(shape).T
        for part in (banded.values, banded.low, banded.high)
    ]
    if parts[0] is None:
        raise InvalidInput("release", "without values", "give a release")
    return Picture(tuple(groupings), Banded(parts[0], parts[1], parts[2], banded.why_not))


def labels_shown(bands: Bands, axes: Sequence[Axis], place: int, most: int) -> Grouping:
    """The labels of an axis; the largest ones, and all others together, where they are more than `most`."""
    axis = axes[place]
    assert isinstance(axis, Categories)  # noqa: S101  # asked for labels only
    if axis.length <= most:
        return groupings_of(axis)[-1]
    rest = tuple(other for other in range(len(axes)) if other != place)
    return largest_groups(axis, bands.release.values.sum(axis=rest), most)
