"""A mechanism under audit: neighbours that strain it, replays of each, its noise, and what an attack on it measures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle
from math import prod
from typing import Any, cast

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.audits._evidence import (
    LEAST_P_VALUE,
    ONE_SIDE,
    bound_delta,
    bound_epsilon,
    bound_rho,
    lower_bound,
    p_value,
    uniforms_of,
)
from sparsedp.audits._findings import Finding
from sparsedp.audits._transcripts import Diverged, Draw, Loss, loss, played, recorded
from sparsedp.axes.domain import Domain, Quantity
from sparsedp.counts import Counts
from sparsedp.laws import DiscreteLaplaceLaw, IndependentLaw, LayersLaw
from sparsedp.mechanisms import name_and_settings
from sparsedp.mechanisms.base import Mechanism
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.marginals import Marginals
from sparsedp.synopsis import Synopsis

SPREADS = (1.0, 0.0, 1.0, 4.0, 30.0)
"""In turn: the true noise, none, and wider noise that leads to rare answers."""

ENOUGH_NOISE = 100_000
"""Draws that are held against their law; ten per cent less noise then shows for sure."""

FAR = 3
"""One in so many lists of answers is played to a table far off as well."""

OFTEN = 20
"""Runs in which a way of measuring must have come up to speak for one of the tables."""

CERTAIN = "exact"
CONFIDENT = f"{1 - 2 * ONE_SIDE:.3%}".rstrip("%").rstrip("0") + " %"


@dataclass(frozen=True)
class Case:
    """A mechanism, what is spent on which cells, and whom that protects."""

    mechanism: Mechanism
    budget: Budget
    cells: int | Domain
    contribution: int = 1
    neighbours: str = "add_remove"
    replays: int = 1500
    runs: int = 20_000

    @property
    def what(self) -> str:
        """For the table."""
        shape = str(self.cells) if isinstance(self.cells, int) else "×".join(map(str, self.cells.shape))
        more = "" if self.contribution == 1 else f", c = {self.contribution}"
        more += "" if self.neighbours == "add_remove" else ", replace one"
        return f"{name_and_settings(self.mechanism)}, {shape} cells{more}"

    @property
    def size(self) -> int:
        """How many cells."""
        return self.cells if isinstance(self.cells, int) else self.cells.size

    @property
    def unit(self) -> float:
        """About what the noise on one cell is, if all of the budget were spent on it."""
        distance = Neighbours(self.contribution, self.neighbours).distance
        rho = self.budget.rho_spent
        return distance / (float(self.budget.epsilon or 1) if rho is None else float(2 * rho) ** 0.5)

    def measure(self, cells: Ints, sampler: object = "sparsedp", source: RandomSource | None = None) -> Synopsis:
        """What is published of these cells."""
        domain = None if isinstance(self.cells, int) else self.cells
        return self.mechanism.measure(
            cells if domain is None else cells.reshape(domain.shape),
            epsilon=self.budget,
            domain=domain,
            contribution=self.contribution,
            neighbours=self.neighbours,
            sampler=cast(str, sampler),
            source=source,
        )


LARGEST, _ROOM = 7, 2**58
"""A value, and the most records that are summed: their sum fits 64 bits."""


@dataclass(frozen=True)
class SumsCase(Case):
    """Sums with the counts of the same records beside them: the cells are counts, and each record's value is 7."""

    @property
    def what(self) -> str:
        """For the table."""
        return f"{super().what}, sums and counts"

    def measure(self, cells: Ints, sampler: object = "sparsedp", source: RandomSource | None = None) -> Synopsis:
        """What is published of so many records."""
        domain = Domain.of_shape((self.cells,)) if isinstance(self.cells, int) else self.cells
        records = np.minimum(cells, _ROOM).reshape(domain.shape)
        counts = Counts(records, domain, self.contribution, ("who",), self.contribution)
        quantity = Quantity("value", Fraction(1), (Fraction(0), Fraction(LARGEST)))
        sums = replace(
            counts, values=LARGEST * records, contribution=LARGEST * self.contribution, quantity=quantity, counts=counts
        )
        return self.mechanism.measure(
            sums, epsilon=self.budget, neighbours=self.neighbours, sampler=cast(str, sampler), source=source
        )


def audit_mechanism(case: Case) -> list[Finding]:
    """Replays with their losses, the noise that was drawn, and an attack on the neighbours that are told apart best."""
    replayed = _Replays(case)
    replayed.run()
    return [*replayed.findings(), *_measured(case, replayed.worst_pair)]


class _Replays:
    """Many pairs of neighbours, many answers."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._diverged: list[str] = []
        self._done = 0
        self._most: Loss | None = None
        self._exceeded: list[Loss] = []
        self._uniforms: list[Floats] = []
        self._drawn = 0
        self._overstated: list[str] = []
        pairs = neighbouring_tables(case.size, case.unit, case.contribution, case.neighbours)
        self.worst_pair: tuple[Ints, Ints] = next(pairs)

    def run(self) -> None:
        """Replay them all."""
        case = self._case
        pairs = neighbouring_tables(case.size, case.unit, case.contribution, case.neighbours)
        chance = np.random.default_rng(1)
        for number, (pair, spread) in enumerate(zip(pairs, cycle(SPREADS), strict=False)):
            if number == case.replays:
                break
            found, draws = recorded(_run(case, pair[0]), spread, number)
            if spread == 1:
                self._keep(uniforms_of(draws, chance))
            if found.guarantee.spent.amount != case.budget.amount:
                self._overstated.append(found.guarantee.spent.amount)
            self._replay(found, draws, pair)
        most = 4 * case.replays
        while self._drawn < ENOUGH_NOISE and 0 < len(self._uniforms) < most:
            _, draws = recorded(_run(case, self.worst_pair[0]), 1.0, 0)
            self._keep(uniforms_of(draws, chance))

    def _keep(self, uniforms: Floats) -> None:
        if self._drawn < ENOUGH_NOISE:
            self._uniforms.append(uniforms)
            self._drawn += len(uniforms)

    def _replay(self, found: Synopsis, draws: list[Draw], pair: tuple[Ints, Ints]) -> None:
        self._done += 1
        try:
            again, other = played(_run(self._case, pair[1]), draws)
        except Diverged as error:
            self._diverged.append(str(error))
            return
        if again.digest != found.digest:
            self._diverged.append("what was published differs, though every noisy answer was the same")
            return
        self._replay_far(found, draws)
        lost = loss(draws, other)
        if self._exceeds(lost):
            self._exceeded.append(lost)
        if self._most is None or self._size(lost) > self._size(self._most):
            self._most, self.worst_pair = lost, pair

    def _replay_far(self, found: Synopsis, draws: list[Draw]) -> None:
        """The same answers to a table that has nothing to do with this one: the same is measured and published. What
        looks at an exact number decides alike for most neighbours, whose numbers hardly differ.
        """
        if self._done % FAR:
            return
        far = np.where(np.arange(self._case.size) % 7 < 3, int(100 * self._case.unit) + 1, 0).astype(np.int64)
        try:
            again, _ = played(_run(self._case, far), draws)
        except Diverged as error:
            self._diverged.append(str(error).replace("a neighbour's data", "other data"))
            return
        if again.digest != found.digest:
            self._diverged.append("what was published differs for other data, though every noisy answer was the same")

    def _exceeds(self, lost: Loss) -> bool:
        budget = self._case.budget
        if budget.rho_spent is not None:
            return lost.exceeds_rho(budget.rho_spent)
        return lost.exceeds_epsilon(budget.epsilon or Fraction(0))

    def _size(self, lost: Loss) -> float:
        return lost.epsilon if self._case.budget.rho_spent is None else lost.rho

    def findings(self) -> Iterator[Finding]:
        """One row each for control flow, loss and noise."""
        case = self._case
        rho = case.budget.rho_spent
        what = case.what, case.budget.amount
        fault = next((f"{text}." for text in self._diverged), None)
        if self._overstated:
            fault = f"It states {self._overstated[0]} where {case.budget.amount} was asked for."
        yield Finding(*what, "replay", self._done, "times", len(self._diverged), 0, CERTAIN, fault)
        allowed = float(rho if rho is not None else case.budget.epsilon or 0)
        most = 0.0 if self._most is None else self._size(self._most)
        fault = None
        if self._exceeded:
            most = max(map(self._size, self._exceeded))
            letter = "ε" if rho is None else "ρ"
            fault = f"{len(self._exceeded)} lists of answers cost more than {letter} = {allowed:.6g}: up to {most:.6g}."
        yield Finding(*what, "loss", self._done - len(self._diverged), "transcripts", most, allowed, CERTAIN, fault)
        uniforms = np.concatenate([np.empty(0), *self._uniforms])
        chance = p_value(uniforms)
        fault = None if chance >= LEAST_P_VALUE else "What was drawn does not have the law that was asked for."
        yield Finding(*what, "noise", len(uniforms), "draws", chance, LEAST_P_VALUE, f"p < {LEAST_P_VALUE:g}", fault)


def _run(case: Case, cells: Ints) -> Callable[[Any, RandomSource], Synopsis]:
    return lambda sampler, source: case.measure(cells, sampler, source)


# ---- neighbours


def neighbouring_tables(size: int, unit: float, contribution: int, relation: str) -> Iterator[tuple[Ints, Ints]]:
    """Without end: tables that strain mechanisms, each with one that a person more, or another person, makes of it.

    `unit`: about what the noise on a cell is. Cells stand out a little, much, or not at all; are empty, even, rough,
    crowded at an end; huge, or at the ends of what 64 bits hold.
    """
    chance = np.random.default_rng(size)
    heights = [1.0, 3.0, 8.0, 20.0, 60.0, 300.0]
    while True:
        for base in _bases(size, unit, heights, chance):
            for change in _changes(base, contribution, relation, chance):
                yield base, base + change
        heights = [float(10 ** chance.uniform(0, 2.5)) for _ in heights]


def _bases(size: int, unit: float, heights: list[float], chance: np.random.Generator) -> Iterator[Ints]:
    yield np.zeros(size, np.int64)
    for height in heights:
        high = np.int64(max(1, round(height * unit)))
        spike = np.zeros(size, np.int64)
        spike[int(chance.integers(size))] = high
        yield spike
        yield np.where(np.arange(size) % 16 == int(chance.integers(16)), high, 0).astype(np.int64)
        yield np.where(np.arange(size) < size // 2, high, 0).astype(np.int64)
        yield chance.poisson(float(high), size).astype(np.int64)
        yield chance.integers(0, 2, size) * high
    yield np.full(size, 7, np.int64)
    for huge in (2**31 - 1, 2**31, 2**52, 2**61):
        lone = np.zeros(size, np.int64)
        lone[int(chance.integers(size))] = huge
        yield lone
    yield np.full(size, 2**62, np.int64)


def _changes(base: Ints, contribution: int, relation: str, chance: np.random.Generator) -> Iterator[Ints]:
    """What one person adds; or takes away from one place and adds in another."""
    top = int(base.argmax())
    for place in {0, len(base) - 1, top, int(chance.integers(len(base)))}:
        change = np.zeros(len(base), np.int64)
        change[place] = contribution
        if relation != "add_remove":
            other = int(chance.choice([top, (place + 1) % len(base)]))
            if len(base) == 1 or other == place or base[other] < contribution:
                continue
            change[other] -= contribution
        yield change
    if contribution > 1 and relation == "add_remove":
        places = chance.integers(0, len(base), contribution)
        yield np.bincount(places, minlength=len(base)).astype(np.int64)


# ---- what an attack measures


def _measured(case: Case, pair: tuple[Ints, Ints]) -> Iterator[Finding]:
    """Real releases of both neighbours; the score is how much likelier the published numbers are for the second."""
    if not case.runs:
        return
    each = case.runs // 2
    seen = [[_seen(case.measure(cells), pair) for _ in range(each)] for cells in pair]
    ways: dict[str, list[int]] = {}
    for number, runs in enumerate(seen):
        for _, way in runs[0::2]:  # the half that chooses
            ways.setdefault(way, [0, 0])[number] += 1
    weight = {way: np.log((two + 1.0) / (one + 1.0)) for way, (one, two) in ways.items() if one + two >= OFTEN}
    first, second = (np.array([score + weight.get(way, 0.0) for score, way in runs]) for runs in seen)
    asked = case.budget
    what = case.what, case.budget.amount, "measured", case.runs
    if asked.delta:
        epsilon = asked.epsilon or Fraction(0)
        found, allowed, letter = lower_bound(first, second, bound_delta(epsilon)), float(asked.delta), "δ"
    elif asked.rho_spent is not None:
        found, allowed, letter = lower_bound(first, second, bound_rho), float(asked.rho_spent), "ρ"
    else:
        found, allowed, letter = lower_bound(first, second, bound_epsilon), float(asked.epsilon or 0), "ε"
    fault = None if found <= allowed else f"Runs prove {letter} ≥ {found:.4g}, where {allowed:.4g} is promised."
    yield Finding(*what, "runs", max(found, 0.0), allowed, CONFIDENT, fault)


def _seen(synopsis: Synopsis, pair: tuple[Ints, Ints]) -> tuple[float, str]:
    """From what is published alone: how much likelier for the second table, and in which way it was measured."""
    values, sensing = synopsis.values, synopsis.sensing
    residuals = [values - sensing.apply(np.ascontiguousarray(cells)) for cells in pair]
    score, start = 0.0, 0
    for law, size in _laws(synopsis):
        first, second = (each[start : start + size].astype(np.float64) for each in residuals)
        start += size
        if isinstance(law, DiscreteLaplaceLaw):
            score += float(np.abs(first).sum() - np.abs(second).sum()) / float(law.scale)
        else:
            score += float((first**2).sum() - (second**2).sum()) / float(2 * law.variance_parameter)
    return score, json.dumps(sensing.describe(), default=str, sort_keys=True)


def _laws(synopsis: Synopsis) -> Iterator[tuple[IndependentLaw, int]]:
    law, sensing = synopsis.law, synopsis.sensing
    if isinstance(law, LayersLaw) and isinstance(sensing, GroupSums):
        yield from zip(law.layers, map(len, sensing.starts), strict=True)
    elif isinstance(law, LayersLaw) and isinstance(sensing, Marginals):
        yield from zip(law.layers, map(prod, sensing.shapes), strict=True)
    else:
        yield cast(IndependentLaw, law), len(synopsis.values)
