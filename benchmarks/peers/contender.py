"""One way to make a release, ours or another library's, in a form that can be run beside the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Ints

Run = Callable[[], Floats]
Prepare = Callable[[Ints, str], Run]

CELLS = "a noisy count for every cell"
RECORDS = "from records: counted, noise added, none below 0"
PEOPLE = "from records: one kept a person, counted, noise added"
TREE = "sums of a binary tree, made consistent"
WIDE_TREE = "sums of a tree with 16 children a node, made consistent"
STREAM = "a stream: every tick is published as it comes"
WIDE = 16
KINDS = (CELLS, RECORDS, PEOPLE, TREE, WIDE_TREE, STREAM)
"""The releases that are compared; the first contender of a kind is ours, and the others are measured against it."""


@dataclass(frozen=True)
class Contender:
    """A release by one library."""

    library: str
    call: str
    kind: str
    guarantee: str
    """What one record more or less can change, for the ε that is asked for, and what that rests on."""
    prepare: Prepare
    """Takes counts and ε; does once what a user does once; what it returns is run again and again, and timed."""

    @property
    def name(self) -> str:
        """As a table shows it."""
        return f"{self.library}: {self.call}"


def records_of(counts: Ints) -> Floats:
    """A record in the middle of its cell, for each that is counted."""
    return np.repeat(np.arange(counts.size) + 0.5, counts)
