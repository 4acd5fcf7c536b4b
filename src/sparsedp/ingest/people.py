"""Who is who: the columns that tell people apart, in SQL and in the batches that come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.ingest.bounding import Starts, Unsigned
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.plain_types import DATES, INSTANTS, TIMES

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class PersonColumn:
    """One of the columns that tell people apart: `sql` is equal for equal values of it and for no others.

    NULL is nobody. Numbers stay numbers and text stays text, so that '1' and '01' are two people. What is not a number
    of 64 bits has DuckDB's hash beside it: to sort by, which is faster, and to draw random numbers from. Two people
    with one hash are still two, for the column itself decides; all that is asked of the hash is that equal values have
    equal ones, on which DuckDB's own groups and joins rest.
    """

    name: str
    sql: str
    hashed: bool

    @property
    def selected(self) -> str:
        """What a query selects for it."""
        return f"{self.name}, hash({self.name}) AS {self.name}_hash" if self.hashed else self.name

    def order(self, *, by_hash: bool) -> str:
        """What brings all of a person's records together; by the hash alone, unless somebody else has it too."""
        if not self.hashed:
            return self.name
        return f"{self.name}_hash" if by_hash else f"{self.name}_hash, {self.name}"

    def words(self, batch: Any) -> Unsigned:
        """64 bits for each record, the same for all of a person's."""
        array: npt.NDArray[Any] = batch.column(f"{self.name}_hash" if self.hashed else self.name).to_numpy()
        return array.view(np.uint64)


def person_column(name: str, column: SourceColumn) -> PersonColumn:
    """The column as it tells people apart. Not a number, which is how pandas marks a gap, is nobody."""
    value = column.sql
    if column.kind == "whole numbers":
        return PersonColumn(name, value if column.type == "UBIGINT" else f"CAST({value} AS BIGINT)", hashed=False)
    if column.kind in (DATES, TIMES, INSTANTS):  # in ticks, to the last digit
        return PersonColumn(name, value, hashed=False)
    if column.kind == "floats":
        # Plus zero, for there are two zeros, and they are equal.
        number = f"CASE WHEN NOT isnan({value}) THEN CAST({value} AS DOUBLE) + 0 END"
        return PersonColumn(name, number, hashed=False)
    if column.kind in ("decimals", "truth values"):
        return PersonColumn(name, f"CAST({value} AS VARCHAR)", hashed=True)
    if column.kind in ("text", "bytes"):
        return PersonColumn(name, value, hashed=True)
    raise column.refuse("name a column of numbers, text or dates that says whose a record is")


def starts_of(units: Sequence[Any], last: Sequence[Any], length: int) -> Starts:
    """Where the records of another person begin, after a batch that ended with `last`.

    Without units that is at every record: each of them is another person's.
    """
    import pyarrow.compute as pc

    starts = np.full(length, not units, dtype=np.bool_)
    starts[0] |= not last
    for place, unit in enumerate(units):
        starts[0] |= bool(last) and last[place] != unit[0]
        starts[1:] |= pc.not_equal(unit.slice(1), unit.slice(0, length - 1)).to_numpy(zero_copy_only=False)
    return starts


def share_a_hash(words: Sequence[Unsigned], last: Sequence[np.uint64], starts: Starts) -> bool:
    """Whether a person begins in the midst of records with the same words: sorted by these, people may be mixed."""
    alike = np.full(len(starts), bool(words))
    alike[0] &= bool(last)
    for place, word in enumerate(words):
        alike[0] &= bool(last) and last[place] == word[0]
        alike[1:] &= word[1:] == word[:-1]
    return bool((starts & alike).any())


def seeds_of(words: Sequence[Unsigned], length: int) -> Unsigned:
    """One seed for each record, the same for all of a person's."""
    seeds = np.zeros(length, dtype=np.uint64)
    for word in words:
        seeds = seeds * _ODD ^ word
    return seeds
