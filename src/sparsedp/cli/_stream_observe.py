"""`sparsedp stream observe`: raw counts come on standard input, never as arguments, which shells and `ps` keep.

One tick a line: `count`, `time,count`, or JSON lines. Whatever is wrong with one is said of its number alone.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._options import AsJson
from sparsedp.cli._running import Interrupted
from sparsedp.cli._speaking import note, show, show_json
from sparsedp.cli._stream import the_stream
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.axes.schedule import Schedule
    from sparsedp.streams import Stream


OBSERVE_EXAMPLES = """
printf '2026-01-01T00:00,120\\n2026-01-01T01:00,98\\n' \\
  | sparsedp stream observe visits.stream
printf '{"time": "2026-01-01T02:00", "count": 74}\\n' \\
  | sparsedp stream observe visits.stream
printf '31\\n29\\n' | sparsedp stream observe visits.stream --json
"""


def observe_counts(
    file: Annotated[str, typer.Argument(help="The stream's file.")],
    fill: Annotated[
        int,
        typer.Option(
            "--fill",
            metavar="TICKS",
            help="Publish up to so many missing ticks as 0, for good; left out, a missing tick is refused.",
        ),
    ] = 0,
    follow: Annotated[
        bool, typer.Option("--follow", help="Take every line as it arrives, and print what is published for it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take in counts from standard input, one tick a line: `count`, or `time,count`, or a JSON object with the two.

    Without --follow all lines are checked before the first is taken in. A tick with a time that was delivered before is
    counted once; lines without times are always the next ticks, so deliver them once only.
    """
    from sparsedp.axes.schedule import Schedule

    if sys.stdin.isatty():
        note("type one tick a line, and Ctrl-D after the last.")
    with the_stream(file) as stream:
        terms = stream.describe()["terms"]
        time = Schedule(terms["start"], terms["every"])
        before = stream.ticks
        try:
            if follow:
                _follow(stream, time, fill, as_json=as_json)
                return
            lines = Admission(stream, fill).checked(list(_parsed(sys.stdin.buffer, time)))
            published = [entry for run in _runs(lines) for entry in _observed(stream, run, fill)]
        except KeyboardInterrupt:
            kept = _ticks_are(stream.ticks - before, "was", "were")
            raise Interrupted(f"{kept} kept; the stream goes on from there.") from None
        _report(file, time, stream.ticks, before, published, as_json=as_json)


def _follow(stream: Stream, time: Schedule, fill: int, *, as_json: bool) -> None:
    admission = Admission(stream, fill)
    for line in _parsed(iter(sys.stdin.buffer.readline, b""), time):
        admission.check_alone(line)
        for tick, value in _observed(stream, [line], fill):
            if as_json:
                show(json.dumps({"tick": tick, "time": _shown(time, tick), "count": value}))
            else:
                show(f"{_shown(time, tick)},{'' if value is None else value}")
        sys.stdout.flush()


def _runs(lines: list[Line]) -> list[list[Line]]:
    """Lines of one tick after another, each run to be taken in at once."""
    runs: list[list[Line]] = []
    for line in lines:
        follows = bool(runs) and (line.tick is None or line.tick == (runs[-1][-1].tick or 0) + 1)
        if not follows:
            runs.append([])
        runs[-1].append(line)
    return runs


def _observed(stream: Stream, run: list[Line], fill: int) -> list[tuple[int, Any]]:
    """Take in ticks that follow one another; what is published for each."""
    first = run[0].tick
    start = stream.ticks if first is None else first
    results = stream.observe_many([line.count for line in run], at=first, fill=fill)
    values: list[Any] = [None] * len(run) if results is None else [int(value) for value in results]
    return [(start + place, value) for place, value in enumerate(values)]


def _report(
    file: str, time: Schedule, now: int, before: int, published: list[tuple[int, Any]], *, as_json: bool
) -> None:
    new = sum(tick >= before for tick, _ in published)
    filled = now - before - new
    if as_json:
        entries = [{"tick": tick, "time": _shown(time, tick), "count": value} for tick, value in published]
        show_json({"file": file, "ticks": now, "new": new, "filled": filled, "published": entries})
        return
    until = f", the last at {time.shown(now - 1)}" if now else ""
    zeros = f", {filled:,} filled with 0" if filled else ""
    show(f"{file}: {new:,} new tick{'' if new == 1 else 's'}{zeros}; now {now:,} tick{'' if now == 1 else 's'}{until}.")


def _shown(time: Schedule, tick: int) -> str:
    return time.shown(tick)


# Counts as they come on standard input: `count`, `time,count`, or JSON lines. An error never quotes a line.

_FORMS = 'give one tick a line: `count`, `time,count`, or {"time": …, "count": …}'
_WORD = re.compile(r"[^\W\d][\w .-]*")
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Line:
    """One tick's count; `tick` is None where the line names no time."""

    number: int
    tick: int | None
    count: int


def _parsed(lines: Iterable[bytes], time: Schedule) -> Iterator[Line]:
    """Every line, checked; a heading and empty lines at the end are passed over."""
    timed: bool | None = None
    empty: int | None = None
    for number, raw in enumerate(lines, start=1):
        text = _text(raw, number)
        if not text:
            empty = number if empty is None else empty
            continue
        if empty is not None:
            raise _refused(empty, "empty", "a tick without events is a 0")
        if number == 1 and _is_heading(text):
            continue
        line = _line(text, number, time)
        if timed is not None and timed != (line.tick is not None):
            raise _refused(number, "of another form than those before", "name the time in every line, or in none")
        timed = line.tick is not None
        yield line


def _is_heading(text: str) -> bool:
    """Whether a first line names columns: words alone, the last one `count`. Other words are refused."""
    fields = _fields(text)
    if text.startswith("{") or not all(_WORD.fullmatch(field) for field in fields):
        return False
    if len(fields) > 2 or fields[-1].lower() not in ("count", "counts"):
        remedy = "name the columns `time,count` (or another word for the time), or leave the heading out"
        raise _refused(1, "a heading without `count` in its last place, or no line of counts", remedy)
    return True


def _refused(number: int, what: str, remedy: str) -> InvalidInput:
    """An error about a line, by its number alone: what is in it is private."""
    return InvalidInput(f"line {number}", what, remedy)


def _text(raw: bytes, number: int) -> str:
    try:
        return raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise _refused(number, "not text", _FORMS) from None


def _line(text: str, number: int, time: Schedule) -> Line:
    if text.startswith("{"):
        moment, count = _from_json(text, number)
    else:
        parts = _fields(text)
        if len(parts) > 2:
            raise _refused(number, "of more than two fields", _FORMS)
        moment, count = (parts[0] if len(parts) == 2 else None), parts[-1]
    return Line(number, None if moment is None else _tick(moment, number, time), _count(count, number))


def _fields(text: str) -> list[str]:
    return [part.strip().strip('"') for part in text.split(",")]


def _from_json(text: str, number: int) -> tuple[str | None, str]:
    try:
        entry = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        raise _refused(number, "not JSON, although it begins like it", _FORMS) from None
    known = {"time", "tick", "count"}
    if not entry.keys() <= known or "count" not in entry or ("time" in entry and "tick" in entry):
        raise _refused(number, "JSON with other fields", _FORMS)
    moment = entry.get("time", entry.get("tick"))
    if not isinstance(entry["count"], str) or not isinstance(moment, str | None):
        raise _refused(number, "JSON whose fields are no time and no count", _FORMS)
    return moment, entry["count"]


def _tick(moment: str, number: int, time: Schedule) -> int:
    try:
        given = int(moment) if time.start is None and moment.isascii() and moment.isdigit() else moment
        return time.tick_of("time", given)
    except InvalidInput:
        raise _refused(number, "without a time of the schedule in front", f"this stream has {time}") from None


def _count(text: str, number: int) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise _refused(number, "without a whole number for a count", _FORMS)
    if len(digits) > 19 or int(digits) > _LARGEST:
        raise _refused(number, "a count too large to be one", "give counts below 2**63")
    return int(text)


# Which lines a stream takes in: whatever is wrong with one is said of its number alone.


class Admission:
    """Checks lines against a stream. `fill` ticks may be missing before one; they would be published as 0."""

    def __init__(self, stream: Stream, fill: int) -> None:
        self._stream, self._fill = stream, fill
        self._signed = bool(stream.describe()["terms"]["negative"])

    def checked(self, lines: list[Line]) -> list[Line]:
        """The lines, if all of them can be taken in; whatever is wrong with any is found before the first is."""
        last = None
        for line in lines:
            self._check_count(line)
            if line.tick is not None:
                self._check_time(line.number, line.tick, last)
            last = line.tick
        return lines

    def check_alone(self, line: Line) -> None:
        """Refuse a line that cannot come next, as the stream is now."""
        self._check_count(line)
        if line.tick is not None:
            self._check_gap(line.number, line.tick, self._stream.ticks)

    def _check_count(self, line: Line) -> None:
        if line.count < 0 and not self._signed:
            raise _refused(line.number, "a count below zero", "counts are 0 or more; begin a stream with --negative")

    def _check_time(self, number: int, tick: int, last: int | None) -> None:
        if last is not None and tick <= last:
            what = "at the same time as an earlier line" if tick == last else "earlier than the line before"
            raise _refused(number, what, "give every tick once, in the order of time")
        horizon = self._stream.horizon
        if horizon is not None and tick >= horizon:
            raise _refused(number, "after the last tick of this stream", f"it has {horizon:,}, its horizon")
        self._check_gap(number, tick, max(self._stream.ticks, 0 if last is None else last + 1))

    def _check_gap(self, number: int, tick: int, expected: int) -> None:
        missing = tick - expected
        if missing > self._fill:
            what = f"a tick before which {_ticks_are(missing, 'is', 'are')} missing"
            remedy = f"check its time, or say --fill {missing} if nothing happened then: it is published as 0, for good"
            raise _refused(number, what, remedy)


def _ticks_are(count: int, one: str, more: str) -> str:
    """So many ticks, and a verb that agrees."""
    return f"{count:,} {f'tick {one}' if count == 1 else f'ticks {more}'}"
