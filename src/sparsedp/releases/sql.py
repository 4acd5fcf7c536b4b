"""SQL over a release and the tables given beside it: no file, no variable, no extension is within reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sparsedp.errors import InvalidInput
from sparsedp.releases.public_tables import RELEASE, public_tables
from sparsedp.releases.uncertainty import shown_number

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow as pa

SHOWN = 20
"""Rows that a result prints; of more, the first and the last."""

WIDEST = 40
"""Characters of one value that are printed."""

CLOSED = {
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
        head = Result(self._table if len(self) <= SHOWN else self._table.slice(0, SHOWN // 2)).fetchall()
        lines = [self.columns, *([_shown(value) for value in row] for row in head)]
        if len(self) > SHOWN:
            last = Result(self._table.slice(len(self) - SHOWN // 2)).fetchall()
            lines += [["…"] * len(self.columns), *([_shown(value) for value in row] for row in last)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        numeric = [_is_number(field.type) for field in self._table.schema]
        text = ["  ".join(_aligned(line, widths, numeric)).rstrip() for line in lines]
        text.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([*text, f"({len(self):,} {'row' if len(self) == 1 else 'rows'})"])


def ask(table: pa.Table, question: object, tables: Mapping[str, Any] | None = None) -> Result:
    """The rows that one SELECT finds in the table `release`, and in those given beside it under their names."""
    import duckdb

    if not isinstance(question, str) or not question.strip():
        given = "empty" if isinstance(question, str) else f"of type {type(question).__name__}"
        raise InvalidInput("query", given, 'give SQL such as "select * from release"')
    known = {RELEASE: table, **public_tables(tables)}
    try:
        with _connection(known) as connection:
            _check(connection.extract_statements(question))
            return Result(connection.sql(question).to_arrow_table())
    except duckdb.Error as error:
        # All that is within reach is public, and so is what the database says: its first line is the complaint.
        complaint = str(error).strip().splitlines()[0].rstrip(".!;")
        raise InvalidInput("query", f"refused ({complaint})", _remedy(known)) from None


def _remedy(known: Mapping[str, pa.Table]) -> str:
    columns = [f"`{name}`, whose columns are {', '.join(table.column_names)}" for name, table in known.items()]
    return f"ask the table {'; or '.join(columns)}"


def _connection(tables: Mapping[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(":memory:", config={**CLOSED})
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set enable_progress_bar = false")  # it would be drawn on standard output, among the answers
    for name, table in tables.items():
        connection.register(name, table)  # read where it is: nothing is copied
    connection.execute("set enable_external_access = false")
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
    text = shown_number(value) if isinstance(value, float) else "" if value is None else " ".join(str(value).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _aligned(line: list[str], widths: list[int], numeric: list[bool]) -> list[str]:
    return [
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(line, widths, numeric, strict=True)
    ]
