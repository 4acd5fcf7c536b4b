"""Which lines a stream takes in: whatever is wrong with one is said of its number alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsedp.cli.stream.lines import Line, refused

if TYPE_CHECKING:
    from sparsedp.streams.base import Stream


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
            raise refused(line.number, "a count below zero", "counts are 0 or more; begin a stream with --negative")

    def _check_time(self, number: int, tick: int, last: int | None) -> None:
        if last is not None and tick <= last:
            what = "at the same time as an earlier line" if tick == last else "earlier than the line before"
            raise refused(number, what, "give every tick once, in the order of time")
        horizon = self._stream.horizon
        if horizon is not None and tick >= horizon:
            raise refused(number, "after the last tick of this stream", f"it has {horizon:,}, its horizon")
        self._check_gap(number, tick, max(self._stream.ticks, 0 if last is None else last + 1))

    def _check_gap(self, number: int, tick: int, expected: int) -> None:
        missing = tick - expected
        if missing > self._fill:
            what = f"a tick before which {ticks_are(missing, 'is', 'are')} missing"
            remedy = f"check its time, or say --fill {missing} if nothing happened then: it is published as 0, for good"
            raise refused(number, what, remedy)


def ticks_are(count: int, one: str, more: str) -> str:
    """So many ticks, and a verb that agrees."""
    return f"{count:,} {f'tick {one}' if count == 1 else f'ticks {more}'}"
