"""DataFrames and Arrow data as batches; a column's type comes from its declaration, never from a look at its values."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.ingest.arrow_columns import arrow_attachment
from sparsedp.ingest.records import Attachment, check_columns

WANTED = (
    "give a path, a folder or a glob of CSV or Parquet files, an Arrow table or reader, or a pandas or polars frame"
)
_A_BATCH = 1 << 17


def frame_attachment(source: object, columns: Sequence[str]) -> Attachment:
    """A pandas or polars frame, an Arrow table, dataset or reader, or anything that gives an Arrow stream."""
    # By what has been imported already: who has such a frame has loaded its library.
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _from_pandas(source, columns)
    if polars is not None and isinstance(source, polars.LazyFrame):
        check_columns(columns, source.collect_schema().names())
        lazy = source.select(list(dict.fromkeys(columns)))
        schema = lazy.limit(0).collect().to_arrow().schema
        return arrow_attachment(schema, lambda: _from_lazy(lazy), columns)
    if polars is not None and isinstance(source, polars.DataFrame):
        check_columns(columns, source.columns)
        return _from_table(source.select(list(dict.fromkeys(columns))).to_arrow(), columns)
    return _from_arrow(source, columns)


def _from_arrow(source: Any, columns: Sequence[str]) -> Attachment:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(source, ds.Dataset):
        check_columns(columns, source.schema.names)
        wanted = list(dict.fromkeys(columns))
        return arrow_attachment(source.schema, lambda: source.to_batches(columns=wanted, batch_size=_A_BATCH), columns)
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _from_table(source, columns)
    if isinstance(source, pa.RecordBatchReader):
        return arrow_attachment(source.schema, lambda: source, columns)
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return arrow_attachment(reader.schema, lambda: reader, columns)
    raise InvalidInput("source", f"of type {type(source).__name__}", WANTED)


def _from_table(table: Any, columns: Sequence[str]) -> Attachment:
    return arrow_attachment(table.schema, lambda: table.to_batches(max_chunksize=_A_BATCH), columns)


def _from_lazy(lazy: Any) -> Iterable[Any]:
    for frame in lazy.collect_batches(chunk_size=_A_BATCH):
        yield from frame.to_arrow().to_batches()


def _from_pandas(frame: Any, columns: Sequence[str]) -> Attachment:
    import pyarrow as pa

    check_columns(columns, [name for name in frame.columns if isinstance(name, str)])
    arrays = {}
    for column in columns:
        if list(frame.columns).count(column) > 1:
            raise InvalidInput("source", f"a frame with two columns named {column!r}", "rename one of them")
        arrays[column] = _array(frame[column])
    return _from_table(pa.table(arrays), columns)


def _array(series: Any) -> Any:
    """A pandas column. One of Python objects has no type to go by: its values become text, each by itself."""
    import pyarrow as pa

    if series.dtype == object:
        return pa.array([_as_text(value) for value in series], pa.large_string())
    if isinstance(series.dtype, sys.modules["pandas"].CategoricalDtype):
        codes = pa.array(series.cat.codes.to_numpy(), mask=(series.cat.codes < 0).to_numpy())
        return pa.DictionaryArray.from_arrays(codes, _array(series.cat.categories.to_series()))
    array = pa.array(series, from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _as_text(value: object) -> str | None:
    if isinstance(value, str):
        return None if _half_a_character(value) else value
    if isinstance(value, date):
        return None if value != value else value.isoformat()  # NaT is a date that is not itself
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, Real | Decimal):
        return None if value != value else str(value)
    return None


def _half_a_character(value: str) -> bool:
    return not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value)
