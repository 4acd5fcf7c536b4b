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

Sums of a value can leave 64 bits. Wrapped sums of neighbours would be as far apart as numbers can be, and what is not
linear (a choice of the sparsity, a look at the cells) would tell them apart. So sums are exact, in 128 bits, and each
cell is clamped to ±2⁶² at the end: that brings no two numbers further apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.jit import kernel

Unsigned = npt.NDArray[np.uint64]
Starts = npt.NDArray[np.bool_]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

MOST_TOTAL = 2**62
"""What a cell is clamped to: two of them, and the difference of two, still fit 64 bits."""


class Reservoir:
    """Totals of the kept records, fed with batches of sorted ones; memory for m records and for the cells.

    `sums`: whether records have steps of their own, so that totals may leave 64 bits; counts of records do not.
    """

    def __init__(self, cells: int, most: int, key: tuple[int, int], *, sums: bool) -> None:
        self._totals: Integers = np.zeros(cells, dtype=np.int64)
        self._carries: Integers = np.zeros(cells if sums else 0, dtype=np.int64)
        self._kept_cells: Integers = np.zeros(most, dtype=np.int64)
        self._kept_steps: Integers = np.zeros(most, dtype=np.int64)
        self._seen: Integers = np.zeros(1, dtype=np.int64)
        self._state: Unsigned = np.array([*key, 0], dtype=np.uint64)

    def add(self, starts: Starts, seeds: Unsigned, cells: npt.NDArray[np.int32], steps: Integers) -> None:
        """One batch; `starts` marks the first record of each person, whose seed is used."""
        totals = self._totals, self._carries
        _draw(starts, seeds, cells, steps, self._kept_cells, self._kept_steps, self._seen, self._state, *totals)

    def totals(self) -> Integers:
        """What all kept records add up to, within ±2⁶²; the last person's are added now, so ask once."""
        _add_kept(self._kept_cells, self._kept_steps, self._seen, self._totals, self._carries)
        np.clip(self._totals, -MOST_TOTAL, MOST_TOTAL, out=self._totals)
        if len(self._carries):
            self._totals[self._carries > 0] = MOST_TOTAL
            self._totals[self._carries < 0] = -MOST_TOTAL
        return self._totals


@kernel
def _mixed(word: Any) -> Any:
    """Splitmix64's finaliser: a bijection that spreads every bit."""
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def _add_kept(kept_cells: Integers, kept_steps: Integers, seen: Integers, totals: Integers, carries: Integers) -> None:
    """The exact total of a cell is totals + 2⁶⁴·carries, both signed; without carries, totals alone."""
    for slot in range(min(seen[0], len(kept_cells))):
        cell, step = kept_cells[slot], kept_steps[slot]
        before = totals[cell]
        # Unsigned: compilers take it that signed sums never leave 64 bits, and would drop the test below.
        after = np.int64(np.uint64(before) + np.uint64(step))
        totals[cell] = after
        if len(carries) and (before ^ after) & (step ^ after) < 0:
            carries[cell] += 1 if step > 0 else -1
    seen[0] = 0


@kernel
def _draw(
    starts: Starts,
    seeds: Unsigned,
    cells: npt.NDArray[np.int32],
    steps: Integers,
    kept_cells: Integers,
    kept_steps: Integers,
    seen: Integers,
    state: Unsigned,
    totals: Integers,
    carries: Integers,
) -> None:
    most = len(kept_cells)
    for record in range(len(cells)):
        if starts[record]:
            _add_kept(kept_cells, kept_steps, seen, totals, carries)
            state[2] = _mixed(_mixed(seeds[record] ^ state[0]) + state[1])
        slot = seen[0]
        seen[0] += 1
        if slot >= most:
            word = _mixed(state[2] + np.uint64(slot) * _GOLDEN)
            slot = np.int64(word % np.uint64(seen[0]))
        if slot < most:
            kept_cells[slot] = cells[record]
            kept_steps[slot] = steps[record]
