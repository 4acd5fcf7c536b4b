"""What a bound on the records of a person left out: how many people have how many records, behind noise.

People are sorted into public bins by the number of their records that could be read into the table, and the sizes of
the bins were published with noise (`ingest/contributions.md`). What follows here is arithmetic on those numbers.

The share that was left out is at most s where S(s) = Σ over people of (n − m)⁺ − s·n is at most 0, n being a person's
number of records and m the bound. Within a bin, n may be anything from its first number to its last. So S(s) is at
least Σ w(s)·(size of the bin), where w is the least that a person of the bin may add; and if the noisy sum exceeds what
its noise exceeds with a chance of α, then more than s was left out, or a chance of α came true. `low` is the greatest s
that is told so, and `high` the least of those that are told to be too much.

What w of a bin is below that least, and not below 0, may be put in its place: `low` leaves out the bins of people with
very many records, whose noise would count as often, and holds whatever they have. `high` cannot: a few people with a
million records each cannot be told from nobody, by anything that protects them. It says how many a person may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Floats, Ints
from sparsedp.errors import InvalidInput
from sparsedp.estimation.noise_sums import NoiseSum
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, noise_law_from
from sparsedp.releases.uncertainty import checked_level

MOST_RECORDS = 2**20
"""Of one person, as far as they are told apart: who has more is in the last bin."""


def first_numbers(bound: int | None = None) -> tuple[int, ...]:
    """Where each bin begins. A function of the bound alone.

    Up to the bound: 1, 2, … 8, then four bins to each double. Above it one record too many, 2, 3, 4, 6, 8, 12, … too
    many. Without a bound four to each double go on to the end, and every bin's last number may be chosen as one.
    """
    doubles = [2**exponent for exponent in range(MOST_RECORDS.bit_length())]
    quarters = {9, *(double + part * double // 4 for double in doubles for part in range(4))}
    if bound is None:
        return tuple(sorted(first for first in quarters if first <= MOST_RECORDS))
    beyond = {bound + excess for double in doubles for excess in (double, double + double // 2)}
    usual = {first for first in quarters if first <= bound} | {bound + 1}
    return tuple(sorted(usual | {first for first in beyond if first <= MOST_RECORDS}))


def last_numbers(bound: int | None = None) -> Ints:
    """Where each bin ends; the last has no end, and is taken to reach twice as far as they do."""
    firsts = np.array(first_numbers(bound), dtype=np.int64)
    return np.append(firsts[1:] - 1, 2 * MOST_RECORDS)


def possible_bounds() -> tuple[int, ...]:
    """Those that a private look may choose: the last number of every bin but the last."""
    return tuple(last_numbers()[:-1].tolist())


@dataclass(frozen=True)
class Cut:
    """The share of the records that could be read into the table, and were not counted for the bound on each person.

    `estimate` is that share, about. It lies between `low` and `high` with a chance of `level`, as long as nobody has
    more than two million records. `likely_high` takes the place of `high` if nobody has more than `seen` records, the
    most that people seem to have; you may know better what is possible: `cut.high_if(366)`.

    `people` are the noisy numbers of people, by bins that begin at `first_numbers(bound)`.
    """

    bound: int
    people: tuple[int, ...] = field(repr=False)
    law: IndependentLaw = field(repr=False)
    chosen: bool = False
    """The bound was chosen by these very numbers, so that they have to be trusted less."""
    level: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", validate.whole("bound", self.bound, most=MOST_RECORDS))
        validate.yes_or_no("chosen", self.chosen)
        bins = len(first_numbers(self._bound_of_bins))
        whole = all(isinstance(number, int) and not isinstance(number, bool) for number in self.people)
        if not whole or len(self.people) != bins or not all(-(2**63) <= number < 2**63 for number in self.people):
            raise InvalidInput("people", "not the noisy sizes of the bins", f"give {bins} whole numbers")
        if self.chosen and self.bound not in possible_bounds():
            raise InvalidInput("bound", f"{self.bound}, which ends no bin", "give one that could be chosen")

    def at(self, level: validate.Number) -> Cut:
        """The same with other intervals: `release.cut.at(0.99)`."""
        return replace(self, level=checked_level(level))

    @cached_property
    def estimate(self) -> float:
        """The share, about: people in the midst of their bins, and nobody beyond those that could be seen."""
        firsts, lasts = self._bins
        within = firsts <= self.seen
        middles = (firsts + np.minimum(lasts, self.seen))[within] / 2
        sizes = self._sizes[within]
        records = float(middles @ sizes)
        cut = float(np.maximum(middles - self.bound, 0) @ sizes)
        return min(max(cut / records if records > 0 else 0.0, self.low), self.likely_high)

    @cached_property
    def low(self) -> float:
        """At least so much was left out, whatever people have."""
        found = 0.0
        limit, chance = 4 * self.bound, self._chance * _OF_LOW / 2
        while limit < MOST_RECORDS:
            # Each has a chance of its own to be wrong, and only those near what was seen are of any use.
            if self.seen <= 4 * limit and limit <= 4 * self.seen:
                found = max(found, self._low_up_to(limit, chance))
            limit, chance = 4 * limit, chance / 2
        return found

    @cached_property
    def likely_high(self) -> float:
        """At most so much, if nobody has more than `seen` records.

        The most of what would be said for fewer records: it is wrong only where that for the true most is, so that it
        does not matter by what rule `seen` was found.
        """
        return max(self.high_if(limit) for limit in self._limits)

    @cached_property
    def high(self) -> float:
        """At most so much, as long as nobody has more than two million records."""
        return max(self.likely_high, self._high_up_to(2 * MOST_RECORDS, self._chance * _OF_HIGH))

    def high_if(self, most: int) -> float:
        """At most so much was left out, if nobody has more than `most` records: what you know of the people."""
        limit = validate.whole("most", most, most=2 * MOST_RECORDS)
        return 0.0 if limit <= self.bound else max(self.low, self._high_up_to(limit, self._chance * _OF_LIKELY))

    @property
    def seen(self) -> int:
        """The most records that people seem to have: up to where the numbers of people stand out of the noise."""
        return self._limits[-1]

    @cached_property
    def _limits(self) -> tuple[int, ...]:
        """Twice the bound, at least, and from there on each double of what is above the bound, up to the last that
        stands out: a little, if those below it do; or much."""
        firsts, lasts = self._bins
        doubles = np.array([max(0, first - self.bound).bit_length() for first in firsts.tolist()])
        found: list[int] = []
        seen, in_a_row = 0, True
        for one in range(1, int(doubles.max()) + 1):
            sizes, ends = self._sizes[doubles == one], lasts[doubles == one]
            if not len(ends):
                continue
            beyond = sizes.sum() / self._deviation(len(sizes))
            in_a_row &= not found or found[-1] < 2 * self.bound or beyond > _STANDS_OUT
            found.append(int(ends[-1]))
            seen = found[-1] if in_a_row or beyond > _STANDS_FAR_OUT else seen
        return tuple(limit for limit in found if 2 * self.bound <= limit <= seen) or (2 * MOST_RECORDS,)

    def _deviation(self, bins: int) -> float:
        return sqrt(self.law.variance * bins)

    # ---- tests of a share: Fieller's, with the exact law of the noise

    def _low_up_to(self, limit: int, chance: float) -> float:
        """The greatest share that is told to be too little; people beyond the limit may as well not be there."""
        firsts, lasts = self._bins
        above = firsts > self.bound
        within = firsts <= limit
        cut, records = np.where(above, firsts - self.bound, 0), np.where(above, firsts, lasts)
        # Beyond that share, people beyond the limit would pull the other way.
        return min((limit - self.bound) / limit, self._solved(cut[within], records[within], within, chance, -1))

    def _high_up_to(self, limit: int, chance: float) -> float:
        """The least share that is told to be too much, if nobody is beyond the limit."""
        firsts, lasts = self._bins
        above, within = firsts > self.bound, firsts <= limit
        reach = np.minimum(lasts, limit)
        cut, records = np.where(above, reach - self.bound, 0), np.where(above, reach, firsts)
        return min((limit - self.bound) / limit, self._solved(cut[within], records[within], within, chance, 1))

    def _solved(self, cut: Ints, records: Ints, within: Any, chance: float, sign: int) -> float:
        """The share at which the noisy Σ (cut − share·records)·size is as far from 0 as noise is by that chance."""
        sizes = self._sizes[within]
        whole, left = float(records @ sizes), float(cut @ sizes)
        nothing = float(sign > 0)
        if whole <= self._quantile(records, chance):
            return nothing  # it is not even clear that there are any records
        share = min(max(left / whole, 0.0), 1.0)
        for _ in range(_ROUNDS):
            before, noise = share, self._quantile(np.abs(cut - share * records), chance)
            share = min(max((left + sign * noise) / whole, 0.0), 1.0)
            if abs(share - before) <= _FINE * max(share, _FINE):
                break
        return share

    def _quantile(self, weights: Floats | Ints, chance: float) -> float:
        """What Σ weights·noise exceeds with that chance at most."""
        weights = np.asarray(weights, dtype=np.float64)
        weights = weights[weights > 0]
        if not len(weights):
            return 0.0
        if isinstance(self.law, DiscreteGaussianLaw) and self.law.variance > _WIDE:
            # Normal to many digits, but for the steps of the greatest weight.
            deviation = sqrt(self.law.variance * float((weights**2).sum()))
            return NormalDist().inv_cdf(1 - chance) * deviation + float(weights.max()) / 2
        return NoiseSum.of((self.law, weights)).quantile(1 - chance)

    @property
    def _bound_of_bins(self) -> int | None:
        return None if self.chosen else self.bound

    @cached_property
    def _bins(self) -> tuple[Ints, Ints]:
        return np.array(first_numbers(self._bound_of_bins), dtype=np.int64), last_numbers(self._bound_of_bins)

    @property
    def _sizes(self) -> Floats:
        return np.array(self.people, dtype=np.float64)

    @property
    def _chance(self) -> float:
        """Of being wrong; for each bound that could have been chosen, if one was."""
        return (1 - self.level) / (len(self.people) - 1 if self.chosen else 1)

    # ---- in words, and in files

    def __str__(self) -> str:
        a_person = f"the bound of {self.bound:,} a person"
        if self.likely_high - self.low > _TELLS_NOTHING:
            return f"How many of the records were left out by {a_person} cannot be told from so little budget."
        low, high = _percent(self.low, floor), _percent(self.likely_high, ceil)
        sentence = f"About {_percent(self.estimate, round)} % of the records were left out by {a_person}"
        beyond = f"at most {_percent(self.high, ceil)} % whatever they have"
        if self.high > _HARDLY_A_BOUND:
            beyond = "more if a few have far more, which cannot be seen"
        return f"{sentence}: {low} to {high} % if nobody has more than {self.seen:,}; {beyond}."

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Cut.from_description` gives it back."""
        return {
            "bound": self.bound,
            "people": list(self.people),
            "noise": self.law.describe(),
            **({"chosen": True} if self.chosen else {}),
        }

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Cut:
        """What `describe` described."""
        law = noise_law_from(description["noise"])
        if not isinstance(law, DiscreteLaplaceLaw | DiscreteGaussianLaw):
            raise InvalidInput("noise", f"{law.name!r}", "give the law of independent noise")
        people, chosen = description["people"], description.get("chosen", False)
        if not isinstance(people, list):
            raise InvalidInput("people", f"of type {type(people).__name__}", "give a list")
        return cls(description["bound"], tuple(people), law, chosen)

    def facts(self) -> dict[str, Any]:
        """For programs: the figures of the sentence."""
        return {
            "bound": self.bound,
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "likely_high": self.likely_high,
            "if_nobody_has_more_than": self.seen,
            "statement": str(self),
        }


_OF_LOW, _OF_LIKELY, _OF_HIGH = 0.5, 0.4, 0.1
"""Of the chance of being wrong: for each of the numbers that are told."""

_STANDS_OUT, _STANDS_FAR_OUT = 2.0, 5.0
"""Deviations of the noise on the number of people in a double."""

_ROUNDS, _FINE = 12, 1e-3
_WIDE = 4.0
_HARDLY_A_BOUND, _TELLS_NOTHING = 0.95, 0.5


def _percent(share: float, rounded: Any) -> str:
    """In per cent, with one decimal below ten."""
    if share < 0.0995:
        return f"{rounded(share * 1000) / 10:g}"
    return f"{rounded(share * 100)}"
