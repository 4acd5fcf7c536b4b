"""SQL over a release and the tables given beside it: no file, no variable, no extension is within reach.

A question may use so much memory and so much time, and no disk. One that is done in one step of the engine cannot be
stopped in it (`repeat('x', 1000000000)` is one): for questions that strangers write, `sparsedp query` sets the same
limits to its whole process.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable
from sparsedp.releases.uncertainty import shown_number

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow as pa

    from sparsedp.axes.coarsening import Coarsening
    from sparsedp.axes.domain import Domain


_SHOWN = 20
"""Rows that a result prints; of more, the first and the last."""

_WIDEST = 40
"""Characters of one value that are printed."""

MEMORY: str | int = "1GB"
SECONDS: validate.Number = 60
"""What a question may use, unless the asker says otherwise."""

_MOST_SECONDS = 10**6

_BATCH = 2**16
"""Rows that are taken over at a time."""

_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "home_directory": "nowhere",
}
"""How the connection is opened; then files are shut out and the settings locked.

Settings can be read by a question (`duckdb_settings()`), so none of them says where anybody's files are.
"""


_LEAST_MEMORY = 2**24
"""The engine does not start with less."""


class Result:
    """The rows that a query found, as they are, for people and for other tools."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return list(self._table.column_names)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows, as a database cursor gives them."""
        return list(zip(*(column.to_pylist() for column in self._table.columns), strict=True))

    def fetchone(self) -> tuple[Any, ...] | None:
        """The first row; None if there is none."""
        rows = Result(self._table.slice(0, 1)).fetchall()
        return rows[0] if rows else None

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas frame."""
        return to_pandas(self._table)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars frame."""
        return to_polars(self._table)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())

    def __repr__(self) -> str:
        head = Result(self._table if len(self) <= _SHOWN else self._table.slice(0, _SHOWN // 2)).fetchall()
        lines = [list(map(printable, self.columns)), *([_shown(value) for value in row] for row in head)]
        if len(self) > _SHOWN:
            last = Result(self._table.slice(len(self) - _SHOWN // 2)).fetchall()
            lines += [["…"] * len(self.columns), *([_shown(value) for value in row] for row in last)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        numeric = [_is_number(field.type) for field in self._table.schema]
        text = ["  ".join(_aligned(line, widths, numeric)).rstrip() for line in lines]
        text.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([*text, f"({len(self):,} {'row' if len(self) == 1 else 'rows'})"])


def ask(
    table: pa.Table,
    question: object,
    tables: Mapping[str, Any] | None = None,
    *,
    domain: Domain | None = None,
    means: Means | None = None,
    memory: str | int = MEMORY,
    seconds: validate.Number = SECONDS,
) -> Result:
    """The rows that one SELECT finds in the table `release`, and in those given beside it under their names.

    With a `domain`, `grouped` is the same table with a column for each coarsening, unless a table of the asker's has
    that name. `means` answers `means('ward')`. `memory`: what the engine may use, and what its answer may have;
    `seconds`: how long it may take.
    """
    import duckdb
    import pyarrow as pa

    if not isinstance(question, str) or not question.strip():
        given = "empty" if isinstance(question, str) else f"of type {type(question).__name__}"
        raise InvalidInput("query", given, 'give SQL such as "select * from release"')
    if not _is_unicode(question):
        raise InvalidInput("query", "not valid Unicode text", "write it anew, in UTF-8")
    known, in_order = {_RELEASE: table, **_public_tables(tables)}, None
    of_means = {} if means is None else _means_asked_for(question, means)
    if domain is not None and _GROUPED in question.casefold() and _GROUPED not in map(str.casefold, known):
        columns = _group_columns(table, domain)
        known[_GROUPED], in_order = _with_groups(table, domain, columns), _in_order(columns)
    most, long = validate.bytes_of("memory", memory), checked_seconds(seconds)
    try:
        with _connection(known, most, in_order, of_means) as connection, _interrupted_after(connection, long):
            _check(connection.extract_statements(question))
            return Result(_fetched(connection.sql(question), most))
    except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
        # What goes wrong while rows are handed over comes as an error of Arrow's, in the database's words.
        # All that is within reach is public, and so is what the database says: its first line is the complaint.
        complaint = next(iter(str(error).strip().splitlines()), "").rstrip(".!;")
        if complaint.startswith("INTERRUPT"):
            remedy = "give more, or ask for less"
            raise InvalidInput("seconds", f"{long:g}, and the query takes longer", remedy) from None
        if isinstance(error, MemoryError) or complaint.startswith("Out of Memory"):
            raise too_large(most) from None
        raise InvalidInput("query", f"refused ({complaint})", _remedy(known)) from None


def _is_unicode(text: str) -> bool:
    """Whether it has a form in UTF-8: bytes of a command line that have none are halves of characters in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_seconds(seconds: object) -> float:
    """How long a question may take."""
    number = validate.positive("seconds", seconds)
    if number > _MOST_SECONDS:
        raise InvalidInput("seconds", validate.shown(number), f"give at most {_MOST_SECONDS:,}")
    return float(number)


@contextmanager
def _interrupted_after(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # so that it meets no connection that is closed


def _fetched(found: duckdb.DuckDBPyRelation | None, most: int) -> pa.Table:
    """All rows, unless they are too many to hold: an answer is not in the engine's memory but in ours."""
    import pyarrow as pa

    if found is None:  # as EXPLAIN of nothing
        return pa.table({})
    reader = found.to_arrow_reader(_BATCH)
    batches, size = [], 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > most:
            raise too_large(most)
    return pa.Table.from_batches(batches, reader.schema)


def too_large(most: int) -> InvalidInput:
    """What to say of a question that needs more memory than it may use."""
    given = f"{validate.shown_bytes(most)}, and the query or its answer needs more"
    return InvalidInput("memory", given, "give more, or ask for less")


def _remedy(known: Mapping[str, pa.Table]) -> str:
    columns = [f"`{name}`, whose columns are {', '.join(table.column_names)}" for name, table in known.items()]
    return f"ask the table {'; or '.join(columns)}"


def _connection(
    tables: Mapping[str, pa.Table], memory: int, in_order: str | None, means: Mapping[str, pa.Table]
) -> duckdb.DuckDBPyConnection:
    """With all tables; `in_order` is what to select of `grouped`, `means` what `means('…')` gives."""
    import duckdb

    connection = duckdb.connect(":memory:", config={**_CLOSED, "memory_limit": f"{max(memory, _LEAST_MEMORY)}B"})
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set enable_progress_bar = false")  # it would be drawn on standard output, among the answers
    for name, table in tables.items():
        unordered = name == _GROUPED and in_order is not None
        connection.register(_UNORDERED if unordered else name, table)  # read where it is: nothing is copied
    for text, table in means.items():
        connection.register(f"{_MEANS}_{text.encode().hex().upper()}", table)
    connection.execute("set enable_external_access = false")
    if means:
        connection.execute(f"create temp macro {_MEANS}(groups) as table from query_table('{_MEANS}_' || hex(groups))")
    if in_order is not None:
        view = f'create temp view {_GROUPED} as select {in_order} from "{_UNORDERED}"'  # noqa: S608  # all quoted
        connection.execute(view)
    connection.execute("set lock_configuration = true")
    return connection


def _check(statements: list[duckdb.Statement]) -> None:
    import duckdb

    if len(statements) != 1:
        raise InvalidInput("query", f"{len(statements)} statements", "give one SELECT")
    if statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        kind = statements[0].type.name.replace("_", " ")
        given = f"a statement of the kind {kind}, which a release does not take"
        raise InvalidInput("query", given, "give one SELECT; nothing can be written, loaded or set")


def to_polars(table: pa.Table) -> polars.DataFrame:
    """The rows as a polars frame, if polars is installed."""
    try:
        import polars
    except ImportError:
        raise InvalidInput("polars", "not installed", "install it: pip install polars") from None
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)  # noqa: S101  # of a table it always is
    return frame


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """The rows as a pandas frame, if pandas is installed."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise InvalidInput("pandas", "not installed", "install it: pip install pandas") from None
    frame: pandas.DataFrame = table.to_pandas()
    return frame


def _shown(value: object) -> str:
    words = "" if value is None else printable(" ".join(str(value).split()))
    text = shown_number(value) if isinstance(value, float) else words
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _aligned(line: list[str], widths: list[int], numeric: list[bool]) -> list[str]:
    return [
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(line, widths, numeric, strict=True)
    ]


# The release with its groups: `select day_weekday, sum(count) from grouped group by 1`.

_GROUPED, _UNORDERED = "grouped", "grouped, unordered"
"""What it is called in a question, and beneath; it is made for questions that name it."""


def _with_groups(table: pa.Table, domain: Domain, columns: Mapping[str, tuple[int, Coarsening]]) -> pa.Table:
    for name, (place, coarsening) in columns.items():
        before, after = prod(domain.shape[:place]), prod(domain.shape[place + 1 :])
        cells = np.tile(np.repeat(coarsening.group_of, after), before)
        table = table.append_column(name, _named_groups(coarsening, cells))
    return table


def _group_columns(table: pa.Table, domain: Domain) -> dict[str, tuple[int, Coarsening]]:
    """The coarsenings, each with the number of its axis: day_weekday is day.weekday; a name that is taken has a dot."""
    taken = {name.casefold() for name in table.column_names}
    found: dict[str, tuple[int, Coarsening]] = {}
    for place, axis in enumerate(domain.axes):
        for coarsening in axis.coarsenings.values():
            dotted = coarsening.axis.name
            name = next((one for one in (dotted.replace(".", "_"), dotted) if one.casefold() not in taken), None)
            if name is not None:
                taken.add(name.casefold())
                found[name] = place, coarsening
    return found


def _named_groups(coarsening: Coarsening, groups: Ints) -> pa.Array:
    """What the group of each row is called: a label, a number, or when it begins."""
    import pyarrow as pa

    ((name, words),) = coarsening.axis.columns().items()
    if words.dtype.kind == "M":
        return pa.array(words[groups], pa.timestamp("us", tz="UTC" if name in coarsening.axis.utc else None))
    if words.dtype.kind != "O":
        return pa.array(words[groups])
    return pa.DictionaryArray.from_arrays(pa.array(groups.astype(np.int32)), pa.array(words.tolist(), pa.string()))


_MOST_IN_ORDER = 1000
"""Labels; more of them sort as text."""


def _in_order(columns: Mapping[str, tuple[int, Coarsening]]) -> str:
    """What is selected of the table so that labels whose order means something sort by it: Mon before Tue."""
    replaced = []
    for name, (_, coarsening) in columns.items():
        labels = next(iter(coarsening.axis.columns().values())).tolist()
        texts = coarsening.axis.ordered and all(isinstance(label, str) and label.isprintable() for label in labels)
        if texts and len(labels) <= _MOST_IN_ORDER:
            listed = ", ".join(f"'{label.replace(chr(39), 2 * chr(39))}'" for label in labels)
            column = f'"{name.replace(chr(34), 2 * chr(34))}"'
            replaced.append(f"{column}::enum({listed}) as {column}")
    return f"* replace ({', '.join(replaced)})" if replaced else "*"


# Means by groups: `select ward, mean, low, high from means('ward')`.

Means = Callable[[list[str]], "pa.Table"]
"""The table of the means by these groups."""

_MEANS = "means"
_MEANS_OF = re.compile(rf"\b{_MEANS}\s*\(\s*'([^'\"]*)'\s*\)", re.IGNORECASE)
"""How a question asks for them: groups with commas between, in single quotes."""


def _means_asked_for(question: str, means: Means) -> dict[str, pa.Table]:
    """By what stands between the quotes."""
    texts = dict.fromkeys(_MEANS_OF.findall(question))
    return {text: means([name.strip() for name in text.split(",")]) for text in texts}


# Tables of the asker's own, such as populations, that a question joins with the release.

_RELEASE = "release"
"""What the release itself is called in a question."""

_WANTED = "give a pandas or polars frame, an Arrow table, or another release"


def _public_tables(tables: Mapping[str, Any] | None) -> dict[str, pa.Table]:
    """The given tables as Arrow has them, under names that SQL takes without quotes."""
    if tables is None:
        return {}
    if not isinstance(tables, Mapping):
        given = f"of type {type(tables).__name__}"
        raise InvalidInput("tables", given, 'give names and tables, such as {"population": frame}')
    taken = {_RELEASE}
    for name in tables:
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidInput("tables", "given with a name that is no identifier", 'name each by a word, "population"')
        if name.casefold() in taken:
            given = f"given with the name {name} a second time"
            remedy = f"give each a name of its own, whatever its case; {_RELEASE} is the release"
            raise InvalidInput("tables", given, remedy)
        taken.add(name.casefold())
    return {name: _in_arrow(name, table) for name, table in tables.items()}


def _in_arrow(name: str, table: Any) -> pa.Table:
    import pyarrow as pa

    try:
        found = _converted(table)
    except (pa.ArrowException, TypeError, ValueError):
        given = "given with a column of mixed or unknown types"
        raise InvalidInput(f"tables[{name!r}]", given, "give columns of one type each") from None
    if found is None:
        raise InvalidInput(f"tables[{name!r}]", f"of type {type(table).__name__}", _WANTED)
    if len({column.casefold() for column in found.column_names}) < found.num_columns:
        raise InvalidInput(
            f"tables[{name!r}]", "given with two columns of one name", "SQL tells them apart by name alone"
        )
    return found


def _converted(table: Any) -> pa.Table | None:
    """None of what is no table. An index with a name is a column; one without says nothing."""
    import pyarrow as pa

    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        found = pa.Table.from_pandas(table)
        return found.select([name for name in found.column_names if not name.startswith("__index_level_")])
    if polars is not None and isinstance(table, polars.LazyFrame):
        table = table.collect()
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch | pa.RecordBatchReader):
        return pa.table(table) if isinstance(table, pa.RecordBatch) else table.read_all()
    found = table.to_arrow() if callable(getattr(table, "to_arrow", None)) else None
    return found if isinstance(found, pa.Table) else None
