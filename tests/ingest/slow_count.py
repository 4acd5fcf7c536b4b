"""A count as slow and plain as can be: Python's own integers, record by record and person by person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.axes.domain import Domain

_WORD = 2**64


def slow_count(
    records: Sequence[dict[str, Any]], domain: Domain, unit: str | None, most: int, key: bytes, value: str | None = None
) -> Ints:
    """The counts, or the sums of a column of whole steps; people are whole numbers, and None is nobody."""
    arrays = {name: np.array([record[name] for record in records], dtype=object) for name in domain.names}
    cells: list[int] = domain.index_of(arrays).tolist() if records else []
    people: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for number, (record, cell) in enumerate(zip(records, cells, strict=True)):
        person = ("record", number) if unit is None else record[unit]
        steps = 1 if value is None else record[value]
        if person is not None and cell >= 0 and steps is not None:
            people[person].append((int(cell), steps))
    totals = np.zeros(domain.size, dtype=np.int64)
    for person, owned in people.items():
        for cell, steps in kept(sorted(owned), most, person, key):
            totals[cell] += steps
    return totals.reshape(domain.shape)


def kept(records: list[tuple[int, int]], most: int, person: object, key: bytes) -> list[tuple[int, int]]:
    """Reservoir sampling as it is written in books."""
    if len(records) <= most:
        return records
    assert isinstance(person, int)
    first, second = (int.from_bytes(part, "little") for part in (key[:8], key[8:]))
    seed = mixed(mixed(person % _WORD ^ first) + second)
    slots = records[:most]
    for place in range(most, len(records)):
        slot = mixed(seed + place * 0x9E3779B97F4A7C15) % (place + 1)
        if slot < most:
            slots[slot] = records[place]
    return slots


def mixed(word: int) -> int:
    """Splitmix64's finaliser."""
    word %= _WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % _WORD
    return word ^ word >> 31
