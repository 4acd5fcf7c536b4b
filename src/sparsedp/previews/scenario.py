"""One guess, a shape and a total, and what the releases of it would be like: simulated at a few budgets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.noise.source import SeededSource
from sparsedp.previews.factors import ASKED_FOR, FACTORS
from sparsedp.previews.larger_tables import extended, stand_ins
from sparsedp.previews.lone_cells import least_that_stands_out
from sparsedp.previews.power_law import PowerLaw
from sparsedp.previews.questions import ASKED, DRAWS_IN_A_RUN, Questions
from sparsedp.previews.setting import Setting
from sparsedp.previews.shapes import made_up_counts, made_up_shares
from sparsedp.progress import advance, part

RUNS_IN_CELLS = 2**15
FEWEST_RUNS, MOST_RUNS = 5, 8


@dataclass(frozen=True, eq=False)
class Guess:
    """A total, and a shape: a name, or the shares that the caller guessed."""

    shape: str
    total: int
    shares: Floats | None = None

    def counts(self, domain: Domain, cells: int, draw: int) -> Integers:
        """Made-up counts for a domain that stands in for one of `cells` cells: as many to a cell."""
        shares = made_up_shares(self.shape, domain, draw) if self.shares is None else self.shares
        return made_up_counts(shares, max(1, self.total * domain.size // cells), draw)


@dataclass(frozen=True, eq=False)
class Scenario:
    """The errors of a cell, a box and the total, by the budget's factor; and one made-up table with its release.

    `runs`: how many releases each of them is from.
    `domain` is the table's own, or that of the smaller one that stands in for it.
    """

    guess: Guess
    errors: dict[Fraction, Floats]
    runs: dict[Fraction, int]
    stands_out: float | None
    domain: Domain
    counts: Integers
    values: Floats

    def power_law(self, place: int) -> PowerLaw | None:
        """How the error of one question falls with the budget."""
        return _law(self.errors, self.runs, place, self.domain.size)


def simulate(guess: Guess, domain: Domain, setting: Setting, *, runs: int | None, seed: int) -> Scenario:
    """Run the real mechanism on made-up counts; fewer times at the budgets that were not asked for."""
    tables = [domain] if guess.shares is not None else stand_ins(domain)
    source = SeededSource(seed)
    found: dict[Fraction, list[Floats]] = {}
    factors = (ASKED_FOR, *(other for other in FACTORS if other != ASKED_FOR))
    for place, factor in enumerate(factors, start=1):
        try:
            with part(place / len(factors)):
                found[factor] = [_errors(guess, table, domain.size, setting, factor, runs, source) for table in tables]
        except InvalidInput:
            if factor >= ASKED_FOR:
                raise  # half of a budget that is barely enough is not, and may be left out; the rest is the caller's
    errors = dict(sorted(extended(found, [table.size for table in tables], domain.size).items()))
    made = {factor: runs_for(tables[-1].size, runs, factor) for factor in errors}
    _even_out(errors, made, tables[-1].size)
    counts = guess.counts(tables[-1], domain.size, 0)
    stands_out = least_that_stands_out(setting, tables[-1], counts, float(found[ASKED_FOR][-1][0]), source)
    values = setting.publish(counts, tables[-1], source, ASKED_FOR)
    return Scenario(guess, errors, made, stands_out, tables[-1], counts, values)


def runs_for(cells: int, runs: int | None, factor: Fraction) -> int:
    """As many as take seconds, unless the caller says how many."""
    full = min(MOST_RUNS, max(FEWEST_RUNS, RUNS_IN_CELLS // cells)) if runs is None else runs
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


def _errors(
    guess: Guess,
    table: Domain,
    cells: int,
    setting: Setting,
    factor: Fraction,
    runs: int | None,
    source: SeededSource,
) -> Floats:
    """The root mean square errors over all runs; every run has a table of its own."""
    questions = Questions(table)
    squares = []
    draws = runs_for(table.size, runs, factor)
    for draw in range(draws):
        advance(draw / draws)
        counts = guess.counts(table, cells, draw)
        squares.append(questions.squared_errors(counts, setting.publish(counts, table, source, factor)))
    return np.asarray(np.sqrt(np.mean(squares, axis=0)), dtype=np.float64)
