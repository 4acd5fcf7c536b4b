"""Tables of the asker's own, such as populations, that a question joins with the release."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

RELEASE = "release"
"""What the release itself is called in a question."""

WANTED = "give a pandas or polars frame, an Arrow table, or another release"


def public_tables(tables: Mapping[str, Any] | None) -> dict[str, pa.Table]:
    """The given tables as Arrow has them, under names that SQL takes without quotes."""
    if tables is None:
        return {}
    if not isinstance(tables, Mapping):
        given = f"of type {type(tables).__name__}"
        raise InvalidInput("tables", given, 'give names and tables, such as {"population": frame}')
    taken = {RELEASE}
    for name in tables:
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidInput("tables", "given with a name that is no identifier", 'name each by a word, "population"')
        if name.casefold() in taken:
            given = f"given with the name {name} a second time"
            remedy = f"give each a name of its own, whatever its case; {RELEASE} is the release"
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
        raise InvalidInput(f"tables[{name!r}]", f"of type {type(table).__name__}", WANTED)
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
