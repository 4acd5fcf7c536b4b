"""Numbers, times, labels and axes as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from math import exp, floor, isfinite, log10
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.releases.uncertainty import Interval
from sparsedp.reports._views import Picture, View, axes_of
from sparsedp.reports.grouping import Grouping, own_unit, zone_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


# Numbers as people read them, no finer than they are known: 1,234 ± 56.

_MOST_DECIMALS = 6
_LARGE = ((1e12, " trillion"), (1e9, " billion"), (1e6, " million"))


def decimals_for(error: float) -> int:
    """How many decimals show two digits of an error; whole numbers for errors of ten and more."""
    if not (isfinite(error) and error > 0):
        return 0
    return min(_MOST_DECIMALS, max(0, 1 - floor(log10(error))))


def rounded(number: float, error: float) -> str:
    """A number down to the second digit of its error: 336,776 for an error of 57, and 336,800 for one of 1,234."""
    shown = _two_digits(error)
    if shown < 100:
        return f"{number:,.{decimals_for(shown)}f}"
    step = 10 ** (floor(log10(shown)) - 1)
    return f"{round(number / step) * step:,.0f}"


def _two_digits(error: float) -> float:
    """The error rounded: 1,234 to 1,200, and 9.97 to 10."""
    return float(f"{error:.1e}")


def _unit_for(number: float, error: float) -> tuple[float, str]:
    """What large numbers are counted in, where the error is not too small for that: "152.0 ± 2.8 million"."""
    most = max(abs(number), error)
    return next(((size, word) for size, word in _LARGE if most >= size and error >= size / 1000), (1.0, ""))


def with_error(interval: Interval) -> str:
    """The estimate and half its range: "1,234 ± 56"; where the range was cut at zero, the range itself."""
    low, high, estimate = interval.low, interval.high, interval.estimate
    half = (high - low) / 2
    if not (isfinite(low) and isfinite(high)):
        return f"{plain(estimate)} (error not known)"
    if half == 0:
        return f"{plain(estimate)} (exact)"
    size, word = _unit_for(estimate, half)
    shown = [rounded(number / size, half / size) for number in (estimate, half, low, high)]
    if abs((high + low) / 2 - estimate) > 0.05 * half:
        return f"{shown[0]} ({shown[2]} to {shown[3]}){word}"
    return f"{shown[0]} ± {shown[1]}{word}"


def error_alone(half: float) -> str:
    """ "± 56"."""
    size, word = _unit_for(0.0, half)
    return f"± {rounded(half / size, half / size)}{word}"


def plain(number: float) -> str:
    """A number without a known error: six digits at most."""
    if number == 0 or not isfinite(number):
        return f"{number:g}"
    return f"{number:,.{min(_MOST_DECIMALS, max(0, 5 - floor(log10(abs(number)))))}f}".rstrip("0").rstrip(".")


def factor(amount: Fraction) -> str:
    """e to the amount, in about three digits: "1.65"; rounded up, for it is promised that odds change by no more."""
    if amount > 100:
        return f"more than 10^{floor(float(amount) / 2.302585092994046)}"
    value = exp(float(amount))
    if value < 1.1:
        return f"{_up(value, 4):.4f}"
    return f"{_up(value, 2):.2f}" if value < 10 else f"{_up(value, 0):,.0f}"


def chance(amount: Fraction) -> str:
    """What an even chance may become at most, in per cent, rounded up: "62.3 %"; never quite 100 %."""
    value = 100 / (1 + exp(-min(float(amount), 700.0)))
    if value > 99.9:
        return "nearly 100 %"
    return f"{_up(value, 1):.1f} %"


def other_chance(amount: Fraction) -> str:
    """What an even chance may become at least, in per cent, rounded down."""
    value = 100 / (1 + exp(min(float(amount), 700.0)))
    if value < 0.1:
        return "nearly 0 %"
    return f"{-_up(-value, 1):.1f} %"


def one_in(small: Fraction) -> str:
    """A small chance: "1 in 1,000,000"; rounded so that it is never called smaller than it is."""
    inverse = 1 / small
    if inverse >= 10**15:
        return f"1 in 10^{len(str(inverse.numerator // inverse.denominator)) - 1}"
    return f"1 in {inverse.numerator // inverse.denominator:,}"


def _up(value: float, digits: int) -> float:
    scale = 10.0**digits
    return -floor(-round(value * scale, 6)) / scale


# Times as people write them: "Mar 2024", "1 Mar 2024", "1 Mar 2024 06:00".

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _in_words(moment: np.datetime64, unit: str) -> str:
    """A moment as fine as its `unit` is: year, month, week, day, time (to the minute) or second."""
    # By letters, for years of any length.
    date, clock = str(moment.astype("datetime64[s]")).split("T")
    year, month, day = date.rsplit("-", 2)
    if unit == "year":
        return year
    if unit == "month":
        return f"{_MONTHS[int(month) - 1]} {year}"
    words = f"{int(day)} {_MONTHS[int(month) - 1]} {year}"
    if unit in ("week", "day"):
        return words
    return f"{words} {clock if unit == 'second' else clock[:5]}"


def instant_in_words(text: str) -> str:
    """The time of a ledger's entry, in UTC; as it is if it is written otherwise."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None:
        return text
    there = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{_in_words(np.datetime64(there), 'time')} UTC"


# What the points of a picture are called, one by one.


def labels_of(grouping: Grouping) -> list[str]:
    """A label for each point, in order."""
    scale = grouping.scale
    if scale["kind"] == "category":
        return list(scale["labels"])
    if scale["kind"] == "bins":
        edges = scale["edges"]
        return [_bin(low, high) for low, high in pairwise(edges)]
    if scale["kind"] == "number":
        if "bounds" not in scale:
            return [str(scale["first"] + place) for place in range(scale["length"])]
        bounds = scale["bounds"]
        return [f"{low} to {high - 1}" for low, high in pairwise(bounds)]
    times = scale.get("times") or [scale["first"] + place * scale["step"] for place in range(scale["length"])]
    moments = np.rint(np.asarray(times, dtype=np.float64) * 1000).astype(np.int64).astype("datetime64[us]")
    return [_in_words(moment, scale["unit"]) for moment in moments]


def _bin(low: float | None, high: float | None) -> str:
    if low is None:
        return "any" if high is None else f"under {high:g}"
    return f"{low:g} and more" if high is None else f"{low:g} to {high:g}"


# What the axes of a release are, in words.

_MOST_LABELS = 8
_LONGEST_LABEL = 40


def axis_in_words(axis: Axis) -> str:
    """What its cells are."""
    if isinstance(axis, Categories):
        shown = ", ".join(_short(str(label)) for label in axis.labels[:_MOST_LABELS])
        more = f" and {axis.length - _MOST_LABELS:,} more" if axis.length > _MOST_LABELS else ""
        return f"{axis.length:,} label{'s' if axis.length > 1 else ''}: {shown}{more}"
    if isinstance(axis, Integers):
        return f"whole numbers from {axis.first:,} to {axis.last:,}"
    if isinstance(axis, Bins):
        return f"{axis.length:,} bin{'s' if axis.length > 1 else ''} from {axis.edges[0]:g} to {axis.edges[-1]:g}"
    if isinstance(axis, Calendar):
        called, zone = _unit_of(axis), zone_of(axis)
        cells = f"{axis.length:,} {called}{'s' if axis.length > 1 and not called.endswith('s') else ''}"
        return f"{cells}, {span_of(axis)}" + (f" ({zone})" if zone else "")
    return f"{axis.length:,} cells"


def _unit_of(axis: Calendar) -> str:
    """What one of its cells is called: "day", "hour", "15 minutes"; "cell" where it is nothing usual."""
    (times,) = axis.columns().values()
    return own_unit(times.astype(np.int64))[1]


def span_of(axis: Calendar) -> str:
    """From its first cell to its last: "1 Jan 2013 to 31 Dec 2013"; of cells of several days, to the last of these."""
    (times,) = axis.columns().values()
    unit, _ = own_unit(times.astype(np.int64))
    ends = axis.edges()[-1] - np.timedelta64(1, "us") if unit == "day" else times[-1]
    first, last = (_in_words(time, unit) for time in (times[0], ends))
    return first if first == last else f"{first} to {last}"


def default_title(release: Release) -> str:
    """What is shown and in which pieces: "Records per day, by origin", "Total amount by age and sex"."""
    axes = axes_of(release)
    time = next((axis for axis in axes if isinstance(axis, Calendar) and _unit_of(axis) != "cell"), None)
    names = [axis.name for axis in axes if axis is not time]
    what = str(release.quantity)
    title = f"{what[:1].upper()}{what[1:]}"
    if time is not None:
        title += f" per {_unit_of(time)}" + ("," if names else "")
    if not names:
        return title
    return f"{title} by {_listed(names)}"


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


# What one picture shows, in words: its title, and how much a point or a square of it holds.


def drawn_title(release: Release, view: View, picture: Picture) -> str:
    """What is drawn, in which pieces, and what is not told apart: "Records per week, by sex, summed over age"."""
    shown = sorted(picture.groupings, key=lambda grouping: view.axes.index(grouping.scale["name"]))
    time = next((grouping for grouping in shown if _is_named_time(grouping)), None)
    what = str(release.quantity)
    title = f"{what[:1].upper()}{what[1:]}"
    by = _listed([_name_and_width(grouping) for grouping in shown if grouping is not time])
    if time is not None:
        title += f" per {time.name}" + ("," if by else "")
    if by:
        title += f" by {by}"
    rest = [axis.name for axis in axes_of(release) if axis.name not in view.axes]
    return f"{title}, summed over {_listed(rest)}" if rest else title


def drawn_amount(release: Release, picture: Picture) -> str:
    """What a point holds, or a square: "records per week", "records per 10 bins"."""
    pieces = [piece for grouping in picture.groupings if (piece := _piece(grouping))]
    return f"{release.quantity} per {' and '.join(pieces)}" if pieces else str(release.quantity)


def _listed(names: list[str]) -> str:
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
