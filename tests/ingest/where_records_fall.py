"""The cell of each record, seen through `count`: a second axis gives each record cells of its own."""

from typing import Any

import numpy as np
import pyarrow as pa

from sparsedp.arrays import Ints
from sparsedp.axes import Axis, Integers
from sparsedp.axes.domain import Domain
from sparsedp.ingest import count


def cells_found(axis: Axis, column: Any, **options: Any) -> Ints:
    """As `Axis.index_of` gives them, from a column of a table."""
    table = pa.table({axis.name: column, "record": np.arange(len(column))})
    return cells_in(axis, table, len(column), **options)


def cells_in(axis: Axis, source: Any, length: int, **options: Any) -> Ints:
    """The same for any source with a column `record` of its numbers."""
    domain = Domain([Integers("record", 0, length - 1), axis])
    values = count(source, domain, privacy_unit=None, **options).values
    assert (values.sum(axis=1) <= 1).all()
    return np.where(values.any(axis=1), values.argmax(axis=1), -1)
