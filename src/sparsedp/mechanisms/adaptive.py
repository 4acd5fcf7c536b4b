"""Adaptive: a private look at where the cells are flat, then noise where it buys most; the default mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import ClassVar

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Integers
from sparsedp.constraints import Constraints
from sparsedp.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.adaptive_layers import GAUSSIAN, LAPLACE, bundles, regular_layers
from sparsedp.mechanisms.adaptive_shares import ROWS, Shares, shares_for, without_a_look
from sparsedp.mechanisms.base import Mechanism
from sparsedp.mechanisms.calibrated_noise import CalibratedNoise
from sparsedp.mechanisms.partition.halving import chances, decay_for, halved
from sparsedp.mechanisms.partition.private_tree import flat_groups, singled
from sparsedp.mechanisms.partition.records import records
from sparsedp.mechanisms.partition.standing_out import hidden, standing_out
from sparsedp.mechanisms.terms import WHOLE, Terms
from sparsedp.noise.law import LayersLaw
from sparsedp.plan import Plan
from sparsedp.privacy.guarantee import Expense
from sparsedp.recovery.plan import RecoveryPlan
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.synopsis import Synopsis

Look = Callable[[Integers, float, Callable[[Integers], None]], float]
"""Takes the cells, the deviation of the noise that a whole budget puts on one, and what adds the look's own noise."""

Layers = list[tuple[int | list[int], Fraction]]
"""Groups (a block size, or their first cells) and the share of the budget that their sums get, finest first."""


@dataclass(frozen=True)
class Adaptive(Mechanism):
    """Layers of group sums, each with its own noise, fused and shrunk; which groups, a private look decides.

    `workload`: "cells" is best for single cells, "ranges" for sums over ranges and boxes, "any" for both at once.

    Guarantee: ε-differential privacy, ρ-zCDP or (ε, δ), as asked; the looks are part of it.
    Proof: `mechanisms/adaptive.md`.
    """

    workload: str = "any"

    name: ClassVar[str] = "adaptive"

    def __post_init__(self) -> None:
        validate.one_of("workload", self.workload, ROWS)

    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """Refused: what is measured is decided by looking at the whole table."""
        given = "adaptive, which decides what to measure by looking at the whole table"
        raise InvalidInput("mechanism", given, "call `measure`, or use Laplace or Compressive to measure parts apart")

    def _plan_in_advance(self, cells: int, terms: Terms, domain: Domain | None) -> None:
        """None: it takes a paid look. A budget is refused if the smallest share of it leaves no room in 64 bits."""
        _noise(terms, Fraction(1, 1000), "measure")
        chances()  # whatever could go wrong with it should do so before the debit

    def _measured(
        self,
        cells: Integers,
        plan: Plan | None,
        terms: Terms,
        domain: Domain | None,
        *,
        negative: bool,
        constraints: Constraints | None,
    ) -> Synopsis:
        """Look, then measure layers of sums, each with noise of its own."""
        table = ((cells.size,), (True,)) if domain is None else (domain.shape, domain.ordered)
        shares = shares_for(self.workload, *table)
        if constraints is not None and constraints.zeros is not None:
            # A group's sum is spread over all of its cells: where some are known to be zero it would lose a part.
            shares = without_a_look(shares)
        row = GroupSums(cells.size, [1], *table).in_a_row(cells)
        layers, looks = _chosen(row, shares, terms)
        sensing = GroupSums(cells.size, [groups for groups, _ in layers], *table)
        recovery = f"signed_{shares.recovery}" if negative else shares.recovery
        plan = Plan(
            self.name,
            sensing,
            RecoveryPlan(recovery),
            domain=domain,
            nonnegative=not negative,
            constraints=constraints,
        )
        return _with_noise(plan, sensing, row, [share for _, share in layers], looks, terms)


def _chosen(row: Integers, shares: Shares, terms: Terms) -> tuple[Layers, list[Expense]]:
    """What to measure, and what was paid for deciding it."""
    power = GAUSSIAN if terms.gaussian else LAPLACE
    unit = sqrt(_noise(terms, WHOLE, "measure").law.variance)
    looks: list[Expense] = []

    def look(measure: Look, purpose: str) -> float:
        noise = _noise(terms, shares.look, purpose)
        looks.append(noise.expense)
        return measure(row, unit, noise.add_to)

    def regular(shares: Shares) -> Layers:
        left = 1 - len(looks) * shares.look
        return [(size, share * left) for size, share in regular_layers(len(row), shares, power)]

    if not shares.look or look(standing_out, "see whether cells stand out") >= shares.stands_out_from(len(row)):
        return regular(shares), looks
    if shares.plenty and look(records, "see how many records there are") >= shares.are_plenty_from(len(row)):
        return regular(shares.when_calm()), looks
    starts, tree = _grown(row, hidden(unit), shares, terms)
    return _group_layers(starts, 1 - len(looks) * shares.look - shares.tree, power), [*looks, tree]


def _grown(row: Integers, slack: int, shares: Shares, terms: Terms) -> tuple[Integers, Expense]:
    """The first cells of flat groups, found with a share of the budget, and what that cost."""
    epsilon, expense = terms.pure(shares.tree, "find where the cells are flat")
    decay = decay_for(terms.neighbours.distance, epsilon)
    starts = flat_groups(row, slack, decay, partial(halved, decay=decay, source=terms.source), shares.singled)
    return singled(starts, len(row), shares.singled), expense


def _group_layers(starts: Integers, left: Fraction, power: int) -> Layers:
    """The chosen groups, and bundles of them if they are many."""
    together, alone = bundles(len(starts), power)
    layers: Layers = [(starts.tolist(), left * alone)]
    if together:
        layers.append((starts[::together].tolist(), left * (1 - alone)))
    return layers


def _with_noise(
    plan: Plan, sensing: GroupSums, row: Integers, shares: list[Fraction], looks: list[Expense], terms: Terms
) -> Synopsis:
    """Every layer's sums with noise of its own."""
    noises = [_noise(terms, share, "measure") for share in shares]
    values = []
    for layer, noise in enumerate(noises):
        sums = sensing.apply_layer(row, layer)
        noise.add_to(sums)
        values.append(sums)
    guarantee = terms.guarantee([*looks, *(noise.expense for noise in noises)])
    return Synopsis(np.concatenate(values), plan, LayersLaw(tuple(noise.law for noise in noises)), guarantee)


def _noise(terms: Terms, share: Fraction, purpose: str) -> CalibratedNoise:
    """Noise for numbers of which a person changes one by c, or several by c together: sums over groups of one layer."""
    distance = terms.neighbours.distance
    return terms.noise(distance, distance**2, share, purpose)
