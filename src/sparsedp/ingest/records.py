"""The source of a count, whatever it is, as one relation of the columns that are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sparsedp.errors import UnknownName
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.session import UnreadableRecords

if TYPE_CHECKING:
    import duckdb

RECORDS = "sparsedp_records"
"""What queries call the relation; its columns have the names of `short_names`, in the order they were asked for."""

Attachment = Callable[["duckdb.DuckDBPyConnection"], None]
"""Makes a source known to a connection as RECORDS."""


def short_names(columns: Sequence[str]) -> list[str]:
    """What queries call the columns: nobody's names, so that none of them can be mistaken for SQL."""
    return [f"c{place}" for place in range(len(columns))]


def check_columns(columns: Sequence[str], known: Sequence[str], where: str = "") -> None:
    """All needed columns are there; else the first that is not is named, and the nearest offered."""
    for column in columns:
        if column not in known:
            names = sorted(set(known))
            shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
            alike = [name for name in names if name.casefold() == column.casefold()]
            hint = f"capital letters count, and there is {alike[0]!r}; " if alike else ""
            raise UnknownName("column", column, known, f"{hint}the columns{where} are {shown}")


def from_batches(schema: Any, batches: Callable[[], Iterator[Any]]) -> Attachment:
    """A source of Arrow batches that have the schema."""

    def attach(connection: duckdb.DuckDBPyConnection) -> None:
        import pyarrow as pa

        connection.register(RECORDS, pa.RecordBatchReader.from_batches(schema, batches()))

    return attach


def described(connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> dict[str, SourceColumn]:
    """The needed columns with the types that DuckDB gives them; all of them types that queries know."""
    found = connection.execute(f"DESCRIBE {RECORDS}").fetchall()
    types = {row[0]: row[1] for row in found}
    pairs = zip(columns, short_names(columns), strict=True)
    named = {column: SourceColumn(short, types[short], column) for column, short in pairs}
    if not all(column.known for column in named.values()):
        raise UnreadableRecords("A column of the records has a type that cannot be read here.")
    return named
