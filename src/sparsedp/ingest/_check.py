"""What a count would read of records, and what not, and why. NOT PRIVATE: for their owner, before anything is spent.

The records go through the query of the count itself, so that what is said of them is what would become of them. It is
returned, and kept nowhere; nothing that is published may come from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NoReturn

from sparsedp.axes import Axis, Bins, Calendar, Categories
from sparsedp.axes.domain import Declared
from sparsedp.errors import InvalidInput, shortened
from sparsedp.files.untrusted import printable
from sparsedp.ingest._cells import Lookups, Outside
from sparsedp.ingest._columns import DATES, INSTANTS, TIMES, Needed, Source, SourceColumn
from sparsedp.ingest._count import query_of
from sparsedp.ingest.request import Request
from sparsedp.ingest.session import guarded, session
from sparsedp.ingest.sources import source_of
from sparsedp.moments import EPOCH, MICROSECOND
from sparsedp.progress import stage
from sparsedp.validate import Number, shown

if TYPE_CHECKING:
    import duckdb

# What is found: an object with fields, which prints as lines of 80 columns.

NOT_PRIVATE = "NOT PRIVATE: exact numbers and values of the records, for their owner alone; publish nothing of it."

_COLUMNS = 80
_LONGEST = 40
"""Characters of an example, where it is printed."""

BROKEN, MISSING, UNREADABLE, OUTSIDE = "broken", "missing", "unreadable", "outside"
_DROPPED = "dropped"


@dataclass(frozen=True)
class Failure:
    """Rows that one column keeps out of the table, or moves in it. A row may be among several failures."""

    column: str
    """The column, or those of the unit; empty of broken lines of CSV, which have none."""
    axis: str | None
    """The axis that it is a column of."""
    what: str
    """"broken", "missing", "unreadable" or "outside"."""
    why: str
    """What the values are not; empty of what is missing."""
    then: str
    """What becomes of the rows: "dropped", "clamped" or "collected in 'other'"."""
    rows: int
    examples: tuple[Any, ...] = ()
    """Three of the values, those of most rows first; of broken lines the first three."""
    declare: str = ""
    """What may have to be declared of the file to read them."""

    def __str__(self) -> str:
        where = f" (column {self.column})" if self.axis not in (None, self.column) else ""
        name = (self.axis or self.column or "a line of CSV") + where
        return f"{name} is {self.what}{f' ({self.why})' if self.why else ''}"


@dataclass(frozen=True, repr=False)
class Check:
    """What a count of records reads, and what it leaves out and why. NOT PRIVATE.

    Of the `rows` that are read, `counted` come into the table. `failures` are all that were looked for, those of no
    rows too. Of the rows that fail in nothing, `cut` are left out by the bound: of the `people` who have such rows,
    `people_cut` have more than `max_contributions`. Without a `privacy_unit` there is no bound, and with "auto" there
    is none yet: these are None.
    """

    rows: int
    counted: int
    failures: tuple[Failure, ...]
    privacy_unit: tuple[str, ...] | None
    max_contributions: int | str
    cut: int | None
    people: int | None
    people_cut: int | None

    @property
    def private(self) -> bool:
        """Never: this is about the records themselves."""
        return False

    @property
    def refusal(self) -> InvalidInput | None:
        """What `sparsedp.publish` says, quoting no value, where not one row comes into the table; else None."""
        return None if self.counted else self._refusal()

    def describe(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {"not_private": True, **asdict(self)}

    def __str__(self) -> str:
        return "\n".join((*wrap(NOT_PRIVATE, _COLUMNS), *self.lines()))

    __repr__ = __str__

    def lines(self) -> list[str]:
        """What was found, without the notice that it is not private."""
        failures = [each for each in self.failures if each.rows]
        found = [(self.rows, "rows are read", "")]
        found += [(each.rows, f"{each}: {each.then}", _quoted(each.examples)) for each in failures]
        if self.cut is not None:
            whose = f": {self.people_cut:,} of {self.people:,} have more" if self.people_cut else ""
            bound = f"the bound of {self.max_contributions:,} for each {_unit(self.privacy_unit)}"
            found.append((self.cut, f"are left out by {bound}{whose}", ""))
        found.append((self.counted, "would be counted", ""))
        width = max(len(f"{rows:,}") for rows, _, _ in found)
        lines: list[str] = []
        for rows, text, examples in found:
            lines += _hanging(f"{rows:>{width},}  {text}", width + 2)
            lines += _hanging(f"{' ' * (width + 2)}such as {examples}", width + 10) if examples else []
        if len(failures) > 1:
            lines.append("A row that fails in several ways is in several lines.")
        if self.cut is None and self.privacy_unit is not None:
            lines.append("How many of these a bound leaves out is open: the release is to choose it.")
        return lines

    def _refusal(self) -> InvalidInput:
        alone, worst = self._to_blame
        if alone:
            blamed = [" or ".join([str(first), *(each.what for each in others)]) for first, *others in alone]
            given = f"read as an empty table: in every row {', and '.join(blamed)}"
        elif worst:
            given = f"read as an empty table: every row fails in something, most often in that {worst[0]}"
        else:
            given = "without a single row"
        ways = dict.fromkeys(each.declare for found in alone or [worst] for each in found if each.declare)
        declare = f"declare {' and '.join(ways)}, or " if ways else ""
        look = "see what is in it with `sparsedp check`; nothing was spent, and allow_empty=True publishes it even so"
        return InvalidInput("source", given, declare + look)

    @property
    def _to_blame(self) -> tuple[list[list[Failure]], list[Failure]]:
        """The failures of each column that keeps out every row by itself; and those of the column that does most."""
        columns: dict[tuple[str, str | None], list[Failure]] = {}
        for each in sorted(self.failures, key=lambda each: (each.what == MISSING, -each.rows)):  # why comes first
            if each.rows and each.then == _DROPPED:
                columns.setdefault((each.column, each.axis), []).append(each)
        broken = sum(each.rows for each in self.failures if each.what == BROKEN)  # have no values to look at
        whole = [
            found
            for found in columns.values()
            if sum(each.rows for each in found) == self.rows - (0 if found[0].what == BROKEN else broken)
        ]
        return whole, max(columns.values(), key=lambda found: sum(each.rows for each in found), default=[])


def _unit(names: Sequence[str] | None) -> str:
    return " + ".join(names or ())


def _quoted(examples: Sequence[Any]) -> str:
    """Examples on one line; text in quotes, so that blanks are seen."""
    return ", ".join(
        printable(shortened(repr(one) if isinstance(one, str) else str(one), _LONGEST)) for one in examples
    )


def _hanging(text: str, indent: int) -> list[str]:
    """A text in lines of at most 80 columns, all but the first of them indented."""
    text = printable(text)
    first, rest = len(text) - len(text.lstrip()), " " * indent
    return wrap(text.lstrip(), _COLUMNS, initial_indent=" " * first, subsequent_indent=rest, break_on_hyphens=False)


# `sparsedp.check`.


def check(
    source: Any,
    domain: Declared,
    *,
    privacy_unit: str | Sequence[str] | None,
    max_contributions: int | str = 1,
    columns: Mapping[str, str] | None = None,
    outside: str | Mapping[str, str | int] = "drop",
    value: str | None = None,
    clamp: tuple[Number, Number] | None = None,
    resolution: Number | None = None,
    with_counts: bool = False,
    csv: Mapping[str, Any] | None = None,
) -> Check:
    """NOT PRIVATE: what `sparsedp.count` and `sparsedp.publish` would read of records, and what they would leave out.

    For the data's owner, before any budget is spent; with the same arguments as `sparsedp.count`. Rows read; rows
    without a unit; on each axis, and of `value`, rows whose value is missing, cannot be read, or is outside, with three
    of the values; and rows that are cut by `max_contributions`. Print it, or look at its fields; it is stored nowhere.

    Choosing what to publish by it is a look at the data that no budget accounts for. Mend what is read wrongly.
    """
    request = Request.of(
        source,
        domain,
        privacy_unit=privacy_unit,
        max_contributions=max_contributions,
        columns=columns,
        outside=outside,
        value=value,
        clamp=clamp,
        resolution=resolution,
        with_counts=with_counts,
        csv=csv,
    )
    return checked(request)


def refuse_empty(request: Request, source: Source) -> NoReturn:
    """Refuse records of which not one comes into the table, before anything is spent on them."""
    raise checked(request, source)._refusal()


def checked(request: Request, source: Source | None = None) -> Check:
    """What is to be said of the records that were asked for; `source`: where they are open already."""
    with stage("looking at what is read"), session() as connection:
        source = source_of(request.source, request.needed, request.dialect) if source is None else source

        def run() -> Check:
            found = source.attach(connection, request.needed)
            # What is declared to be moved is outside all the same.
            whole = replace(request, outside=tuple(Outside() for _ in request.outside))
            looks = _looks_of(request, found, csv=source.dialect is not None)
            _look(connection, query_of(whole, found, Lookups(connection)).places, request, looks)
            return _found(connection, request, looks, source.broken())

        return guarded(run)


# How each value is looked at: by the query of the count, one column of SQL for what is wrong with it.

_CODES = (MISSING, UNREADABLE, OUTSIDE)


@dataclass(frozen=True)
class _Look:
    """What may be wrong with the values of one column, and what then becomes of their rows."""

    axis: str | None
    column: SourceColumn
    given: str
    """The value as the source has it, as SQL."""
    read: str
    """Whether it was read, as SQL."""
    within: str
    """Whether it is inside, as SQL."""
    unreadable: str
    outside: str
    moved: Mapping[str, str]
    """By what is wrong with them, what becomes of rows that are not dropped."""
    declare: str = ""

    def code(self) -> str:
        """0 where all is well, else 1 + the place of what is wrong among `_CODES`."""
        gap = f" OR isnan({self.given})" if self.column.kind == "floats" else ""
        missing = f"{self.given} IS NULL{gap}"
        return f"CASE WHEN {missing} THEN 1 WHEN NOT {self.read} THEN 2 WHEN NOT {self.within} THEN 3 ELSE 0 END"

    def dropped(self) -> str:
        """The codes of rows that are dropped, as SQL."""
        return ", ".join(str(code) for code, what in enumerate(_CODES, 1) if what not in self.moved)

    def why(self, what: str) -> str:
        return {MISSING: "", UNREADABLE: self.unreadable, OUTSIDE: self.outside}[what]

    def example(self, value: Any) -> Any:
        """A value as people know it: times come as numbers of days or microseconds."""
        tick = {DATES: timedelta(days=1), TIMES: MICROSECOND, INSTANTS: MICROSECOND}.get(self.column.kind)
        try:
            return value if tick is None else (EPOCH + value * tick).isoformat(" ").removesuffix(" 00:00:00")
        except OverflowError:  # beyond all calendars
            return value


def _looks_of(request: Request, found: Mapping[Needed, SourceColumn], *, csv: bool) -> list[_Look]:
    looks = []
    for place, axis in enumerate(request.domain.axes):
        column, outside = found[Needed(request.axis_columns[place])], request.outside[place]
        moved = {OUTSIDE: "clamped"} if outside.clamp else {}
        if outside.collects is not None:
            label = axis.labels[outside.collects]  # type: ignore[attr-defined]  # only labels collect
            moved = dict.fromkeys(_CODES, f"collected in {label!r}")
        unreadable, declare = _unreadable(axis, column, csv=csv)
        read, within = f"x{place} IS NOT NULL", f"p{place} IS NOT NULL"
        looks.append(_Look(axis.name, column, f"r{place}", read, within, unreadable, _outside(axis), moved, declare))
    if request.amounts is not None:
        amounts = request.amounts
        column = found[Needed(amounts.column)]
        unreadable, declare = _unreadable(None, column, csv=csv)
        ends = "..".join(shown(end * amounts.resolution) for end in (amounts.lowest, amounts.highest))
        clamped = {OUTSIDE: "clamped"}
        sql = "amount", "steps IS NOT NULL", "NOT beyond"
        looks.append(_Look(None, column, *sql, unreadable, f"not in {ends}", clamped, declare))
    return looks


def _unreadable(axis: Axis | None, column: SourceColumn, *, csv: bool) -> tuple[str, str]:
    """What values are not that cannot be read on an axis, or summed; and what may have to be declared of CSV."""
    text = column.kind == "text"
    if isinstance(axis, Calendar):
        usual = "not a time such as 2024-03-05 or 2024-03-05T14:30" if text else "beyond all calendars"
        written = usual if column.date_format is None else f"not a time written as {column.date_format!r}"
        return written, 'how times are written, csv={"date_format": "%d.%m.%Y"}' if csv else ""
    if axis is None or isinstance(axis, Bins):
        example = f" such as 1{column.point}5" if text else ""
        return f"not a number{example}", 'how numbers are written, csv={"decimal": ","}' if csv else ""
    return "not a whole number", ""


def _outside(axis: Axis) -> str:
    if isinstance(axis, Categories):
        return f"not one of its {axis.length:,} labels"
    return shortened(f"not in {axis.spec.removeprefix(axis.name).removeprefix(':')}")


def _look(connection: duckdb.DuckDBPyConnection, places: str, request: Request, looks: Sequence[_Look]) -> None:
    """One pass over the records, which may be all there is: whose each is, what is wrong, and the values that are."""
    units = [f"u{place}" for place, _ in enumerate(request.privacy_unit or ())]
    nobody = " OR ".join(f"{unit} IS NULL" for unit in units) or "false"
    codes = ", ".join(f"{look.code()} AS e{place}" for place, look in enumerate(looks))
    marked = f"SELECT *, {nobody} AS nobody, {codes} FROM ({places})"  # noqa: S608
    values = ", ".join(f"CASE WHEN e{n} > 1 THEN {look.given} END AS v{n}" for n, look in enumerate(looks))
    good = " AND ".join(
        ["NOT nobody", *(f"e{n} NOT IN ({look.dropped()})" for n, look in enumerate(looks) if look.dropped())]
    )
    kept = "".join(f"{unit}, " for unit in units) + "".join(f"e{n}, " for n, _ in enumerate(looks))
    connection.execute(f"CREATE TEMP TABLE looked AS SELECT {kept}{values}, nobody, {good} AS good FROM ({marked})")  # noqa: S608


def _found(
    connection: duckdb.DuckDBPyConnection, request: Request, looks: Sequence[_Look], broken: tuple[int, list[str]]
) -> Check:
    wrong = [(place, code) for place, _ in enumerate(looks) for code in range(1, len(_CODES) + 1)]
    tallies = ", ".join(f"count(*) FILTER (e{place} = {code})" for place, code in wrong)
    told = f"SELECT count(*), count(*) FILTER (nobody), count(*) FILTER (good), {tallies} FROM looked"  # noqa: S608
    rows, nobody, good, *tally = connection.execute(told).fetchall()[0]
    lines, first = broken
    why = "a quote left open, too few or too many fields, or bytes that are no text"
    failures = [Failure("", None, BROKEN, why, _DROPPED, lines, tuple(first[:_EXAMPLES]), _SEVERAL_LINES)]
    if request.privacy_unit is not None:
        failures.append(Failure(_unit(request.privacy_unit), None, MISSING, "", _DROPPED, nobody))
    for (place, code), number in zip(wrong, tally, strict=True):
        look, what = looks[place], _CODES[code - 1]
        examples = _examples(connection, look, place, code) if number and code > 1 else ()
        then, declare = look.moved.get(what, _DROPPED), look.declare if what == UNREADABLE else ""
        failures.append(Failure(look.column.given, look.axis, what, look.why(what), then, number, examples, declare))
    cut, people, people_cut = _by_the_bound(connection, request)
    return Check(
        rows=rows + lines,
        counted=good - (cut or 0),
        failures=tuple(failures),
        privacy_unit=request.privacy_unit,
        max_contributions=request.bound,
        cut=cut,
        people=people,
        people_cut=people_cut,
    )


_EXAMPLES = 3
_SEVERAL_LINES = 'that fields have several lines, csv={"multiline": True}'


def _examples(connection: duckdb.DuckDBPyConnection, look: _Look, place: int, code: int) -> tuple[Any, ...]:
    of_most_rows = f"GROUP BY v{place} ORDER BY count(*) DESC, v{place} LIMIT {_EXAMPLES}"
    query = f"SELECT v{place} FROM looked WHERE e{place} = {code} {of_most_rows}"  # noqa: S608
    return tuple(look.example(value) for (value,) in connection.execute(query).fetchall())


def _by_the_bound(connection: duckdb.DuckDBPyConnection, request: Request) -> tuple[int | None, ...]:
    """The rows that it leaves out, the people, and those of whom it leaves out rows."""
    if request.privacy_unit is None or request.chosen:
        return None, None, None
    units, most = ", ".join(f"u{place}" for place, _ in enumerate(request.privacy_unit)), request.max_contributions
    people = f"SELECT count(*) AS n FROM looked WHERE good GROUP BY {units}"  # noqa: S608
    sums = f"coalesce(sum(n - least(n, {most})), 0), count(*), count(*) FILTER (n > {most})"
    numbers = connection.execute(f"SELECT {sums} FROM ({people})").fetchall()[0]  # noqa: S608
    return tuple(int(number) for number in numbers)
