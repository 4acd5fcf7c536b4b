"""`sparsedp stream observe`: raw counts come on standard input, never as arguments, which shells and `ps` keep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli.interruption import Interrupted
from sparsedp.cli.options import AsJson
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.cli.stream.admission import Admission, ticks_are
from sparsedp.cli.stream.file import the_stream
from sparsedp.cli.stream.lines import Line, parsed

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
    from sparsedp.time_axis import TimeAxis

    if sys.stdin.isatty():
        note("type one tick a line, and Ctrl-D after the last.")
    with the_stream(file) as stream:
        terms = stream.describe()["terms"]
        time = TimeAxis(terms["start"], terms["every"])
        before = stream.ticks
        try:
            if follow:
                _follow(stream, time, fill, as_json=as_json)
                return
            lines = Admission(stream, fill).checked(list(parsed(sys.stdin.buffer, time)))
            published = [entry for run in _runs(lines) for entry in _observed(stream, run, fill)]
        except KeyboardInterrupt:
            kept = ticks_are(stream.ticks - before, "was", "were")
            raise Interrupted(f"{kept} kept; the stream goes on from there.") from None
        _report(file, time, stream.ticks, before, published, as_json=as_json)


def _follow(stream: Stream, time: TimeAxis, fill: int, *, as_json: bool) -> None:
    admission = Admission(stream, fill)
    for line in parsed(iter(sys.stdin.buffer.readline, b""), time):
        admission.check_alone(line)
        for tick, value in _observed(stream, [line], fill):
            if as_json:
                import json

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
    file: str, time: TimeAxis, now: int, before: int, published: list[tuple[int, Any]], *, as_json: bool
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


def _shown(time: TimeAxis, tick: int) -> str:
    return time.shown(tick)
