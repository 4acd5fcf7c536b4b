"""One guess, a shape and a total, and what the releases of it would be like: simulated at a few budgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, log, prod, sqrt
from typing import Any, Self

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.axes import Axis, Calendar, Categories, Integers, axis_from
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import Mechanism, name_and_settings
from sparsedp.mechanisms.terms import checked_terms
from sparsedp.noise.source import RandomSource, SeededSource
from sparsedp.previews._made_up import ASKED, DRAWS_IN_A_RUN, Questions, made_up_counts, made_up_shares
from sparsedp.previews._questions import Answers, Question
from sparsedp.privacy.budget import Budget
from sparsedp.progress import advance, part

_RUNS_IN_CELLS = 2**14
_FEWEST_RUNS, _MOST_RUNS = 2, 8


@dataclass(frozen=True, eq=False)
class Guess:
    """A total, and a shape: a name, or the shares that the caller guessed."""

    shape: str
    total: int
    shares: Floats | None = None

    def counts(self, domain: Domain, cells: int, draw: int) -> Ints:
        """Made-up counts for a domain that stands in for one of `cells` cells: as many to a cell."""
        shares = made_up_shares(self.shape, domain, draw) if self.shares is None else self.shares
        return made_up_counts(shares, max(1, self.total * domain.size // cells), draw)


@dataclass(frozen=True, eq=False)
class Scenario:
    """The errors of a cell, a box and the total, by the budget's factor; and one made-up table with its release.

    `runs`: how many releases each of them is from. `asked`: the errors of one entry of each of the marginals, likewise.
    `domain` is the table's own, or that of the smaller one that stands in for it.
    """

    guess: Guess
    errors: dict[Fraction, Floats]
    asked: dict[Fraction, Floats]
    runs: dict[Fraction, int]
    stands_out: float | None
    domain: Domain
    counts: Ints
    values: Floats

    def error_of(self, question: int, factor: Fraction) -> float:
        """Of one entry of a question, by its place among all: the total, the marginals, the cells."""
        marginal = self.asked[factor]
        if 0 < question <= len(marginal):
            return float(marginal[question - 1])
        return float(self.errors[factor][ASKED.index("cell" if question else "total")])

    def power_law(self, place: int) -> PowerLaw | None:
        """How the error of one question falls with the budget."""
        return _law(self.errors, self.runs, place, self.domain.size)


def simulate(
    guess: Guess, domain: Domain, setting: Setting, questions: Sequence[Question], *, runs: int | None, seed: int
) -> Scenario:
    """Run the real mechanism on made-up counts; fewer times at the budgets that were not asked for."""
    tables = [domain] if guess.shares is not None else stand_ins(domain)
    source = SeededSource(seed)
    found: dict[Fraction, list[Floats]] = {}
    factors = (ASKED_FOR, *(other for other in _FACTORS if other != ASKED_FOR))
    for place, factor in enumerate(factors, start=1):
        try:
            with part(place / len(factors)):
                found[factor] = [
                    errors_of(guess, table, domain.size, setting, questions, factor, runs, source) for table in tables
                ]
        except InvalidInput:
            if factor >= ASKED_FOR:
                raise  # half of a budget that is barely enough is not, and may be left out; the rest is the caller's
    every = dict(sorted(_extended(found, [table.size for table in tables], domain.size).items()))
    errors, asked = ({factor: each[half] for factor, each in every.items()} for half in (_USUAL, _MARGINALS))
    made = {factor: _runs_for(tables[-1].size, runs, factor) for factor in errors}
    _even_out(errors, made, tables[-1].size)
    counts = guess.counts(tables[-1], domain.size, 0)
    stands_out = _least_that_stands_out(setting, tables[-1], counts, float(found[ASKED_FOR][-1][0]), source)
    values = setting.publish(counts, tables[-1], source, ASKED_FOR)
    if domain not in tables and domain.size <= AS_A_WHOLE:
        whole = errors_of(guess, domain, domain.size, setting, questions, ASKED_FOR, 1, source)
        asked = _set_right(asked, whole[_MARGINALS])
        errors = _set_right(errors, np.where(np.arange(len(ASKED)) < ASKED.index("total"), whole[_USUAL], np.nan))
    return Scenario(guess, errors, asked, made, stands_out, tables[-1], counts, values)


def _runs_for(cells: int, runs: int | None, factor: Fraction) -> int:
    """As many as take seconds, unless the caller says how many."""
    full = min(_MOST_RUNS, max(_FEWEST_RUNS, _RUNS_IN_CELLS // cells)) if runs is None else runs
    return full if factor == ASKED_FOR else max(1, (full + 1) // 2)


def _law(errors: dict[Fraction, Floats], runs: dict[Fraction, int], place: int, cells: int) -> PowerLaw | None:
    draws = min(cells, DRAWS_IN_A_RUN[place])
    return PowerLaw.through(
        (float(factor), float(error[place]), runs[factor] * draws) for factor, error in errors.items()
    )


def _even_out(errors: dict[Fraction, Floats], runs: dict[Fraction, int], cells: int) -> None:
    """A release shows one error of its total, so a few runs scatter: together, at all budgets, they scatter less."""
    place = ASKED.index("total")
    law = _law(errors, runs, place, cells)
    for factor, error in errors.items():
        error[place] = law.at(float(factor)) if law is not None and error[place] > 0 else 0.0


def errors_of(
    guess: Guess,
    table: Domain,
    cells: int,
    setting: Setting,
    questions: Sequence[Question],
    factor: Fraction,
    runs: int | None,
    source: SeededSource,
) -> Floats:
    """The root mean square errors over all runs, of what is always asked and of the marginals; every run has a table
    of its own, which stands in for one of so many `cells`."""
    usual, answers = Questions(table), Answers(table, questions)
    squares = []
    draws = _runs_for(table.size, runs, factor)
    for draw in range(draws):
        advance(draw / draws)
        counts = guess.counts(table, cells, draw)
        values = setting.publish(counts, table, source, factor)
        squares.append(np.concatenate([usual.squared_errors(counts, values), answers.squared_errors(values - counts)]))
    return np.asarray(np.sqrt(np.mean(squares, axis=0)), dtype=np.float64)


_USUAL, _MARGINALS = slice(len(ASKED)), slice(len(ASKED), None)
"""Where they stand."""


# The budgets at which a preview simulates, as factors of the one that was asked for.

ASKED_FOR = Fraction(1)
_LESS = Fraction(1, 2)
_MORE = (Fraction(2), Fraction(4))
_FACTORS = (_LESS, ASKED_FOR, *_MORE)


# How a previewed release would be made: the mechanism, the budget, who is protected; and the making of it.


@dataclass(frozen=True)
class Setting:
    """What `sparsedp.release` would be given besides the counts."""

    mechanism: Mechanism
    budget: Budget
    contribution: int
    neighbours: str

    @property
    def made_by(self) -> str:
        """The mechanism in words, with its workload or other settings."""
        return name_and_settings(self.mechanism)

    def budget_at(self, factor: Fraction) -> Budget:
        """The budget under which plain noise is `factor` times narrower: ε grows with the factor, ρ with its square."""
        if self.budget.rho is not None:
            return Budget(rho=self.budget.rho * factor**2)
        assert self.budget.epsilon is not None  # noqa: S101  # a budget has one of the two
        return Budget(epsilon=self.budget.epsilon * factor, delta=self.budget.delta)

    def publish(self, counts: Ints, domain: Domain, source: RandomSource, factor: Fraction) -> Floats:
        """What the real mechanism makes of made-up counts. The noise is repeatable: there is nobody to protect."""
        release = self.mechanism.release(
            counts,
            epsilon=self.budget_at(factor),
            domain=domain,
            contribution=self.contribution,
            neighbours=self.neighbours,
            source=source,
        )
        return release.values

    def plain_noise(self, factor: Fraction) -> float:
        """The standard deviation of noise put directly on a cell: the error of `Laplace`, exactly."""
        terms = checked_terms(
            self.budget_at(factor), None, None, self.contribution, self.neighbours, None, "sparsedp", None
        )
        distance = terms.neighbours.distance
        return sqrt(terms.noise(distance, distance**2).law.variance)


# How an error falls as the budget grows: a power law through the errors simulated at a few budgets.

_PLAIN_SLOPE, _SLOPE_SPREAD = 1.0, 0.3
"""Plain noise is inverse to the budget's factor, and most errors fall nearly so."""


@dataclass(frozen=True)
class PowerLaw:
    """An error of `level · factor^(−slope)`."""

    level: float
    slope: float

    @classmethod
    def through(cls, points: Iterable[tuple[float, float, float]]) -> Self | None:
        """The law through (factor, error, independent draws behind it); None if there are no errors to speak of.

        A straight line in double logarithms, each point weighing as much as its draws: the logarithm of a root mean
        square of k of them has a variance of about 1/(2k). A few draws say little of a slope, so the line leans
        towards the slope of plain noise; many overrule it. The level is a root mean square, not a mean of logarithms,
        which would be too low for few draws.
        """
        known = [point for point in points if point[1] > 0]
        if not known:
            return None
        factor, error, draws = np.array(known).T
        x, y, weight = np.log(factor), np.log(error), 2 * draws
        lean, aside = 1 / _SLOPE_SPREAD**2, x - np.average(x, weights=weight)
        slope = float((_PLAIN_SLOPE * lean - weight @ (aside * y)) / (lean + weight @ aside**2))
        return cls(sqrt(np.average((error * factor**slope) ** 2, weights=draws)), slope)

    def at(self, factor: float) -> float:
        """The error at a budget."""
        return float(self.level * factor**-self.slope)

    @property
    def halving_factor(self) -> float:
        """How much more budget halves the error."""
        return float(2 ** (1 / self.slope)) if self.slope > 0.01 else inf


# Tables too large to simulate many times: two smaller ones of the same form are, and their errors extended.

AS_THEY_ARE = 2**16
"""Tables of up to so many cells are simulated as they are."""
STAND_INS = (2**10, 2**15)
"""The sizes that stand in for a larger table: far enough apart to see how the error grows."""
AS_A_WHOLE = 2**19
"""Tables of up to so many cells are simulated themselves, too, but once and at one budget."""
_LEAST_GROWTH, _MOST_GROWTH = np.array([-0.5, 0.0, 0.0]), np.array([0.5, 1.0, 1.0])
"""Exponents of the number of cells, for a cell, a box and the total; plain noise has 0, ½ and ½. A marginal is sums of
many cells, as a box is."""


def stand_ins(domain: Domain) -> list[Domain]:
    """The domain itself, or two smaller ones with the same axes, the longest of them shortened."""
    return [domain] if domain.size <= AS_THEY_ARE else [_shortened(domain, size) for size in STAND_INS]


def _shortened(domain: Domain, size: int) -> Domain:
    lengths = list(domain.shape)
    while prod(lengths) > size:
        longest = lengths.index(max(lengths))
        lengths[longest] = -(-lengths[longest] // 2)
    return Domain(_axis(axis, length) for axis, length in zip(domain.axes, lengths, strict=True))


def _axis(axis: Axis, length: int) -> Axis:
    """The axis with fewer cells, and with its groups where what is left of them has a meaning."""
    if length == axis.length:
        return axis
    if isinstance(axis, Calendar):
        return axis_from({**axis.describe(), "length": length})
    if axis.coarsenings:
        return _in_groups(axis, length)
    if axis.ordered:
        return Integers(axis.name, 0, length - 1)
    return Categories(axis.name, range(length))


def _in_groups(axis: Axis, length: int) -> Axis:
    """Some cells of an axis, evenly chosen, in their declared groups."""
    groups: dict[str, Any] = {}
    for cell in np.linspace(0, axis.length - 1, length).round().astype(int).tolist():
        *outer, innermost = (f"group {coarsening.group_of[cell]}" for coarsening in axis.coarsenings.values())
        around = groups
        for group in outer:
            around = around.setdefault(group, {})
        around.setdefault(innermost, []).append(str(cell))
    return Categories(axis.name, groups, list(axis.coarsenings), ordered=axis.ordered)


def _extended(errors: dict[Fraction, list[Floats]], sizes: list[int], cells: int) -> dict[Fraction, Floats]:
    """The errors at `cells` cells for every budget, on the power law through those at the two smaller sizes.

    The mean count of a cell is the same at all sizes, and so is the form: a hump or a block is as large a part of the
    table. The exponents are the same for all budgets, for single ones scatter, and within what any mechanism does.
    """
    if len(sizes) == 1:
        return {factor: alone for factor, (alone,) in errors.items()}
    pairs = [np.where(small * large > 0, (small, large), 1.0) for small, large in errors.values()]
    logs = np.mean([np.log(large / small) for small, large in pairs], axis=0)
    marginals = len(logs) - len(ASKED)
    least, most = (np.append(usual, [usual[ASKED.index("box")]] * marginals) for usual in (_LEAST_GROWTH, _MOST_GROWTH))
    growth = np.clip(logs / log(sizes[1] / sizes[0]), least, most)
    growth[np.isnan([small for small, _ in errors.values()]).any(axis=0)] = np.nan  # groups that only one of them has
    return {factor: large * (cells / sizes[1]) ** growth for factor, (_, large) in errors.items()}


def _set_right(errors: dict[Fraction, Floats], known: Floats) -> dict[Fraction, Floats]:
    """Errors by the budget, given those at the one asked for where they are known: the others are as much larger.

    Where only those are known, the others are as those of plain noise.
    """
    at = errors[ASKED_FOR]
    measured = np.isfinite(known) & (known > 0)
    by_ratio = measured & np.isfinite(at) & (at > 0)
    ratio = np.divide(known, at, out=np.ones_like(known), where=by_ratio)
    return {
        factor: np.where(measured & ~by_ratio, known / float(factor), error * ratio) for factor, error in errors.items()
    }


# From which height on a single cell stands out in a release: lone cells are planted and looked for.

_ERRORS = 3
"""So many standard errors make a difference that is not chance."""
_LOOKS = 6
"""Lone cells looked at, for one height."""
_SPREAD = 100
"""At most one in so many cells is planted: more would no longer be lone."""
_HEIGHTS = tuple(_ERRORS * 2 ** (quarter / 4) for quarter in range(-4, 13))
"""Tried heights in units of the plain noise: quarter octaves from one and a half deviations to 24."""


def _least_that_stands_out(
    setting: Setting, domain: Domain, counts: Ints, cell_error: float, source: RandomSource
) -> float | None:
    """The least height that a cell must have over what is expected there to be seen more often than not.

    Seen: published at least three standard errors, and at least half of its height, above what was there without it.
    None if even the greatest height tried is not seen: the mechanism takes lone cells for noise.
    """
    noise = setting.plain_noise(ASKED_FOR)
    heights = sorted({ceil(noise * height) or 1 for height in _HEIGHTS})
    least, most = 0, len(heights)
    while least < most:
        middle = (least + most) // 2
        if _seen(heights[middle], setting, domain, counts, cell_error, source):
            most = middle
        else:
            least = middle + 1
    return None if least == len(heights) else float(heights[least])


def _seen(height: int, setting: Setting, domain: Domain, counts: Ints, cell_error: float, source: RandomSource) -> bool:
    generator = np.random.default_rng(height)
    planted = min(_LOOKS, max(1, counts.size // _SPREAD))
    needed = max(_ERRORS * cell_error, height / 2)
    found = looked = 0
    while looked < _LOOKS:
        places = generator.choice(counts.size, planted, replace=False)
        changed = counts.reshape(-1).copy()
        changed[places] += height
        values = setting.publish(changed.reshape(counts.shape), domain, source, ASKED_FOR).reshape(-1)
        found += int(np.sum(values[places] - counts.reshape(-1)[places] >= needed))
        looked += planted
    return 2 * found >= looked
