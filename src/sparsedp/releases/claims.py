"""Whether what a file promises follows from the noise that it describes: exact arithmetic, on opening.

A digest tells damage from what was written, and nothing of whether that is true. But a file says twice how private it
is: in its promise (the budget, the neighbours), and in the law of its noise beside the matrix Φ that was measured. The
second gives a least cost, and a promise of less is a contradiction, whoever computed the digest.

Proof sketch. Let neighbours differ by at most d in L1 (`Neighbours.distance`), and let one unit in one cell move the
measured numbers by the column φⱼ.

- Laplace noise of scale s on Φ D: the chances of an outcome differ by the factor e^(Δ₁/s) at most, Δ₁ = d·maxⱼ‖φⱼ‖₁,
  and for some outcome they do (`noise/discrete_laplace.md`). So the release is ε-private for ε = Δ₁/s and for no less.
- Gaussian noise of σ²: ρ = Δ₂²/(2σ²), Δ₂ = d·maxⱼ‖φⱼ‖₂, likewise (`noise/discrete_gaussian.md`).
- Layers of sums, each with noise of its own: every cell is in one group of each layer, so layer i costs d/sᵢ or
  d²/(2σᵢ²), and the costs add up (`mechanisms/adaptive.md`).
- A continual counter with L levels: one unit is made up for by 1 + L noises in each counter that it enters with ±1, so
  ε = d·k·(1 + L)/s for k counters that all see it (`streams/counter.md`, `streams/compressive.md`: also for the paper's
  calibration, whose promise is therefore k times the ε that was asked for). L must be enough for the ticks there are.
- Ticks beside running totals: the sum of both costs (`streams/adaptive.md`).

What was spent on looks leaves no trace in the noise: it is on top. Where the groups that were measured could only be
found by a look, one must have been paid for. That a look was never mentioned and left no trace cannot be seen.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from sparsedp.axes.domain import RECORDS, Domain, Quantity
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.parquet_claims import Claim
from sparsedp.laws import (
    ContinualCounterLaw,
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    LayersLaw,
    NoiseLaw,
    TicksAndTotalsLaw,
)
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.privacy.neighbours import RELATIONS
from sparsedp.releases.cut import Cut
from sparsedp.sensing import sensing_from
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.marginals import Marginals
from sparsedp.sensing.running_totals import RunningTotals, TicksAndTotals

_MEASURE = "measure"
"""What an expense is called that pays for noise; of streams, all of them do."""

_HONEST = "whoever wrote it promises more than was done"


def check_promise(guarantee: Guarantee, law: NoiseLaw, sensing: Sensing | None, quantity: Quantity = RECORDS) -> None:
    """Refuse a promise of less than the noise costs, or of something else than it can be for.

    `sensing`: None where a file does not say what was measured: every cell was, at least once.
    """
    neighbours = guarantee.neighbours
    needed = least_cost(law, sensing, neighbours.distance)
    paid = _paid_for_noise(guarantee)
    kinds = {each.rho is None for each in paid} | {needed.rho is None}
    if len(kinds) > 1:
        raise _contradiction(f"{guarantee.total.amount}, and the noise is that of another kind of budget")
    if not _sum(paid).covers(needed):
        raise _contradiction(f"{_sum(paid).amount}, and the noise costs {needed.amount}")
    if guarantee.intrusions == "any" and not isinstance(law, DiscreteLaplaceLaw):
        raise _contradiction("to hold beside any number of intrusions, which the noise of a counter does not")
    if isinstance(sensing, GroupSums) and _was_looked_for(sensing) and len(paid) == len(guarantee.expenses):
        raise _contradiction("without what the look cost by which groups were found")
    counted = neighbours.counted
    if counted is not None and counted.resolution != quantity.resolution:
        raise _contradiction("for steps of another size than were counted")
    if counted is None:
        return
    adds = 1 if quantity == RECORDS else 0 if quantity.clamp is None else max(map(abs, quantity.clamp))
    least = counted.records * adds / quantity.resolution
    if neighbours.contribution < least:
        raise _contradiction(f"for a contribution of {neighbours.contribution} where it can be {least}")


class _Published(Protocol):
    """A release or a synopsis, as far as its counts beside sums must agree with it."""

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def quantity(self) -> Quantity: ...

    @property
    def domain(self) -> Domain | None: ...


def check_counts(sums: _Published, counts: _Published | None) -> None:
    """Refuse counts beside sums that are not what the promise of the sums says of them."""
    if sums.guarantee.counts != (None if counts is None else counts.guarantee):
        raise _contradiction("with other counts beside the sums than there are")
    if counts is None:
        return
    if sums.quantity == RECORDS or counts.quantity != RECORDS or counts.domain != sums.domain:
        raise _contradiction("for counts of the records that are summed, and they are of something else")


def check_look(guarantee: Guarantee, cut: Cut | None) -> None:
    """Refuse a look at how many records people have that costs more than was paid for it, or is of another bound.

    One person is in one bin, or leaves one and comes into another: as far apart as tables of such people are
    (`ingest/contributions.md`).
    """
    neighbours, counted = guarantee.neighbours, guarantee.neighbours.counted
    counts = () if guarantee.counts is None else guarantee.counts.expenses
    paid = [expense.budget for expense in (*guarantee.expenses, *counts) if expense.purpose != _MEASURE]
    if counted is not None and counted.chosen and not paid:
        raise _contradiction("for a bound that a look chose, and without what that cost")
    if cut is None:
        return
    if counted is None or counted.unit is None or (counted.records, counted.chosen) != (cut.bound, cut.chosen):
        raise _contradiction(f"for another bound than the {cut.bound} records a person whose cut it tells")
    changes = RELATIONS[neighbours.relation]
    if isinstance(cut.law, DiscreteGaussianLaw):
        needed = Budget(rho=Fraction(changes) / (2 * cut.law.variance_parameter))
    else:
        needed = Budget(epsilon=Fraction(changes) / cut.law.scale)
    if not paid or not _sum(paid).covers(needed):
        raise _contradiction(f"without the {needed.amount} that its look at the numbers of records cost")


def least_cost(law: NoiseLaw, sensing: Sensing | None, distance: int) -> Budget:
    """The least that this noise on these sums is private with, between tables so far apart."""
    _check_shapes(law, sensing)
    if isinstance(law, LayersLaw):
        return _sum([least_cost(each, None, distance) for each in law.layers])
    if isinstance(law, TicksAndTotalsLaw):
        return _sum([least_cost(law.ticks, None, distance), least_cost(law.totals, None, distance)])
    if isinstance(law, DiscreteGaussianLaw):
        squared = distance**2 if sensing is None else sensing.l2_sensitivity_squared(distance)
        return Budget(rho=Fraction(squared) / (2 * law.variance_parameter))
    terms = 1 + law.levels if isinstance(law, ContinualCounterLaw) else 1
    # A running total is the counter's own doing: what enters it is the tick.
    measured = distance if sensing is None or isinstance(sensing, RunningTotals) else sensing.l1_sensitivity(distance)
    return Budget(epsilon=Fraction(measured * terms) / law.scale)


def _check_shapes(law: NoiseLaw, sensing: Sensing | None) -> None:
    """Noise of a kind that what was measured has."""
    if sensing is None:
        return
    layers = sensing.max_column_l1 if isinstance(sensing, GroupSums | Marginals) else 0
    layered = isinstance(law, LayersLaw) and len(law.layers) == layers
    fits = {LayersLaw: layered, TicksAndTotalsLaw: isinstance(sensing, TicksAndTotals)}
    if not fits.get(type(law), not isinstance(sensing, GroupSums | Marginals | TicksAndTotals)):
        raise _contradiction("for noise of another kind than the sums have")
    if isinstance(sensing, RunningTotals) and not isinstance(law, ContinualCounterLaw):
        raise _contradiction("for running totals without the noise of a counter")
    counter = law.totals if isinstance(law, TicksAndTotalsLaw) else law
    if isinstance(counter, ContinualCounterLaw) and counter.levels < _levels(sensing):
        raise _contradiction(f"for a counter of {counter.levels} levels, too few for its ticks")


def _levels(sensing: Sensing) -> int:
    """The fewest levels that a counter has that published so many sums; of sums at one moment it is not known."""
    if isinstance(sensing, TicksAndTotals):
        return max((max(sensing.totals, 1) - 1).bit_length(), int(sensing.every > 1))
    return 0 if sensing.name == "direct" else (sensing.n - 1).bit_length()


def _was_looked_for(sensing: GroupSums) -> bool:
    """Whether the groups of a row took a look to find: they are not blocks. (Of a table, sums that were measured say
    what to measure next. In which words a look was paid for, and in how many, differs between versions.)
    """
    irregular = any(isinstance(groups, np.ndarray) and len(groups) > 1 for groups in sensing.groups)
    return irregular and not sensing.is_table


def _paid_for_noise(guarantee: Guarantee) -> list[Budget]:
    measuring = [expense.budget for expense in guarantee.expenses if expense.purpose == _MEASURE]
    everything = [expense.budget for expense in guarantee.expenses]
    return measuring if measuring and guarantee.neighbours.unit is None else everything


def _sum(parts: list[Budget]) -> Budget:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _contradiction(stated: str) -> InvalidInput:
    return InvalidInput("promise", f"stated as {stated}", _HONEST)


# How large a file of a release or a synopsis says it is, and what that takes: before anything of it is decoded.

_RECOVERED_BYTES, _FITTED_BYTES = 32, 96
"""A cell, while it is recovered: its estimate, its error, and as much again to work with. The second: where a model is
fitted to marginals, which takes some tables more; the largest that `Adaptive` measures so still opens as usual.
"""

UNUSABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError, ArithmeticError, RecursionError, MemoryError)
"""What comes of building something from a description that this library did not write."""


def release_needs(claim: Claim, shown: str) -> int:
    """Refuse a release with other rows than it describes cells; it takes nothing beyond its columns."""
    described = _described_cells(claim.document)
    if described is not None and described != claim.rows:
        raise BadFile(f"{shown} has not as many rows as it describes cells; it was changed or not written by sparsedp.")
    return 0


def synopsis_needs(claim: Claim, shown: str) -> int:
    """Refuse a synopsis of other rows than its plan has; bytes that its cells take once it is recovered."""
    try:
        sensing = sensing_from(claim.document["sensing"])
    except (*UNUSABLE, BadFile) as error:
        reason = str(error) if isinstance(error, BadFile | InvalidInput) else "it does not say what was measured."
        raise BadFile(f"{shown} is a sparsedp synopsis that cannot be used: {reason}") from None
    _check_rows(claim, sensing, shown)
    return _recovered(sensing)


def embedded_needs(claim: Claim, shown: str) -> int:
    """The same of a synopsis within a release; one of a later version, perhaps, is kept, and not used."""
    try:
        sensing = sensing_from(claim.document["sensing"])
    except (*UNUSABLE, BadFile):
        return 0
    _check_rows(claim, sensing, shown)
    return _recovered(sensing)


def _recovered(sensing: Sensing) -> int:
    return sensing.n * (_FITTED_BYTES if isinstance(sensing, Marginals) else _RECOVERED_BYTES)


def _check_rows(claim: Claim, sensing: Sensing, shown: str) -> None:
    if claim.rows != sensing.rows or claim.columns != ("value",):
        found = f"{claim.rows:,} rows, and its plan has {sensing.rows:,}"
        raise BadFile(f"{shown} has {found}; it was changed or not written by this library.")


def _described_cells(document: dict[str, Any]) -> int | None:
    """How many cells the domain has, or the plan of a plain vector; None where that is not to be made out."""
    try:
        if "domain" in document:
            return Domain.from_description(document["domain"]).size
        return int(document["plan"]["sensing"]["n"]) if document.get("plan") is not None else None
    except UNUSABLE:
        return None
