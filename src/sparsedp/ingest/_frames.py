"""DataFrames and Arrow data as batches; a column's type comes from its declaration, never from a look at its values."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.ingest._columns import Needed, Source, arrow_source, check_columns

_WANTED = (
    "give a path, a folder or a glob of CSV or Parquet files, an Arrow table or reader, or a pandas or polars frame"
)
_A_BATCH = 1 << 17


def frame_source(source: object, needed: Sequence[Needed]) -> Source:
    """A pandas or polars frame, an Arrow table, dataset or reader, or anything that gives an Arrow stream."""
    # By what has been imported already: who has such a frame has loaded its library.
    columns = list(dict.fromkeys(one.column for one in needed))
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _from_pandas(source, needed)
    if polars is not None and isinstance(source, polars.LazyFrame):
        # Earlier ones have no batches, or lose the errors of a query: records would be missing unnoticed.
        if tuple(int(part) for part in polars.__version__.split(".")[:2]) < (1, 37):
            given = f"a LazyFrame of polars {polars.__version__}"
            raise InvalidInput("source", given, "install polars 1.37 or later, or give source.collect()")
        check_columns(columns, source.collect_schema().names())
        lazy = source.select(columns)
        schema = lazy.limit(0).collect().to_arrow().schema
        return arrow_source(schema, lambda: _from_lazy(lazy), needed)
    if polars is not None and isinstance(source, polars.DataFrame):
        check_columns(columns, source.columns)
        return _from_table(source.select(columns).to_arrow(), needed)
    return _from_arrow(source, needed)


def _from_arrow(source: Any, needed: Sequence[Needed]) -> Source:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(source, ds.Dataset):
        columns = list(dict.fromkeys(one.column for one in needed))
        check_columns(columns, source.schema.names)
        return arrow_source(source.schema, lambda: source.to_batches(columns=columns, batch_size=_A_BATCH), needed)
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _from_table(source, needed)
    if isinstance(source, pa.RecordBatchReader):
        return arrow_source(source.schema, lambda: source, needed, again=False)
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return arrow_source(reader.schema, lambda: reader, needed, again=False)
    raise InvalidInput("source", f"of type {type(source).__name__}", _WANTED)


def _from_table(table: Any, needed: Sequence[Needed]) -> Source:
    return arrow_source(table.schema, lambda: table.to_batches(max_chunksize=_A_BATCH), needed)


def _from_lazy(lazy: Any) -> Iterable[Any]:
    for frame in lazy.collect_batches(chunk_size=_A_BATCH):
        yield from frame.to_arrow().to_batches()


def _from_pandas(frame: Any, needed: Sequence[Needed]) -> Source:
    import pyarrow as pa

    columns = list(dict.fromkeys(one.column for one in needed))
    check_columns(columns, [name for name in frame.columns if isinstance(name, str)])
    arrays = {}
    for column in columns:
        if list(frame.columns).count(column) > 1:
            raise InvalidInput("source", f"a frame with two columns named {column!r}", "rename one of them")
        arrays[column] = _array(frame[column])
    return _from_table(pa.table(arrays), needed)


def _array(series: Any) -> Any:
    """A pandas column. One of Python objects has no type to go by: its values become text, each by itself."""
    import pyarrow as pa

    pandas = sys.modules["pandas"]
    # Text that Python holds may have half a character in it, at which a conversion of the whole would stop.
    if series.dtype == object or (isinstance(series.dtype, pandas.StringDtype) and series.dtype.storage == "python"):
        return pa.array([text_of(value) for value in series], pa.large_string())
    if isinstance(series.dtype, pandas.CategoricalDtype):
        codes = pa.array(series.cat.codes.to_numpy(), mask=(series.cat.codes < 0).to_numpy())
        return pa.DictionaryArray.from_arrays(codes, _array(series.cat.categories.to_series()))
    array = pa.array(series, from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


# Python objects as text, each by itself: numbers that are equal are written alike, whatever they are made of.

_MOST_DIGITS = 4000
"""Of a number in plain notation: Python writes no longer ones, and nobody is counted by them."""


def text_of(value: object) -> str | None:
    """None for what is missing, for what is no value, and for what cannot be written; never an error."""
    try:
        return _text_of(value)
    except Exception:
        return None


def _text_of(value: object) -> str | None:
    if isinstance(value, str):
        value.encode()  # half a character is none
        return str(value)
    if isinstance(value, date):
        return None if value != value else value.isoformat()  # NaT is a date that is not itself
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, Real):
        return _real(value)
    return None


def _decimal(value: Decimal) -> str | None:
    if not value.is_finite():
        return None if value.is_nan() else str(float(value))
    if abs(value.adjusted()) > _MOST_DIGITS:
        return None
    text = format(value, "f")
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0")
    return f"{whole}.{decimals}" if decimals else str(int(whole))


def _real(value: Any) -> str | None:
    if value != value:
        return None
    if value in (inf, -inf):
        return str(float(value))
    if value == int(value):
        return str(int(value))
    return str(float(value)) if value == float(value) else str(value)
