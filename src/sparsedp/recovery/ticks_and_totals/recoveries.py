"""Noisy ticks and a continual counter's totals of them, as the estimator needs to know them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.laws import LayersLaw, TicksAndTotalsLaw
from sparsedp.recovery.layers.detail_variances import details
from sparsedp.recovery.layers.fusion import Consistent, Layer, drawn_noise, whole_numbers
from sparsedp.recovery.ticks_and_totals.fusion import fuse_totals
from sparsedp.sensing.group_sums import GroupSums


@dataclass(frozen=True)
class CellsAndTotals:
    """Cells in a row, each with noise of its own, and behind them the counter's totals after every e of them.

    Totals come every e ticks, e a power of two: they correct the sums of blocks of e ticks, evenly within each.
    """

    noise: TicksAndTotalsLaw
    every: int

    @property
    def law(self) -> LayersLaw:
        """Of the cells' own noise."""
        return LayersLaw((self.noise.ticks,))

    def consistent(self, sensing: GroupSums, values: Integers) -> Consistent:
        """Least squares from both (`fusion.md`)."""
        n, every, of_tick = sensing.n, self.every, self.noise.ticks.variance
        blocks = n // every
        ticks = values[:n].astype(np.float64)
        by_level, of_total = np.full(max(n - 1, 1).bit_length(), of_tick), n * of_tick
        if blocks:
            complete = ticks[: blocks * every]
            sums = complete.reshape(blocks, every).sum(axis=1)
            best = fuse_totals(
                sums,
                values[n:].astype(np.float64),
                tick_variance=of_tick * every,
                noise_term_variance=self.noise.totals.term.variance,
                levels=self.noise.totals.levels,
            )
            complete += np.repeat((best.ticks - sums) / every, every)
            # A detail within a block has the ticks' own noise, one of whole blocks theirs.
            inside = every.bit_length() - 1
            above = best.level_variance[: max(len(by_level) - inside, 0)] / every
            by_level[inside : inside + len(above)] = above
            of_total = best.total_variance + (n - blocks * every) * of_tick
        return Consistent([Layer(np.arange(n), ticks, np.full(n, of_tick))], by_level, of_total / n)

    def again(self, sensing: GroupSums, truth: Floats, generator: np.random.Generator) -> Integers:
        """The counter's noise is one term for ever, and one for every segment of 2^l totals that holds the present."""
        ticks = truth + drawn_noise(self.noise.ticks, sensing.n, generator)
        totals = np.cumsum(truth)[self.every - 1 :: self.every]
        term, place = self.noise.totals.term, np.arange(len(totals))
        totals = totals + drawn_noise(term, 1, generator)
        for level in range(self.noise.totals.levels):
            segment = place >> level
            totals += drawn_noise(term, int(segment[-1]) + 1 if len(place) else 0, generator)[segment]
        return whole_numbers(np.concatenate((ticks, totals)))

    def noise_of_sum(self, sensing: GroupSums, weights: Floats, of_details: Floats) -> float:
        """By details, whose noise is nearly uncorrelated: that of each level is its mean."""
        return float(details(weights) ** 2 @ of_details)
