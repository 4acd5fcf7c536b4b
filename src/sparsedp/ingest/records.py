"""The source of a count, whatever it is, as one relation of the columns that are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparsedp.errors import UnknownName
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.csv_dialect import Dialect
from sparsedp.ingest.plain_types import Needed

if TYPE_CHECKING:
    import duckdb

RECORDS = "sparsedp_records"
"""What queries call the relation; its columns have the names of `short_names`, in the order they were asked for."""


@dataclass(frozen=True)
class Source:
    """Batches of records that have the schema, what each of its columns holds, and how text in it was declared.

    There is one way to read a source, chosen before any record is: no record decides how others are read.
    """

    schema: Any
    kinds: tuple[str, ...]
    batches: Callable[[], Iterator[Any]]
    dialect: Dialect | None = None
    again: bool = True
    """Whether the batches can be had once more."""
    broken: Callable[[], int] = lambda: 0
    """Of the batches that were had: how many lines were no records. PRIVATE, as they are."""

    def attach(self, connection: duckdb.DuckDBPyConnection, needed: Sequence[Needed]) -> dict[Needed, SourceColumn]:
        """Make the records known to a connection as RECORDS; the needed columns as queries see them."""
        import pyarrow as pa

        connection.register(RECORDS, pa.RecordBatchReader.from_batches(self.schema, self.batches()))
        types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {RECORDS}").fetchall()}
        found = {}
        for one, short, kind in zip(needed, short_names(needed), self.kinds, strict=True):
            written = {} if self.dialect is None else self.dialect.written(one.column)
            found[one] = SourceColumn(short, types[short], "text" if kind == "nothing" else kind, one.column, **written)
        return found


def short_names(columns: Sequence[Any]) -> list[str]:
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
