"""k continual counters at work: their state, their noise, and the law of what they publish."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sparsedp.arrays import Integers
from sparsedp.noise.law import ContinualCounterLaw
from sparsedp.streams.calibration import counter_law, noise_adder
from sparsedp.streams.counter_state import AddNoise, CounterState
from sparsedp.streams.segments import levels_for
from sparsedp.streams.terms import StreamTerms


@dataclass(frozen=True, eq=False)
class Counters:
    """The state and the noise that goes into it. PRIVATE: whoever sees the state twice knows what was counted."""

    state: CounterState
    law: ContinualCounterLaw
    add_noise: AddNoise

    def advance(self, values: Integers) -> Integers:
        """Count the rows of `values`, a tick each; the noisy sums that are due meanwhile."""
        return self.state.advance(values, self.add_noise)

    def skip_to_last(self, values: Integers) -> None:
        """The same, keeping the last noisy sums alone."""
        self.state.skip_to_last(values, self.add_noise)


def counters_for(
    terms: StreamTerms,
    horizon: int,
    *,
    counters: int = 1,
    every: int = 1,
    share: Fraction = Fraction(1),
    column: int = 1,
) -> Counters:
    """`counters` sums, published after every `every` of `horizon` ticks, calibrated to `share` of ε.

    `column` is how far a unit change at one tick moves all the counters together.
    """
    levels = levels_for(horizon, every)
    law = counter_law(terms, levels, share, column)
    return Counters(CounterState(counters, levels, every), law, noise_adder(terms, law.scale))
