"""Tables that values are looked up in: thresholds, and labels. All of them public: they come from the domain alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.ingest import sql_text

if TYPE_CHECKING:
    import duckdb

FEW = 32
"""So many comparisons are faster as a tree in SQL than as a call into numpy; far more would take seconds to plan."""

_TYPES: dict[str, type[np.generic]] = {"DOUBLE": np.float64, "BIGINT": np.int64}


class Lookups:
    """What a query looks up, registered with its connection under names of its own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._count = 0

    def among_floats(self, value: str, thresholds: Sequence[float], results: Sequence[int]) -> str:
        """results[i] where i of the rising thresholds are at most `value`, which is of type DOUBLE."""
        if len(thresholds) <= FEW:
            return sql_text.stepwise(value, [sql_text.double(one) for one in thresholds], results)
        return self._searched(value, "DOUBLE", thresholds, results)

    def among_integers(self, value: str, thresholds: Sequence[int], results: Sequence[int]) -> str:
        """results[i] where i of the rising thresholds are at most `value`, which is of type BIGINT."""
        if len(thresholds) <= FEW:
            return sql_text.stepwise(value, [sql_text.whole(one) for one in thresholds], results)
        return self._searched(value, "BIGINT", thresholds, results)

    def labels(self, labels: Sequence[str] | Sequence[int]) -> str:
        """The name of a table that has the `place` of every `label`."""
        import pyarrow as pa

        known = {label: place for place, label in enumerate(labels) if _can_be_held(label)}
        kind = pa.int64() if isinstance(labels[0], int) else pa.string()
        given, table = self._named("given"), self._named("labels")
        columns = {"label": pa.array(list(known), kind), "place": pa.array(list(known.values()), pa.int64())}
        self._connection.register(given, pa.table(columns))
        self._connection.execute(f"CREATE TEMP TABLE {table} AS SELECT label, place FROM {given}")  # noqa: S608
        self._connection.unregister(given)
        return table

    def _searched(self, value: str, kind: str, thresholds: Sequence[float], results: Sequence[int]) -> str:
        steps, places = np.array(thresholds, dtype=_TYPES[kind]), np.array(results, dtype=np.int64)

        def found(values: Any) -> Any:
            import pyarrow as pa

            # A gap is any number here: DuckDB puts NULL where it gave one.
            numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
            return pa.array(places[np.searchsorted(steps, numbers, side="right")])

        function = self._named("searched")
        self._connection.create_function(function, found, [kind], "BIGINT", type="arrow")  # type: ignore[call-overload]
        return f"{function}({value})"

    def _named(self, what: str) -> str:
        self._count += 1
        return f"sparsedp_{what}_{self._count}"


def _can_be_held(label: object) -> bool:
    """A label with half a character in it can be declared, but no file can hold it."""
    try:
        return not isinstance(label, str) or label.encode() is not None
    except UnicodeEncodeError:
        return False
