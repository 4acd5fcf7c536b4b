"""Counts as they come on standard input: `count`, `time,count`, or JSON lines. An error never quotes a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.time_axis import TimeAxis

FORMS = 'give one tick a line: `count`, `time,count`, or {"time": …, "count": …}'
_WORD = re.compile(r"[^\W\d][\w .-]*")
LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Line:
    """One tick's count; `tick` is None where the line names no time."""

    number: int
    tick: int | None
    count: int


def parsed(lines: Iterable[bytes], time: TimeAxis) -> Iterator[Line]:
    """Every line, checked; a heading and empty lines at the end are passed over."""
    timed: bool | None = None
    empty: int | None = None
    for number, raw in enumerate(lines, start=1):
        text = _text(raw, number)
        if not text:
            empty = number if empty is None else empty
            continue
        if empty is not None:
            raise refused(empty, "empty", "a tick without events is a 0")
        if number == 1 and _is_heading(text):
            continue
        line = _line(text, number, time)
        if timed is not None and timed != (line.tick is not None):
            raise refused(number, "of another form than those before", "name the time in every line, or in none")
        timed = line.tick is not None
        yield line


def _is_heading(text: str) -> bool:
    """Whether a first line names columns: words alone, the last one `count`. Other words are refused."""
    fields = _fields(text)
    if text.startswith("{") or not all(_WORD.fullmatch(field) for field in fields):
        return False
    if len(fields) > 2 or fields[-1].lower() not in ("count", "counts"):
        remedy = "name the columns `time,count` (or another word for the time), or leave the heading out"
        raise refused(1, "a heading without `count` in its last place, or no line of counts", remedy)
    return True


def refused(number: int, what: str, remedy: str) -> InvalidInput:
    """An error about a line, by its number alone: what is in it is private."""
    return InvalidInput(f"line {number}", what, remedy)


def _text(raw: bytes, number: int) -> str:
    try:
        return raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise refused(number, "not text", FORMS) from None


def _line(text: str, number: int, time: TimeAxis) -> Line:
    if text.startswith("{"):
        moment, count = _from_json(text, number)
    else:
        parts = _fields(text)
        if len(parts) > 2:
            raise refused(number, "of more than two fields", FORMS)
        moment, count = (parts[0] if len(parts) == 2 else None), parts[-1]
    return Line(number, None if moment is None else _tick(moment, number, time), _count(count, number))


def _fields(text: str) -> list[str]:
    return [part.strip().strip('"') for part in text.split(",")]


def _from_json(text: str, number: int) -> tuple[str | None, str]:
    try:
        entry = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        raise refused(number, "not JSON, although it begins like it", FORMS) from None
    known = {"time", "tick", "count"}
    if not entry.keys() <= known or "count" not in entry or ("time" in entry and "tick" in entry):
        raise refused(number, "JSON with other fields", FORMS)
    moment = entry.get("time", entry.get("tick"))
    if not isinstance(entry["count"], str) or not isinstance(moment, str | None):
        raise refused(number, "JSON whose fields are no time and no count", FORMS)
    return moment, entry["count"]


def _tick(moment: str, number: int, time: TimeAxis) -> int:
    try:
        given = int(moment) if time.start is None and moment.isascii() and moment.isdigit() else moment
        return time.tick_of("time", given)
    except InvalidInput:
        raise refused(number, "without a time of the schedule in front", f"this stream has {time}") from None


def _count(text: str, number: int) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise refused(number, "without a whole number for a count", FORMS)
    if len(digits) > 19 or int(digits) > LARGEST:
        raise refused(number, "a count too large to be one", "give counts below 2**63")
    return int(text)
