"""A range in the text of an axis, first..last/step@zone: whole numbers, regular bins or a calendar."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from math import floor

from sparsedp.axes.base import Axis, checked_length
from sparsedp.axes.bins import Bins, nearest_float
from sparsedp.axes.calendar import Calendar
from sparsedp.axes.integers import Integers
from sparsedp.errors import InvalidInput
from sparsedp.validate import exact_number, shown

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}(-?([0-9]{2}|W).*)?")
_A_RANGE = "give a range such as 0..23, 0..100/5 or 2024-01-01..2024-12-31/1d"


def parse_range(name: str, cells: str) -> Axis:
    """Integers, bins or a calendar, by how the ends and the step look."""
    body, at, zone = (part.strip() for part in cells.partition("@"))
    first, _, rest = (part.strip() for part in body.partition(".."))
    last, slash, step = (part.strip() for part in rest.partition("/"))
    if not first or not last or last.startswith(".") or (slash and not step) or (at and not zone):
        raise InvalidInput("what follows the colon", f"{cells[:40]!r}", _A_RANGE)
    of_numbers = _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last)
    if of_numbers and not at and (not step or _NUMBER.fullmatch(step)):
        return _bins(name, first, last, step) if step else _integers(name, first, last)
    if not of_numbers and not (_DATE.fullmatch(first) and _DATE.fullmatch(last)):
        odd = first if not _NUMBER.fullmatch(first) and not _DATE.fullmatch(first) else last
        infinite = "; infinite ends need edges, such as [-inf,0,18,65,inf]" if "inf" in odd.lower() else ""
        raise InvalidInput("one end of the range", repr(odd[:40]), _A_RANGE + infinite)
    if step and _NUMBER.fullmatch(step):
        raise InvalidInput(
            "the step", f"{step[:40]!r}, without its unit", "give one such as /15min, /1h, /1d, /1w or /1mo"
        )
    if not step and not (_is_day(first) and _is_day(last)):
        raise InvalidInput("the step", "missing", "give one such as /15min, /1h, /1d, /1w or /1mo after the end")
    return Calendar.between(name, first, last, step or "1d", zone or None)


def _is_day(text: str) -> bool:
    return re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None


def _integers(name: str, first: str, last: str) -> Integers:
    start, stop = exact_number("first", first), exact_number("last", last)
    if start.denominator != 1 or stop.denominator != 1:
        odd = first if start.denominator != 1 else last
        raise InvalidInput(
            "one end of the range", f"{odd}, not a whole number", f"give bins a width: {first}..{last}/0.1"
        )
    if max(abs(start), abs(stop)) > 2**62:
        odd = first if abs(start) > 2**62 else last
        raise InvalidInput("one end of the range", repr(odd[:40]), "give whole numbers from -2**62 to 2**62")
    return Integers(name, int(start), int(stop))


def _bins(name: str, first: str, last: str, step: str) -> Bins:
    """Exact: 0..1/0.1 has ten bins, though no float is a tenth."""
    start, stop, width = exact_number("first", first), exact_number("last", last), exact_number("the step", step)
    if width <= 0:
        raise InvalidInput("the step", shown(width), "give the width of a bin, above zero")
    if stop <= start:
        raise InvalidInput("last", f"{last}, with first {first}", "give first < last")
    nearest_float("edges", start), nearest_float("edges", stop)
    bins = (stop - start) / width
    if bins.denominator != 1:
        given = f"{shown(stop)}, and from {shown(start)} there are not whole steps of {shown(width)} to it"
        raise InvalidInput("last", given, f"give {_nearest(start, width, bins)}")
    number = f"{int(bins):,}" if bins < 10**24 else "more than 10**24"
    checked_length("the range", f"one of {number} bins", int(bins))
    return Bins.regular(name, start, stop, int(bins))


def _nearest(start: Fraction, width: Fraction, bins: Fraction) -> str:
    near = [start + width * whole for whole in (floor(bins), floor(bins) + 1) if whole > 0]
    return " or ".join(shown(end) for end in near if abs(end) <= sys.float_info.max)
