"""What a recovery that measured cells, all or those of busy blocks, may have smoothed away: by detail, and by cell.

Learned from what it left over (`hidden_structure.py`), per level and by how busy the surroundings are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.recovery.layers.detail_strata import DetailStrata
from sparsedp.recovery.layers.detail_variances import LEAST_NOISE, level_slices, means_under
from sparsedp.recovery.layers.hidden_structure import Rests, at_most, histogram, places_of
from sparsedp.recovery.layers.resampling import alone_in_groups
from sparsedp.recovery.shrinkage.coefficient_noise import GAUSSIAN_FROM, variance_shape

if TYPE_CHECKING:
    from sparsedp.recovery.layers.recover import Fit

GATE, FINE_GATE = 4.0, 6.0
"""Nats of evidence at which hidden structure is believed by half: for levels of few details, and of many."""

FEW, MANY = 64, 256
"""Levels of fewer details than the first are learned in one class; of more than the second, by the fine gate."""

BORROWED = 16.0
"""Details that the levels next to a level lend it, at most; those beyond half as many, and so on."""

UNEVEN, UNEVEN_FROM = 0.02, 32
"""Nothing is quite even: the halves of so many cells, or more, differ by this share of their sum, in the mean square,
though nothing is seen of it. A year has seasons, however noisy its days are. (Where cells were measured in busy blocks
only, the sums of the others would have shown it.)"""

BUSY: Floats = np.array([0.5, 2.0])
"""Classes of surroundings: their mean, as a multiple of the mean of all cells."""


class SmoothedAway:
    """What the recovery smoothed away, by detail and by cell."""

    def __init__(self, fit: Fit, noise: Floats, rest: Floats, learned: DetailStrata) -> None:
        self.fit, self.noise, self.learned = fit, noise, learned
        self.under = means_under(np.abs(fit.estimate))
        self.roots = means_under(np.sqrt(np.abs(fit.estimate)))
        # Nothing is hidden: what is left is noise, and the scatter of independent records.
        self.units = noise + self.under
        self.places = places_of(rest, self.units)
        # Nothing is seen within blocks that were measured whole, and nothing is said of it here.
        self.measured = noise > LEAST_NOISE
        self.alone = alone_in_groups(fit.layers[0].starts, fit.sensing.n)
        self.shape = variance_shape(fit.law.finest) if fit.law.finest.variance > LEAST_NOISE else 1.0
        chosen = any(not isinstance(layer, int) for layer in fit.sensing.groups)
        self.chosen = chosen and not fit.sensing.in_parts_of_blocks
        self.size = np.maximum(fit.estimate, 0.0)
        self.mean = float(self.size.mean())

    def by_detail(self) -> Floats:
        """The mean square of what is hidden in each detail."""
        found = np.zeros(len(self.noise))
        under = self.under
        parts = level_slices(len(self.noise))
        seen = [histogram(self.places[part][self.measured[part]]) for part in parts]
        own = self.fit.law.finest.variance
        for at, part in enumerate(parts):
            places, measured = self.places[part], self.measured[part]
            few = int(measured.sum())
            if not few:
                continue
            exact = float(self.noise[part][measured].min()) >= 0.999 * own
            rests = Rests.of(self.shape * 2.0 ** (at + 1) if exact else GAUSSIAN_FROM)
            # Where a look chose groups, it has seen that they are flat: few details are no reason for doubt.
            gate = FINE_GATE if few >= MANY else GATE if self.chosen else GATE * min(1.0, few / 32)
            weights = rests.learn(_with_neighbours(seen, at), gate)
            unit = self.units[part]
            # Where the estimate follows the observed, little is left over, and as little can be hidden.
            unseen = np.minimum(self.learned.rests[part], unit)
            magnitudes = under[part] * 2.0 ** ((at + 1) / 2) / np.sqrt(unit)
            busy = np.searchsorted(BUSY * self.mean, under[part]) if few >= FEW else np.zeros(len(places), np.int64)
            for kind in range(len(BUSY) + 1):
                here = (busy == kind) & measured
                if not here.any():
                    continue
                local = rests.learn(histogram(places[here]), gate, weights) if few >= FEW else weights
                local = self._bounded(local, magnitudes[here])
                found[part.start : part.stop][here] = unseen[here] * rests.mean_squares(places[here], local)
            if few < FEW and self.fit.nonnegative:
                # Without negative cells no detail exceeds the sum of its cells, which is known about as well as it is.
                most = unit * magnitudes**2 + self.learned.errors[part]
                found[part] = np.minimum(found[part], most)
            if 2 << at >= UNEVEN_FROM and self.alone.all():
                found[part] = np.maximum(found[part], self._of_uneven_halves(part, 2 << at))
        return found

    def _of_uneven_halves(self, part: slice, width: int) -> Floats:
        """What is left to expect of halves that differ a little, beside the noise; where they were not smoothed away,
        their errors are known already. A few tall cells count for little: they are seen.
        """
        noise = self.noise[part]
        expected = width * (UNEVEN * self.roots[part] ** 2) ** 2
        smoothed = 1.0 - np.minimum(self.learned.errors[part] / noise, 1.0)
        return smoothed * expected * noise / (expected + noise)

    def cells(self, left: Floats) -> Floats:
        """The mean square of what is hidden in each cell by itself; `left`: that of the rest of a cell like it."""
        own = max(self.fit.law.finest.variance, LEAST_NOISE)
        rests = Rests.of(self.shape)
        scatter = np.abs(self.fit.estimate)
        rest = self.fit.fused - self.fit.estimate
        places = places_of(rest, own + scatter)
        units = np.minimum(left, own + scatter)
        weights = rests.learn(histogram(places[self.alone]), FINE_GATE)
        busy = np.searchsorted(BUSY * self.mean, self.size)
        found = np.zeros(len(places))
        self._classes: list[tuple[npt.NDArray[np.bool_], Floats, Floats, Floats]] = []
        for kind in range(len(BUSY) + 1):
            here = (busy == kind) & self.alone
            if here.any():
                deviations = np.sqrt(own + scatter[here])
                local = rests.learn(histogram(places[here]), FINE_GATE, weights)
                local = self._bounded(local, self.size[here] / deviations)
                found[here] = units[here] * rests.mean_squares(places[here], local)
                self._classes.append((here, rest[here] / deviations, local, np.sqrt(units[here])))
        self._rests = rests
        return found

    def upper_ends(self, chance: float) -> Floats:
        """How far above its estimate each cell may be, but for this chance, because a spike was smoothed away."""
        ends = np.zeros(self.fit.sensing.n)
        for here, scores, weights, unit in self._classes:
            ends[here] = unit * self._rests.upper_ends(scores, weights, chance)
        return ends

    def _bounded(self, weights: Floats, magnitudes: Floats) -> Floats:
        return at_most(weights, float(magnitudes.mean())) if self.fit.nonnegative else weights


def _with_neighbours(seen: list[Floats], at: int) -> Floats:
    counts = seen[at].copy()
    for other, lent in enumerate(seen):
        if other != at:
            counts += lent * min(1.0, BORROWED / max(float(lent.sum()), 1.0)) * 0.5 ** abs(other - at)
    return counts
