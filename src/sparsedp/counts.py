"""Counts of records in a domain, with the bound on what one person adds to them. PRIVATE: not yet noise-protected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sparsedp.arrays import Ints
from sparsedp.axes.domain import RECORDS, Domain, Quantity
from sparsedp.errors import PrivateSide


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """What `sparsedp.count` made of records: one integer for each cell, and the bound that was enforced.

    `contribution` is the most that all records of one person add to these integers, in L1: enforced while they were
    counted. They are as private as the records, so this cannot be printed, pickled or saved; publish it with
    `sparsedp.release(counts, epsilon=…)`.
    """

    values: Ints
    domain: Domain
    contribution: int
    privacy_unit: tuple[str, ...] | None
    """The columns that say whose a record is; None where every record was declared another person's."""
    max_contributions: int
    quantity: Quantity = RECORDS
    negative: bool = False
    multiline: bool = False
    """Whether fields of several lines were declared: a stray quote may have dropped records beyond the bound."""
    counts: Counts | None = None
    """Of sums: how many records they are sums of, the very same; None if that was not asked for."""
    people: Ints | None = None
    """How many people have how many records, in the bins of `releases/cut.py`; None where each record is a person's."""
    chosen: bool = False
    """Whether `max_contributions` is chosen by a private look at these numbers of people, or was."""
    sizes: Ints | None = None
    """Of sums whose bounds are yet to be chosen: how many of the records have values of each size."""

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def __repr__(self) -> str:
        return f"Counts({self.domain}; private: publish them with sparsedp.release(counts, epsilon=…))"

    def _refuse(self, *_: object) -> NoReturn:
        raise PrivateSide("Counts are as private as the records and cannot be pickled or copied; publish them instead.")

    __copy__ = __deepcopy__ = __reduce__ = _refuse
    __reduce_ex__ = _refuse
