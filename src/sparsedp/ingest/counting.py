"""Records to totals in one query: all of a person's records side by side, and at most so many of each kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.ingest.bounding import Reservoir
from sparsedp.ingest.people import PersonColumn, seeds_of, starts_of

if TYPE_CHECKING:
    import duckdb

A_BATCH = 1 << 17
"""Records that are looked at together."""


def add_kept(
    connection: duckdb.DuckDBPyConnection,
    cells: str,
    people: Sequence[PersonColumn],
    reservoir: Reservoir,
    *,
    sums: bool,
) -> Integers:
    """The totals of what people keep. `cells` is a query for the columns cell, steps and those of `people`.

    It is sorted, outside memory where it has to be. Without `people` every record is another person's, and without
    `sums` every record is one step.
    """
    numbers = ["cell", "steps"] if sums else ["cell"]
    units = [one.name for one in people]
    wanted = " AND ".join(f"{name} IS NOT NULL" for name in (*units, *numbers))
    order = f"ORDER BY {', '.join((*(one.order for one in people), *numbers))}" if people else ""
    selected = ", ".join((*(one.selected for one in people), *numbers))
    query = f"SELECT {selected} FROM ({cells}) WHERE {wanted} {order}"  # noqa: S608
    last: list[Any] = []
    for batch in connection.sql(query).to_arrow_reader(A_BATCH):
        length = batch.num_rows
        if length == 0:
            continue
        steps = batch.column("steps").to_numpy() if sums else np.ones(length, dtype=np.int64)
        columns = [batch.column(name) for name in units]
        seeds = seeds_of([one.words(batch) for one in people], length)
        reservoir.add(starts_of(columns, last, length), seeds, batch.column("cell").to_numpy(), steps)
        last = [column[-1] for column in columns]
    return reservoir.totals()
