"""How much noise a stream's counters get: exact scales, refused before anything is spent where they leave 64 bits."""

from __future__ import annotations

from fractions import Fraction

from sparsedp.arrays import Integers
from sparsedp.noise.law import ContinualCounterLaw, DiscreteLaplaceLaw
from sparsedp.streams.counter_state import AddNoise
from sparsedp.streams.segments import levels_for
from sparsedp.streams.terms import StreamTerms


def tick_law(terms: StreamTerms, share: Fraction = Fraction(1)) -> DiscreteLaplaceLaw:
    """Scale c/ε′ on every tick, where ε′ is `share` of ε: each unit of a person's change meets one noise."""
    terms.check_scale(1, share)
    return DiscreteLaplaceLaw(_effective(terms, Fraction(terms.neighbours.distance) / (terms.epsilon * share)))


def counter_law(terms: StreamTerms, levels: int, share: Fraction = Fraction(1), column: int = 1) -> ContinualCounterLaw:
    """Scale (1 + L)·‖φ‖₁·c/ε′ on every term: a unit change at one tick moves all the counters by ‖φ‖₁ together,
    and each of them is made up for by at most 1 + L noises (`counter.md`). `column` is ‖φ‖₁: k for k rows of ±1."""
    terms.check_scale((1 + levels) * column, share)
    sensitivity = Fraction(terms.neighbours.distance * column * (1 + levels))
    return ContinualCounterLaw(_effective(terms, sensitivity / (terms.epsilon * share)), levels)


def ticks_between_totals(horizon: int, share: Fraction) -> int:
    """How many ticks to leave between two running totals: a function of public numbers alone.

    Rarer totals have fewer segments, so less noise each; between them the noise of the ticks adds up. The rule takes
    the largest power of two whose ticks' noise is at most twice that of one of the counter's terms: a compromise
    between sums over everything, which want rarer totals, and sums over few blocks.
    """
    every = 1
    while 2 * every <= horizon:
        levels = levels_for(horizon, 2 * every)
        if 2 * every * share**2 > 4 * ((1 + levels) * (1 - share)) ** 2:
            break
        every *= 2
    return every


def noise_adder(terms: StreamTerms, scale: Fraction) -> AddNoise:
    """Draws what the calibration says, from the source the caller chose."""
    sampler, source = terms.sampler, terms.source

    def add_noise(values: Integers) -> None:
        sampler.add_noise(values, scale, source)

    return add_noise


def _effective(terms: StreamTerms, scale: Fraction) -> Fraction:
    return terms.sampler.effective_scale(scale)
