"""Records to totals in one query: all of a person's records side by side, and at most so many of each kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.ingest.bounding import Reservoir
from sparsedp.ingest.people import PersonColumn, seeds_of, share_a_hash, starts_of

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
    by_hash: bool,
) -> Integers | None:
    """The totals of what people keep. `cells` is a query for the columns cell, steps and those of `people`.

    It is sorted, outside memory where it has to be. Without `people` every record is another person's, and without
    `sums` every record is one step. Sorted `by_hash`, which is faster, the totals are the same; but None where two
    people are found to share one, for then their records are not apart.
    """
    numbers = ["cell", "steps"] if sums else ["cell"]
    units = [one.name for one in people]
    wanted = " AND ".join(f"{name} IS NOT NULL" for name in (*units, *numbers))
    keys = (*(one.order(by_hash=by_hash) for one in people), *numbers)
    order = f"ORDER BY {', '.join(keys)}" if people else ""
    selected = ", ".join((*(one.selected for one in people), *numbers))
    query = f"SELECT {selected} FROM ({cells}) WHERE {wanted} {order}"  # noqa: S608
    last: list[Any] = []
    last_words: list[np.uint64] = []
    for batch in connection.sql(query).to_arrow_reader(A_BATCH):
        length = batch.num_rows
        if length == 0:
            continue
        steps = batch.column("steps").to_numpy() if sums else np.ones(length, dtype=np.int64)
        columns = [batch.column(name) for name in units]
        words = [one.words(batch) for one in people]
        starts = starts_of(columns, last, length)
        if by_hash and share_a_hash(words, last_words, starts):
            return None
        reservoir.add(starts, seeds_of(words, length), batch.column("cell").to_numpy(), steps)
        last, last_words = [column[-1] for column in columns], [word[-1] for word in words]
    return reservoir.totals()
