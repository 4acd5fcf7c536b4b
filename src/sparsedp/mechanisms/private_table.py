"""What a mechanism is given to publish, checked: the cells in a row, what they are, and their bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Integers
from sparsedp.axes.domain import RECORDS, Declared, Domain, Quantity
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.privacy.neighbours import Counted


@dataclass(frozen=True, eq=False, repr=False)
class PrivateTable:
    """Private cells, row by row. `contribution` bounds what one person adds; `counted` says how that was enforced."""

    cells: Integers
    domain: Domain | None
    contribution: int
    negative: bool
    quantity: Quantity = RECORDS
    counted: Counted | None = None


def private_table(
    counts: npt.ArrayLike | Counts, declared: Declared | None, contribution: int | None, *, negative: bool
) -> PrivateTable:
    """The table that was given, or what is wrong with it; nothing is spent yet.

    Counts of records bring their domain and their bound; of ready-made counts the bound is the caller's promise, 1 if
    nothing is said. A table that names no domain gets plain axes, a vector none.
    """
    validate.yes_or_no("negative", negative)
    domain = None if declared is None else Domain.of(declared)
    if isinstance(counts, Counts):
        return _of_records(counts, domain, contribution, negative=negative)
    array = validate.counts_array("counts", counts, negative=negative, shape=None if domain is None else domain.shape)
    if domain is None and array.ndim > 1:
        domain = Domain.of_shape(array.shape)
    return PrivateTable(array.reshape(-1), domain, 1 if contribution is None else contribution, negative)


def _of_records(counts: Counts, domain: Domain | None, contribution: int | None, *, negative: bool) -> PrivateTable:
    if domain is not None and domain != counts.domain:
        raise InvalidInput("domain", "another one than the records were counted in", "leave it out")
    if contribution is not None and contribution != counts.contribution:
        given = f"{contribution}, and the records were counted with a bound of {counts.contribution}"
        raise InvalidInput("contribution", given, "leave it out: the bound is enforced")
    counted = Counted(counts.privacy_unit, counts.max_contributions, counts.quantity.resolution, counts.multiline)
    cells = counts.values.reshape(-1)
    return PrivateTable(
        cells, counts.domain, counts.contribution, negative or counts.negative, counts.quantity, counted
    )


def public_knowledge(
    constraints: Constraints | None, cells: int, domain: Domain | None, quantity: Quantity, *, negative: bool
) -> bool:
    """Check constraints against what a table will be, before anything is spent; whether they fix sums of the data."""
    if constraints is None:
        return False
    if not isinstance(constraints, Constraints):
        raise InvalidInput("constraints", f"of type {type(constraints).__name__}", "give a sparsedp.Constraints")
    if negative:
        raise InvalidInput("negative", "True beside constraints", "leave it out: constrained cells are non-negative")
    if quantity != RECORDS:
        raise InvalidInput("constraints", "given for the sums of a value", "give them for counts of records")
    checked = constraints.checked(*((cells,), None) if domain is None else (domain.shape, domain.names))
    if domain is not None and not all(domain.ordered[axis] for axis in checked.monotone):
        raise InvalidInput("monotone", "along an axis of categories", "they have no order; give an ordered axis")
    if any(margin.totals.size == cells for margin in checked.margins):
        raise InvalidInput("constraints", "with a public total for every cell", "leave out what is to be protected")
    return constraints.is_invariant
