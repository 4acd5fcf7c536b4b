"""How many records people have, measured with a share of the budget: what a bound cuts, and which bound to choose.

Guarantee: as private as its share of the budget says, whatever the bound. Proof: `ingest/contributions.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Floats, Ints
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.terms import CalibratedNoise, Terms
from sparsedp.privacy.neighbours import RELATIONS
from sparsedp.releases.cut import Cut, first_numbers, last_numbers, possible_bounds

PURPOSE = "see how many records people have"
"""What the look is paid for."""

OF_A_BOUND, OF_A_CHOICE = Fraction(1, 50), Fraction(1, 20)
"""Shares of the budget, if none is given: to say what a given bound cuts; to choose one, and say that."""

NOTHING = Fraction(0)


def checked_share(share: object, *, chosen: bool) -> Fraction:
    """The share of the budget that the look takes; 0 for no look."""
    if share is None:
        return OF_A_CHOICE if chosen else OF_A_BOUND
    wanted = 'give a share of the budget, such as "0.02", or "0" to do without'
    number = validate.exact_number("cut_share", share, wanted)
    if not 0 <= number < 1:
        raise InvalidInput("cut_share", validate.shown(number), wanted)
    if chosen and not number:
        given = '0 beside max_contributions="auto"'
        raise InvalidInput("cut_share", given, "give a share to choose the bound with, such as 0.05, or give a bound")
    return number


@dataclass(frozen=True)
class Look:
    """The noise for the numbers of people by bins: a person is in one bin, so that one number changes by one."""

    noise: CalibratedNoise

    @classmethod
    def of(cls, terms: Terms, share: Fraction) -> Look:
        """What that share of the budget buys, or the refusal of a budget that is too small."""
        changes = RELATIONS[terms.neighbours.relation]  # by one each: in another's place is one out of, one into a bin
        return cls(terms.noise(changes, changes, share, PURPOSE))

    def measured(self, people: Ints, bound: int) -> Cut:
        """What the bound cut, once it is paid for."""
        return Cut(bound, self._noisy(people, first_numbers(bound)), self.noise.law)

    def chosen(self, people: Ints, cells: int, noise_of_one: float, most: int) -> Cut:
        """The same, with the bound that the noisy numbers choose, of at most so many records."""
        noisy = self._noisy(people, first_numbers())
        bound = best_bound(noisy, self.noise.law.variance, cells, noise_of_one, most)
        return Cut(bound, noisy, self.noise.law, chosen=True)

    def _noisy(self, people: Ints, bins: Sequence[int]) -> tuple[int, ...]:
        if people.shape != (len(bins),):
            raise RuntimeError("People were counted in other bins than are measured.")
        noisy = people.copy()
        self.noise.add_to(noisy)
        return tuple(noisy.tolist())


# The rule by which a bound is chosen: a function of the noisy numbers and of public facts alone.

GOES_ON, STANDS_OUT = 2.5, 5.0
"""Deviations of the noise on the number of people in a double of records: so many must be in it to be believed in; the
first where those in all doubles below it are, the second anywhere."""


def best_bound(noisy: Sequence[int], variance: float, cells: int, noise_of_one: float, most: int) -> int:
    """The bound for which noise and what is cut, as the noisy numbers tell it, make the least error in a cell.

    A cell misses a bound's cut divided by the number of cells, and has noise in proportion to the bound:
    `noise_of_one` is what is felt of it for a bound of 1. `variance` is that of the noisy numbers.
    """
    records, people = _believed(np.array(noisy, dtype=np.float64), variance)
    bounds = [bound for bound in possible_bounds() if bound <= most and (bound == 1 or bound <= 1.5 * records[-1])]
    cuts = [max(0.0, float(np.maximum(records - bound, 0.0) @ people)) / cells for bound in bounds]
    errors = [cut**2 + (noise_of_one * bound) ** 2 for bound, cut in zip(bounds, cuts, strict=True)]
    return bounds[int(np.argmin(errors))]


def _believed(sizes: Floats, variance: float) -> tuple[Floats, Floats]:
    """How many records people are believed to have, and how many people have so many.

    Those that the noise shows, in the midst of their bins. And where there are the fewer of them the more records they
    have, it is taken to go on like that for some doubles, as steeply, or ever more so.
    """
    firsts, lasts = np.array(first_numbers()), last_numbers()
    doubles = np.array([first.bit_length() for first in firsts.tolist()])
    numbers = np.unique(doubles)
    sums = np.array([sizes[doubles == one].sum() for one in numbers])
    apart = sums / np.sqrt([variance * (doubles == one).sum() for one in numbers])
    going_on = np.cumprod(apart > GOES_ON).sum()
    beyond = np.flatnonzero(apart > STANDS_OUT)
    seen = max(1, int(going_on), *(int(one) + 1 for one in beyond))
    shown = doubles <= numbers[seen - 1]
    records, people = (firsts + lasts)[shown] / 2, sizes[shown]
    if seen < _A_TAIL or not (np.diff(sums[seen - _A_TAIL : seen]) < 0).all() or sums[seen - 1] <= 0:
        return records, people
    before, falls = (sums[seen - _A_TAIL + 1 : seen] / sums[seen - _A_TAIL : seen - 1]).tolist()
    steps = np.arange(1, 1 + min(_A_TAIL, len(numbers) - seen))
    steeper = min(1.0, falls / before)
    tail = sums[seen - 1] * min(falls, before) ** steps * steeper ** (steps * (steps + 1) / 2)
    more = 1.5 * 2.0 ** np.arange(seen, seen + len(tail))
    return np.concatenate((records, more)), np.concatenate((people, tail))


_A_TAIL = 3
"""Doubles that have to fall one after the other, and that are believed in then."""
