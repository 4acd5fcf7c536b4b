"""`sparsedp stream observe`: raw counts come on standard input, never as arguments, which shells and `ps` keep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli.interruption import Interrupted
from sparsedp.cli.options import AsJson
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.cli.stream.lines import Line, parsed, refused

if TYPE_CHECKING:
    from sparsedp.streams.base import Stream
    from sparsedp.time_axis import TimeAxis

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
        int, typer.Option("--fill", metavar="TICKS", help="How many ticks may be missing before one; published as 0.")
    ] = 100,
    follow: Annotated[
        bool, typer.Option("--follow", help="Take every line as it arrives, and print what is published for it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take in counts from standard input, one tick a line: `count`, or `time,count`, or a JSON object with the two.

    Without --follow all lines are checked before the first is taken in. A tick with a time that was delivered before is
    counted once; lines without times are always the next ticks, so deliver them once only.
    """
    from sparsedp.streams.durable import open_stream
    from sparsedp.time_axis import TimeAxis

    if sys.stdin.isatty():
        note("type one tick a line, and Ctrl-D after the last.")
    with open_stream(file) as stream:
        terms = stream.describe()["terms"]
        time = TimeAxis(terms["start"], terms["every"])
        before = stream.ticks
        try:
            if follow:
                _follow(stream, time, fill, as_json=as_json)
                return
            lines = _checked(list(parsed(sys.stdin.buffer, time)), stream, fill)
            published = [entry for run in _runs(lines) for entry in _observed(stream, run, fill)]
        except KeyboardInterrupt:
            kept = stream.ticks - before
            raise Interrupted(f"{kept:,} ticks were kept; the stream goes on after them.") from None
        _report(file, time, stream.ticks, before, published, as_json=as_json)


def _follow(stream: Stream, time: TimeAxis, fill: int, *, as_json: bool) -> None:
    for line in parsed(iter(sys.stdin.buffer.readline, b""), time):
        for tick, value in _observed(stream, [line], fill):
            if as_json:
                import json

                show(json.dumps({"tick": tick, "time": _shown(time, tick), "count": value}))
            else:
                show(f"{_shown(time, tick)},{'' if value is None else value}")
        sys.stdout.flush()


def _checked(lines: list[Line], stream: Stream, fill: int) -> list[Line]:
    """The lines, if all of them can be taken in; whatever is wrong with any is found before the first is."""
    signed, last = stream.describe()["terms"]["negative"], None
    for line in lines:
        if line.count < 0 and not signed:
            raise refused(line.number, "a count below zero", "counts are 0 or more; begin a stream with --negative")
        if line.tick is not None:
            _check_time(line.number, line.tick, last, stream, fill)
        last = line.tick
    return lines


def _check_time(number: int, tick: int, last: int | None, stream: Stream, fill: int) -> None:
    if last is not None and tick <= last:
        what = "at the same time as an earlier line" if tick == last else "earlier than the line before"
        raise refused(number, what, "give every tick once, in the order of time")
    missing = tick - max(stream.ticks, 0 if last is None else last + 1)
    if missing > fill:
        remedy = "check its time, or say --fill if nothing happened in between: that is published as zeros, for good"
        raise refused(number, f"{missing:,} ticks after the one before", remedy)
    if stream.horizon is not None and tick >= stream.horizon:
        raise refused(number, "after the last tick of this stream", f"it has {stream.horizon:,}, its horizon")


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
    file: str, time: TimeAxis, ticks: int, before: int, published: list[tuple[int, Any]], *, as_json: bool
) -> None:
    if as_json:
        entries = [{"tick": tick, "time": _shown(time, tick), "count": value} for tick, value in published]
        show_json({"file": file, "ticks": ticks, "new": ticks - before, "published": entries})
        return
    until = f", the last at {time.shown(ticks - 1)}" if ticks else ""
    show(f"{file}: {ticks - before:,} new ticks; now {ticks:,} ticks{until}.")


def _shown(time: TimeAxis, tick: int) -> str:
    return time.shown(tick)
