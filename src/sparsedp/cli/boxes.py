"""Boxes of cells as the command line writes them: `day=2024-03-01..2024-03-31`, `sex=F,M`, `age=18..65`.

A range means what it means in `--by`: the last day, month or whole number is included; between edges of bins it runs
from edge to edge, and a time of day is where it ends.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sparsedp.cli.as_typed import check_axes
from sparsedp.cli.option_text import pairs
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.axes.base import Axis
    from sparsedp.releases.release import Release


def box_of(release: Release, given: Sequence[str]) -> Any:
    """What `release.interval` takes: a box by the axes' names, or a range of cells where there are no axes."""
    wanted = pairs("--box", given)
    if release.domain is None:
        return _range(release, wanted)
    check_axes("--box", wanted, release.domain.names)
    return {name: _cells(release.domain.axis(name), text) for name, text in wanted.items()}


def _cells(axis: Axis, text: str) -> object:
    low, dots, high = text.partition("..")
    if axis.kind == "calendar":
        return _times(axis, low, high) if dots else text
    if axis.kind == "categories":
        return _labels(axis, text)
    if not dots:
        return [_number(axis, one) for one in text.split(",")]
    start, stop = _number(axis, low), _number(axis, high)
    return (start, stop + 1) if axis.kind == "integers" else (start, stop)


def _times(axis: Axis, first: str, last: str) -> object:
    """From the begin of the first to the end of the last, which may be a day, a month or a year."""
    from sparsedp.axes.periods import period_of

    if period_of(axis.name, last).moment:
        return (first, last)
    begun = axis.cells_of((first, last))
    ended = axis.cells_of(last)
    start = begun.start if isinstance(begun, slice) else int(begun[0])
    stop = ended.stop if isinstance(ended, slice) else int(ended[-1]) + 1
    return slice(start, stop)


def _labels(axis: Any, text: str) -> list[object]:
    labels: dict[str, object] = {str(label): label for label in axis.labels}
    try:
        (several,) = [[text]] if text in labels else csv.reader([text])
    except (csv.Error, ValueError):
        raise InvalidInput(
            "--box", "not a list of labels in one line", f"write --box {axis.name}=label,label"
        ) from None
    return [labels.get(label, label) for label in several]


def _number(axis: Axis, text: str) -> Any:
    try:
        return int(text) if axis.kind == "integers" else float(text)
    except ValueError:
        raise InvalidInput("--box", f"{text!r} on the axis {axis.name}"[:80], "give a number, or low..high") from None


def _range(release: Release, wanted: dict[str, str]) -> tuple[Any, Any]:
    """A range of ticks, by time or number, or of plain cells."""
    name = "cell" if release.time is None else "tick" if release.time.start is None else "time"
    if list(wanted) != [name]:
        raise InvalidInput(
            "--box", "not a range of its cells", f"this release has no axes: write --box {name}=from..to"
        )
    first, dots, last = wanted[name].partition("..")
    last = last if dots else first
    if name != "time":
        if not (first.isdigit() and last.isdigit()):
            raise InvalidInput("--box", "not numbers of cells", f"write --box {name}=0..23")
        return int(first), int(last) + 1
    return first, _end(release, last)


def _end(release: Release, last: str) -> Any:
    from datetime import UTC

    from sparsedp.axes.periods import period_of
    from sparsedp.moments import EPOCH, MICROSECOND

    period = period_of("time", last)
    end = EPOCH + period.end * MICROSECOND
    return end.replace(tzinfo=UTC) if release.time is not None and release.time.utc else end
