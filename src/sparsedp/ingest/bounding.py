"""Each person keeps at most m records, whatever anybody else's are.

Records come sorted by person, and within a person by cell and value. The records of one person are then a list that
depends on that person's records alone, and m of its places are drawn: by reservoir sampling (the j-th record replaces
a kept one with probability m / j), with pseudo-random numbers from a secret key, a hash of the person and j.

Why the counts of neighbours differ by at most c in L1, exactly: they are a sum over people; the part of a person
depends on that person's records and the key alone; and it has at most m records, each of which adds at most c / m to
one cell. The hash takes no part in this: were it constant, or steered, or did it collide, the bound would hold as
well. It only makes each of a person's n records be kept with the same probability m / n, and the key only keeps
people from choosing in advance which of theirs will count. Records that are equal are interchangeable, so that their
order, which a sort leaves open, changes nothing.

In the same pass people are counted by how many records they have, kept or not, in public bins: each is in one bin.

Sums of a value can leave 64 bits. Wrapped sums of neighbours would be as far apart as numbers can be, and what is not
linear (a choice of the sparsity, a look at the cells) would tell them apart. So sums are exact, in 128 bits, and each
cell is clamped to ±2⁶² at the end: that brings no two numbers further apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.ingest._columns import DATES, INSTANTS, TIMES, SourceColumn
from sparsedp.jit import kernel

if TYPE_CHECKING:
    import duckdb


_Unsigned = npt.NDArray[np.uint64]
_Starts = npt.NDArray[np.bool_]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

DOUBLES = 51
"""Bins of values on either side of 0, in whole steps: the first has those of one step, the j-th those above 2^(j − 2)
up to 2^(j − 1)."""

_MOST_TOTAL = 2**62
"""What a cell is clamped to: two of them, and the difference of two, still fit 64 bits."""


class Reservoir:
    """Totals of the kept records, fed with batches of sorted ones; memory for m records and for the cells.

    `sums`: whether records have steps of their own, so that totals may leave 64 bits; counts of records do not.
    `counts`: whether the same kept records are counted, too; `sizes`: whether by how large their values are. `bins`:
    those that people are counted in, by the first number of records of each.
    """

    def __init__(
        self,
        cells: int,
        most: int,
        key: tuple[int, int],
        *,
        sums: bool,
        counts: bool = False,
        sizes: bool = False,
        bins: Sequence[int] = (1,),
    ) -> None:
        self._totals: Ints = np.zeros(cells, dtype=np.int64)
        self._carries: Ints = np.zeros(cells if sums else 0, dtype=np.int64)
        self._records: Ints = np.zeros(cells if counts else 0, dtype=np.int64)
        self._sizes: Ints = np.zeros(2 * DOUBLES if sizes else 0, dtype=np.int64)
        self._kept_cells: Ints = np.zeros(most, dtype=np.int64)
        self._kept_steps: Ints = np.zeros(most, dtype=np.int64)
        self._seen: Ints = np.zeros(1, dtype=np.int64)
        self._bins: Ints = np.array(bins, dtype=np.int64)
        self._people: Ints = np.zeros(len(self._bins), dtype=np.int64)
        self._state: _Unsigned = np.array([*key, 0], dtype=np.uint64)
        self.empty = True
        """Whether not one record came. PRIVATE, as the totals are."""

    def add(self, starts: _Starts, seeds: _Unsigned, cells: npt.NDArray[np.int32], steps: Ints) -> None:
        """One batch; `starts` marks the first record of each person, whose seed is used."""
        self.empty &= not len(cells)
        totals = self._totals, self._carries, self._records, self._sizes, self._bins, self._people
        _draw(starts, seeds, cells, steps, self._kept_cells, self._kept_steps, self._seen, self._state, *totals)

    def totals(self) -> Ints:
        """What all kept records add up to, within ±2⁶²; the last person's are added now, so ask once."""
        parts = self._totals, self._carries, self._records, self._sizes, self._bins, self._people
        _add_kept(self._kept_cells, self._kept_steps, self._seen, *parts)
        np.clip(self._totals, -_MOST_TOTAL, _MOST_TOTAL, out=self._totals)
        if len(self._carries):
            self._totals[self._carries > 0] = _MOST_TOTAL
            self._totals[self._carries < 0] = -_MOST_TOTAL
        return self._totals

    @property
    def records(self) -> Ints | None:
        """How many records each total is of, once these have been asked for; None if they were not to be counted."""
        return self._records if len(self._records) else None

    @property
    def people(self) -> Ints:
        """How many people there are in each bin, once the totals are there."""
        return self._people

    @property
    def sizes(self) -> Ints | None:
        """How many kept records have values of each size, once the totals are there: above 0 in the first `DOUBLES`
        bins, below 0 in the others; values of 0 are in none. None if that was not wanted.
        """
        return self._sizes if len(self._sizes) else None


@kernel
def _mixed(word: Any) -> Any:
    """Splitmix64's finaliser: a bijection that spreads every bit."""
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def _add_kept(
    kept_cells: Ints,
    kept_steps: Ints,
    seen: Ints,
    totals: Ints,
    carries: Ints,
    records: Ints,
    sizes: Ints,
    bins: Ints,
    people: Ints,
) -> None:
    """The exact total of a cell is totals + 2⁶⁴·carries, both signed; without carries, totals alone."""
    if seen[0] > 0:
        people[np.searchsorted(bins, seen[0], side="right") - 1] += 1
    for slot in range(min(seen[0], len(kept_cells))):
        cell, step = kept_cells[slot], kept_steps[slot]
        before = totals[cell]
        # Unsigned: compilers take it that signed sums never leave 64 bits, and would drop the test below.
        after = np.int64(np.uint64(before) + np.uint64(step))
        totals[cell] = after
        if len(carries) and (before ^ after) & (step ^ after) < 0:
            carries[cell] += 1 if step > 0 else -1
        if len(records):
            records[cell] += 1
        if len(sizes) and step != 0:
            double = 0
            while np.int64(1) << double < abs(step):
                double += 1
            sizes[double if step > 0 else DOUBLES + double] += 1
    seen[0] = 0


@kernel
def _draw(
    starts: _Starts,
    seeds: _Unsigned,
    cells: npt.NDArray[np.int32],
    steps: Ints,
    kept_cells: Ints,
    kept_steps: Ints,
    seen: Ints,
    state: _Unsigned,
    totals: Ints,
    carries: Ints,
    records: Ints,
    sizes: Ints,
    bins: Ints,
    people: Ints,
) -> None:
    most = len(kept_cells)
    for record in range(len(cells)):
        if starts[record]:
            _add_kept(kept_cells, kept_steps, seen, totals, carries, records, sizes, bins, people)
            state[2] = _mixed(_mixed(seeds[record] ^ state[0]) + state[1])
        slot = seen[0]
        seen[0] += 1
        if slot >= most:
            word = _mixed(state[2] + np.uint64(slot) * _GOLDEN)
            slot = np.int64(word % np.uint64(seen[0]))
        if slot < most:
            kept_cells[slot] = cells[record]
            kept_steps[slot] = steps[record]


# Who is who: the columns that tell people apart, in SQL and in the batches that come back.


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

    def words(self, batch: Any) -> _Unsigned:
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


def _starts_of(units: Sequence[Any], last: Sequence[Any], length: int) -> _Starts:
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


def _share_a_hash(words: Sequence[_Unsigned], last: Sequence[np.uint64], starts: _Starts) -> bool:
    """Whether a person begins in the midst of records with the same words: sorted by these, people may be mixed."""
    alike = np.full(len(starts), bool(words))
    alike[0] &= bool(last)
    for place, word in enumerate(words):
        alike[0] &= bool(last) and last[place] == word[0]
        alike[1:] &= word[1:] == word[:-1]
    return bool((starts & alike).any())


def _seeds_of(words: Sequence[_Unsigned], length: int) -> _Unsigned:
    """One seed for each record, the same for all of a person's."""
    seeds = np.zeros(length, dtype=np.uint64)
    for word in words:
        seeds = seeds * _GOLDEN ^ word
    return seeds


# Records to totals in one query: all of a person's records side by side, and at most so many of each kept.

_A_BATCH = 1 << 17
"""Records that are looked at together."""


def fill(
    reservoir: Reservoir,
    connection: duckdb.DuckDBPyConnection,
    cells: str,
    people: Sequence[PersonColumn],
    *,
    sums: bool,
    by_hash: bool,
) -> bool:
    """Give all records to the reservoir. `cells` is a query for the columns cell, steps and those of `people`.

    It is sorted, outside memory where it has to be. Without `people` every record is another person's, and without
    `sums` every record is one step. Sorted `by_hash`, which is faster, the totals are the same; but False where two
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
    for batch in connection.sql(query).to_arrow_reader(_A_BATCH):
        length = batch.num_rows
        if length == 0:
            continue
        steps = batch.column("steps").to_numpy() if sums else np.ones(length, dtype=np.int64)
        columns = [batch.column(name) for name in units]
        words = [one.words(batch) for one in people]
        starts = _starts_of(columns, last, length)
        if by_hash and _share_a_hash(words, last_words, starts):
            return False
        reservoir.add(starts, _seeds_of(words, length), batch.column("cell").to_numpy(), steps)
        last, last_words = [column[-1] for column in columns], [word[-1] for word in words]
    return True
