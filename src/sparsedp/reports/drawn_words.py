"""What one picture shows, in words: its title, and how much a point or a square of it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsedp.reports.grouping import Grouping
from sparsedp.reports.view import Picture, View
from sparsedp.reports.views import axes_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


def drawn_title(release: Release, view: View, picture: Picture) -> str:
    """What is drawn, in which pieces, and what is not told apart: "Records per week, by sex, summed over age"."""
    shown = sorted(picture.groupings, key=lambda grouping: view.axes.index(grouping.scale["name"]))
    time = next((grouping for grouping in shown if _is_named_time(grouping)), None)
    what = str(release.quantity)
    title = f"{what[:1].upper()}{what[1:]}"
    by = listed([_name_and_width(grouping) for grouping in shown if grouping is not time])
    if time is not None:
        title += f" per {time.name}" + ("," if by else "")
    if by:
        title += f" by {by}"
    rest = [axis.name for axis in axes_of(release) if axis.name not in view.axes]
    return f"{title}, summed over {listed(rest)}" if rest else title


def drawn_amount(release: Release, picture: Picture) -> str:
    """What a point holds, or a square: "records per week", "records per 10 bins"."""
    pieces = [piece for grouping in picture.groupings if (piece := _piece(grouping))]
    return f"{release.quantity} per {' and '.join(pieces)}" if pieces else str(release.quantity)


def listed(names: list[str]) -> str:
    """As people list them: "region, age and sex"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def _is_named_time(grouping: Grouping) -> bool:
    return grouping.scale["kind"] == "time" and grouping.name != "cell"


def _is_taken_together(grouping: Grouping) -> bool:
    return grouping.scale["kind"] in ("number", "bins") and not grouping.finest


def _name_and_width(grouping: Grouping) -> str:
    name = str(grouping.scale["name"])
    if not _is_taken_together(grouping):
        return name
    return f"{name} (in {'groups of ' if grouping.scale['kind'] == 'bins' else ''}{grouping.name})"


def _piece(grouping: Grouping) -> str | None:
    if _is_named_time(grouping):
        return grouping.name
    # "steps of 10", of which a point holds one.
    return grouping.name.replace("steps", "step") if _is_taken_together(grouping) else None
