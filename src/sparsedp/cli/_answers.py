"""The questions of `sparsedp query`, each put to a release, and their answers: for people, as CSV or as JSON."""

from __future__ import annotations

import csv
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, time
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.cli._options import pairs
from sparsedp.cli._running import ExitCode
from sparsedp.cli._speaking import note, number, show, show_csv, show_json, show_table
from sparsedp.errors import BadFile, InvalidInput, UnknownName
from sparsedp.releases.means import caveat
from sparsedp.releases.uncertainty import (
    EXPECTED,
    LIKELY,
    Interval,
    UnknownTogether,
    checked_level,
    normal_quantile,
    possible_ends,
)

if TYPE_CHECKING:
    from sparsedp.arrays import Floats
    from sparsedp.axes.base import Axis
    from sparsedp.axes.domain import Domain
    from sparsedp.releases.distribution import TimeInterval
    from sparsedp.releases.queries import Intervals
    from sparsedp.releases.release import Release


# Answers of a release, for people, as CSV or as JSON.

_INTERVAL = ("estimate", "low", "high", "level")


class Answer:
    """Rows under headings, a sentence that says the same to people where there is one, and a remark for them."""

    def __init__(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[Any]],
        sentence: str | None = None,
        remark: str | None = None,
    ) -> None:
        self.headings, self.rows = list(headings), [list(row) for row in rows]
        self.sentence, self.remark = sentence, remark

    def show(self, *, as_json: bool, as_csv: bool) -> None:
        """Print it: a single answer is one JSON object, rows are a list of them."""
        if as_json:
            entries = [dict(zip(self.headings, row, strict=True)) for row in self.rows]
            show_json(entries[0] if self.sentence is not None else entries)
            return
        if as_csv:
            show_csv(self.headings, self.rows)
            return
        if self.sentence is not None:
            show(self.sentence)
        else:
            show_table(self.headings, self.rows)
        if self.remark is not None:
            show(self.remark)


def _one_interval(question: str, found: Interval | TimeInterval, *, known: bool, remark: str = "") -> Answer:
    """One number and where the truth lies, if its error is `known`."""
    kind = found.kind if isinstance(found, Interval) and found.kind != LIKELY else ""
    ends = f"{_word(found.low)} to {_word(found.high)}"
    where = f"({ends}, {kind}{' ' if kind else ''}at {100 * found.level:g} %)" if known else "(error not known)"
    sentence = f"{question}: {_word(found.estimate)} {where}{f' {remark}' if remark else ''}"
    return Answer(("question", *_INTERVAL), [(question, *_fields(found, known=known))], sentence)


def _fields(found: Any, *, known: bool) -> tuple[Any, ...]:
    """An interval under the headings `INTERVAL`; without ends where its error is not known."""
    return found.estimate, found.low if known else None, found.high if known else None, found.level


def _word(at: Any) -> str:
    if isinstance(at, datetime):
        return at.strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00") + (" UTC" if at.tzinfo is not None else "")
    return number(at) if isinstance(at, float) else str(at)


# The questions of `sparsedp query`, each put to a release.

_ONE_BY_ONE = "Each range holds for a cell that was named beforehand; the largest are chosen for their noise, too."
_NOT_KNOWN = "The errors of this release are not known."


class Questions:
    """A release that is asked, along an axis where that matters, for intervals of a level."""

    def __init__(self, release: Release, axis: str | None, level: str, kind: str = LIKELY) -> None:
        self._asked, self._axis, self._level, self._kind = release, axis, level, kind
        self._release, self._known = release, True
        self._along = "" if axis is None else f" of {axis}"

    def answer(self, kind: str, asked: Any, *, simultaneous: bool = False) -> Answer:
        """The answer to one question; where nothing is known of its error, the estimate alone."""
        try:
            self._release, self._known = self._asked, self._asked.uncertainty is not None
            if not self._known:
                self._release = replace(self._asked, uncertainty=_NoErrors())
            return self._answer(kind, asked, simultaneous=simultaneous)
        except UnknownTogether:
            self._release, self._known = replace(self._asked, uncertainty=_NoErrors()), False
            return self._answer(kind, asked, simultaneous=simultaneous)

    def _answer(self, kind: str, asked: Any, *, simultaneous: bool) -> Answer:
        release, axis, level = self._release, self._axis, self._level
        if kind == "total":
            return _one_interval("total", release.total(level, self._kind), known=self._known)
        if kind == "box":
            found = release.interval(_box_of(release, asked), level, self._kind)
            return _one_interval(", ".join(asked), found, known=self._known)
        if kind == "mean" and axis is None and release.counts is not None:
            of_value = release.mean(level=level, kind=self._kind)
            answer = _one_interval(f"mean {release.quantity.value}", of_value, known=self._known)
            answer.remark = caveat(release)
            return answer
        if kind == "mean":
            mean = release.mean(axis, level, self._kind)
            return _one_interval(f"mean{self._along}", mean, known=self._known, remark=self._of_bins())
        if kind == "median":
            return _one_interval(f"median{self._along}", release.quantile("0.5", axis, level), known=self._known)
        if kind == "quantile":
            name = f"quantile {asked}{self._along}"
            return _one_interval(name, release.quantile(asked, axis, level), known=self._known)
        if kind == "cdf":
            return self._cdf(simultaneous=simultaneous)
        return self._top(asked, simultaneous=simultaneous)

    def _of_bins(self) -> str:
        domain = self._release.domain
        bins = domain is not None and part_of("--axis", self._axis or domain.names[0], domain).kind == "bins"
        return "(bins count as their midpoints)" if bins else ""

    def _cdf(self, *, simultaneous: bool) -> Answer:
        shares = self._release.cdf(self._axis, self._level, simultaneous=simultaneous)
        ends = [(each.low, each.high) if self._known else (None, None) for each in shares]
        rows = [(each.position, each.share, *end, each.level) for each, end in zip(shares, ends, strict=True)]
        return Answer(("position", "share", "low", "high", "level"), rows, remark=None if self._known else _NOT_KNOWN)

    def _top(self, count: int, *, simultaneous: bool) -> Answer:
        cells = self._release.top(count, self._level, simultaneous=simultaneous, kind=self._kind)
        rows = [
            (*_place_words(self._release, each.place).values(), *_fields(each.interval, known=self._known))
            for each in cells
        ]
        share = f"{100 * checked_level(self._level):g} %"
        remark = f"All ranges hold at once, in {share} of releases like this one." if simultaneous else _ONE_BY_ONE
        return Answer((*cells[0].place, *_INTERVAL), rows, remark=remark if self._known else _NOT_KNOWN)


class _NoErrors:
    """Stands where the error of a release is not known, so that its estimates can be asked for; its ends are none."""

    def variance(self, weights: Floats) -> float:
        """Not known."""
        return 0.0

    def stderr(self) -> Floats:
        """Not known."""
        raise UnknownTogether("query", "about errors that are not known", "ask for estimates")


def axes_named(given: Sequence[str], domain: Domain | None, option: str = "--marginal") -> list[str]:
    """Names of axes and coarsenings that were given one by one, or several with commas between."""
    found = [name for text in given for name in ([text] if _is_part(text, domain) else text.split(","))]
    if domain is not None:  # a release without axes says so itself
        for name in found:
            part_of(option, name, domain)
    return found


def _is_part(text: str, domain: Domain | None) -> bool:
    """Whether a text with commas is a single name."""
    if domain is None or "," not in text:
        return False
    try:
        return bool(domain.part(text))
    except UnknownName:
        return False


def part_of(option: str, name: str, domain: Domain) -> Axis:
    """The axis of that name, or the coarse one of a coarsening: "day.weekday"."""
    try:
        place, coarsening = domain.part(name)
    except UnknownName as error:
        raise UnknownName(option, name, error.known) from None
    return domain.axes[place] if coarsening is None else coarsening.axis


# Where a cell is, as people write it: a day without its midnight, a month without its first day, a bin's two edges.


def _place_words(release: Release, place: dict[str, Any]) -> dict[str, Any]:
    """What a cell is on each axis, by the axis' name."""
    axes = {} if release.domain is None else {axis.name: axis for axis in release.domain.axes}
    return {name: word(axes.get(name), at) for name, at in place.items()}


def word(axis: Axis | None, at: Any) -> Any:
    """One value of an axis. Times that are not at midnight, and all that is no time, stay as they are."""
    if isinstance(at, tuple):
        return f"{at[0]:g} to {at[1]:g}"
    if axis is None or axis.kind != "calendar" or not isinstance(at, datetime) or at.time() != time():
        return at
    clock: Any = axis.time  # type: ignore[attr-defined]  # it is a calendar
    if clock.months:
        if at.day != 1:
            return at.date().isoformat()
        return f"{at:%Y}" if clock.months % 12 == 0 and at.month == 1 else f"{at:%Y-%m}"
    return at.date().isoformat() if clock.every.total_seconds() % 86_400 == 0 else at


# Boxes of cells as the command line writes them: `day=2024-03-01..2024-03-31`, `sex=F,M`, `age=18..65`.
#
# A range means what it means in `--by`: the last day, month or whole number is included; between edges of bins it
# runs from edge to edge, and a time of day is where it ends. Labels whose order means something have ranges as well:
# `day.weekday=Mon..Fri`.


def _box_of(release: Release, given: Sequence[str]) -> Any:
    """What `release.interval` takes: a box by the axes' names, or a range of cells where there are no axes."""
    wanted = pairs("--box", given)
    if release.domain is None:
        return _range(release, wanted)
    axes = {name: part_of("--box", name, release.domain) for name in wanted}
    return {name: _cells(axes[name], text) for name, text in wanted.items()}


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


def _times(axis: Any, first: str, last: str) -> object:
    """From the begin of the first to the end of the last, which may be a day, a month or a year."""
    from sparsedp.axes.periods import period_of

    return (first, last) if period_of(axis.name, last).moment else axis.through(first, last)


def _labels(axis: Any, text: str) -> object:
    labels: dict[str, object] = {str(label): label for label in axis.labels}
    low, dots, high = text.partition("..")
    if axis.ordered and dots and text not in labels and low in labels and high in labels:
        first, last = (axis.labels.index(labels[end]) for end in (low, high))
        if first > last:
            raise InvalidInput(
                "--box", f"{text!r} on the axis {axis.name}"[:80], f"{low} comes after {high}: turn them"
            )
        return slice(first, last + 1)
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
    from sparsedp.axes.periods import period_of
    from sparsedp.moments import EPOCH, MICROSECOND

    period = period_of("time", last)
    end = EPOCH + period.end * MICROSECOND
    return end.replace(tzinfo=UTC) if release.time is not None and release.time.utc else end


# `sparsedp query --marginal`: the table of some axes, every sum with its error.

WORK = 2**22
"""Cells that may be looked at for the intervals of all sums together; beyond it they follow from standard errors."""


def marginal_answer(
    release: Release, names: Sequence[str], level: str, *, kind: str = LIKELY, simultaneous: bool = False
) -> Answer:
    """The sums over all other axes: estimate, low, high, stderr."""
    whole = release.domain is not None and tuple(names) == tuple(release.domain.names)
    sums = release if whole else release.marginal(*names)
    columns = _places(sums)
    places = list(zip(*columns.values(), strict=True))
    estimates = sums.values.ravel().tolist()
    if sums.stderr is None:
        rows: list[tuple[Any, ...]] = [
            (*at, cell, None, None, None) for at, cell in zip(places, estimates, strict=True)
        ]
    else:
        found = _intervals(sums, len(release), level, kind, simultaneous=simultaneous)
        ends = (end.ravel().tolist() for end in (found.estimate, found.low, found.high, sums.stderr))
        rows = [(*at, *numbers) for at, *numbers in zip(places, *ends, strict=True)]
    remark = None if kind == LIKELY else f"Ranges are {kind} at {100 * checked_level(level):g} %."
    return Answer((*columns, "estimate", "low", "high", "stderr"), rows, remark=remark)


def means_answer(release: Release, by: Sequence[str], level: str, kind: str) -> Answer:
    """The mean of a summed value in each group."""
    found = release.mean(level=level, kind=kind, by=by)
    domain = release.marginal(*by)
    places = [_place_words(domain, each.place) for each in found]
    rows = []
    for place, each in zip(places, found, strict=True):
        estimate, *rest = _fields(each.interval, known=True)
        rows.append((*place.values(), None if isnan(estimate) else estimate, *rest))  # no records have no mean
    return Answer((*places[0], *_INTERVAL), rows, remark=caveat(release))


def _places(sums: Release) -> dict[str, list[Any]]:
    """The columns that say where each sum is, in the order of the cells."""
    from sparsedp.releases.saved_form import published

    table = sums.to_arrow()
    kept = [name for name in table.column_names if name not in published(sums)]
    axes = {} if sums.domain is None else {axis.name: axis for axis in sums.domain.axes}
    return {name: [word(axes.get(name), at) for at in table[name].to_pylist()] for name in kept}


def _intervals(sums: Release, cells: int, level: str, kind: str, *, simultaneous: bool) -> Intervals:
    """The interval of every sum; of very many, by the normal law alone."""
    from sparsedp.releases.error_models import cost
    from sparsedp.releases.queries import Intervals

    if len(sums) * cost(sums.known_errors, cells) <= WORK or kind != LIKELY or simultaneous:
        return sums.intervals(level, kind, simultaneous=simultaneous)
    assert sums.stderr is not None  # noqa: S101  # where errors are known, so are those of single cells
    half = normal_quantile(checked_level(level)) * sums.stderr
    low, high = sums.values - half, sums.values + half
    if sums.nonnegative:
        low, high = possible_ends(low, high, sums.values)
    return Intervals(low, high, sums.values, checked_level(level), EXPECTED)


# SQL at the command line: the limits of memory and time hold for the whole process, whatever the engine is doing.

_GRACE = 2.0
"""Seconds for the engine to stop when it is asked to; then the process ends."""

_BESIDE = 2**31
"""Bytes of address space that threads and libraries may take beside what a question uses. Every thread reserves some
tens of megabytes that it does not use, and one that finds none left may end the process by a fault.
"""

_OF_ROW, _OF_VALUE, _IN_PYTHON = 56, 40, 2**28
"""Bytes that a row takes in Python, and each value in it, at the least; and what they may take beside the limit."""


def sql_answer(release: Release, text: str, tables: Mapping[str, Any], *, memory: str, seconds: str) -> Answer:
    """What SQL over the release, and public tables beside it, finds."""
    from sparsedp import validate
    from sparsedp.releases.sql import checked_seconds, too_large

    most = validate.bytes_of("memory", memory)
    with _ended_after(checked_seconds(seconds)):
        found = release.sql(text, tables=tables, memory=memory, seconds=seconds)
        # Counted, for at the process's own limit a thread of a library may end it before Python can say why.
        if len(found) * (_OF_ROW + _OF_VALUE * len(found.columns)) > 2 * most + _IN_PYTHON:
            raise too_large(most)
        return Answer(found.columns, found.fetchall())


@contextmanager
def within_memory(release: Release, memory: str) -> Iterator[None]:
    """The question, its answer, and the printing of it."""
    from sparsedp import validate
    from sparsedp.releases.sql import too_large

    most = validate.bytes_of("memory", memory)
    release.to_arrow()  # before the limit, which is the question's
    try:
        with _address_space(2 * most + _BESIDE):
            yield
    except MemoryError:
        raise too_large(most) from None


@contextmanager
def _address_space(more: int) -> Iterator[None]:
    """Let the process grow by so much and no further, where the system can say how large it is."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError, ValueError):
        yield
        return
    wanted = pages * resource.getpagesize() + more
    least = min(each for each in (wanted, soft, hard) if each != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (least, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """A step of the engine that cannot be stopped does not outlive the question."""

    def end() -> None:
        note(f"--seconds is {seconds:g}, and the query takes longer; give more, or ask for less.")
        sys.stderr.flush()
        os._exit(ExitCode.REFUSED)

    timer = threading.Timer(seconds + _GRACE, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


# Public tables of the user's own, to join a release with: `--with pop=pop.csv`.


def tables_of(given: Sequence[str] | None) -> dict[str, Any]:
    """Arrow tables by the names that SQL has for them. They are public, so the types of CSV may be guessed."""
    return {name: _read(Path(file)) for name, file in pairs("--with", given).items()}


def _read(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    names = path.name.lower()
    try:
        if names.endswith(".parquet"):
            return pyarrow.parquet.read_table(path)
        if names.endswith((".csv", ".csv.gz")):
            return pyarrow.csv.read_csv(path)
    except FileNotFoundError:
        raise BadFile(f"There is no file {path}; check the path.") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or 'it is damaged or cut short'}.") from None
    except pa.ArrowException:
        kind = "Parquet file" if names.endswith(".parquet") else "CSV file with the columns' names in its first line"
        raise BadFile(f"{path} is not a readable {kind}.") from None
    raise InvalidInput("--with", f"a file named {path.name}", "give a table whose name ends in .csv or .parquet")
