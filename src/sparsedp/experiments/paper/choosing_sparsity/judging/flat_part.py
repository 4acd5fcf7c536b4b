"""The U of one decoder on one data set, its flat part, and how good the sparsities are that were picked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.paper.fits import mean_interval
from sparsedp.experiments.paper.outcomes import Outcome, Outcomes

FLAT = 1.25
"""The flat part of the U: where the mean error is at most so many times the least."""
TINY, HUGE = 1e-300, 1e300
ENDS = (5, 95)
"""Percentiles of the picks that are shown."""


@dataclass(frozen=True)
class Curve:
    """Mean errors on a grid of S; between them both are interpolated on log scales, beyond them nothing is known.

    The least of many means with noise in them is biased low, and the flat part a little too narrow for it.
    """

    sparsities: Floats
    means: Floats
    lows: Floats
    """The lower ends of the means' 95 % intervals, no lower than the least run; of a single run nothing is known."""
    highs: Floats

    @property
    def best(self) -> int:
        """The S of the grid with the least mean error."""
        return int(self.sparsities[self.means.argmin()])

    @property
    def least(self) -> float:
        """That error."""
        return float(self.means.min())

    def over_least(self, sparsities: Floats) -> Floats:
        """The error at each S over the least; infinite outside the grid."""
        return self._over_least(sparsities, self.means)

    def ends(self, sparsities: Floats) -> tuple[Floats, Floats]:
        """The same with the ends of the intervals at each S in place of the means."""
        return self._over_least(sparsities, self.lows), self._over_least(sparsities, self.highs)

    def _over_least(self, sparsities: Floats, errors: Floats) -> Floats:
        at = np.log(sparsities)
        over = np.interp(at, np.log(self.sparsities), np.log(errors / self.least), left=np.inf, right=np.inf)
        return np.asarray(np.exp(over))

    @property
    def flat(self) -> tuple[int, int]:
        """The first and the last S of the flat part."""
        every = np.arange(self.sparsities[0], self.sparsities[-1] + 1)
        within = every[self.over_least(every) <= FLAT]
        return int(within[0]), int(within[-1])


def curve_of(outcome: Outcome) -> Curve:
    """Of a finished job of errors."""
    runs = outcome.found["errors"]
    means, lows, highs = (np.array(ends) for ends in zip(*(mean_interval(of) for of in runs), strict=True))
    lows = np.maximum(lows, [min(of) for of in runs])
    if min(map(len, runs)) < 2:
        lows, highs = np.full(means.shape, TINY), np.full(means.shape, HUGE)
    return Curve(np.array(outcome.found["sparsities"], dtype=np.float64), means, lows, highs)


@dataclass(frozen=True)
class Quality:
    """How good the private choice is, judged by the curve of the decoder that its constants are for."""

    curve: Curve
    candidates: Floats
    law: Floats
    picks: Floats

    @property
    def failing(self) -> float:
        """The exact probability of an S outside the flat part."""
        return float(self.law[self.curve.over_least(self.candidates) > FLAT].sum())

    @property
    def failing_ends(self) -> tuple[float, float]:
        """The least and the most that it can be, for all that the runs of the curve tell."""
        low, high = (float(self.law[over > FLAT].sum()) for over in self.curve.ends(self.candidates))
        return low, high

    @property
    def missed_ends(self) -> tuple[float, float]:
        """The same of the share of the picks."""
        low, high = (float(np.mean(over > FLAT)) for over in self.curve.ends(self.picks))
        return low, high

    @property
    def cost_ends(self) -> tuple[float, float]:
        """The same of the error at the picked S over the least, on average."""
        low, high = (float(np.mean(over)) for over in self.curve.ends(self.picks))
        return low, high

    @property
    def missed(self) -> float:
        """The share of the picks outside it."""
        return float(np.mean(self.curve.over_least(self.picks) > FLAT))

    @property
    def mean_over_least(self) -> float:
        """The error at the picked S over the least, on average over the picks."""
        return float(np.mean(self.curve.over_least(self.picks)))

    @property
    def middle(self) -> tuple[int, int, int]:
        """The 5th, 50th and 95th percentile of the picks."""
        low, median, high = np.percentile(self.picks, (ENDS[0], 50, ENDS[1]), method="inverted_cdf")
        return int(low), int(median), int(high)


def quality_of(outcomes: Outcomes, data: str, decoder: str, share: str) -> Quality:
    """Of the picks with that share of the budget; the curve is the one measured."""
    found = outcomes.only(part="picks", data=data, decoder=decoder, share=share).found
    curve = curve_of(outcomes.only(part="errors", data=data, decoder=decoder))
    candidates, law, picks = (np.array(found[name], dtype=np.float64) for name in ("candidates", "law", "picks"))
    return Quality(curve, candidates, law, picks)
