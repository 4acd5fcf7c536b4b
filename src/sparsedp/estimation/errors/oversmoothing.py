"""Structure that shrinkage may have smoothed away: empirical Bayes on what it left over."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.estimation.errors.bootstrap import DetailStrata, alone_in_groups
from sparsedp.estimation.errors.haar_details import LEAST_NOISE, level_slices, means_under
from sparsedp.estimation.shrinkage.mixture_prior import (
    GATE,
    GAUSSIAN_FROM,
    mixture_weights,
    noise_nodes,
    unless_nothing,
    variance_shape,
)
from sparsedp.jit import kernel

if TYPE_CHECKING:
    from sparsedp.estimation.estimator import Fit


# What the recovery may have smoothed away: empirical Bayes on what it left over.
#
# The rest, observed − estimate, is noise and whatever truth the estimate lacks. Its law over many coefficients teaches
# a prior of the latter: zero, or Gaussian of some scale. In units of the noise's deviation, everything tabulated by
# |z|.

Places = npt.NDArray[np.uint8]

SQUARES: Floats = np.concatenate([np.zeros(1), 4.0 ** np.arange(-3, 8)])
"""Variances of the prior's components, the first being none."""

VAGUELY_HIDDEN: Floats = np.concatenate([[0.5], np.full(5, 0.1), np.zeros(len(SQUARES) - 6)])
"""Imagined before anything is seen: as likely as not nothing; else up to two deviations."""

NOT_HIDDEN_COUNT = 1.0
"""Coefficients that are imagined to hide nothing, beside the one of the vague prior."""

BROADER_COUNT = 10.0
"""How many coefficients a prior that was learned from more of them counts for."""

DEVIATIONS, KURTOSIS = 2.0, 5.0
"""What a mean square may be off by chance, and the variance of one square: that of Laplace noise."""

MAGNITUDES, RESOLUTION = 160, 32.0
MIDDLES: Floats = np.expm1((np.arange(MAGNITUDES) + 0.5) / RESOLUTION)

SIGNED: Floats = np.concatenate(
    [-np.expm1(np.arange(60, 0, -4) / RESOLUTION), np.expm1(np.arange(0, 129, 2) / RESOLUTION)]
)
"""Rests for which upper ends are tabulated."""

HEIGHTS: Floats = np.concatenate([[0.0], np.expm1(np.linspace(0.1, 4.2, 60))])


@kernel
def places_of(rests: Floats, units: Floats) -> Places:
    """The bins of the magnitudes of rests, each in deviations of its own: the roots of `units`."""
    places = np.empty(len(rests), np.uint8)
    for i in range(len(rests)):
        places[i] = min(int(log1p(sqrt(rests[i] * rests[i] / units[i])) * RESOLUTION), MAGNITUDES - 1)
    return places


def histogram(places: Places) -> Floats:
    """Counts by magnitude."""
    return np.bincount(places, minlength=MAGNITUDES).astype(np.float64)


@dataclass(frozen=True)
class Rests:
    """The law of a rest under every component, for noise whose variance has a Gamma law of this shape."""

    nodes: Floats
    chances: Floats
    densities: Floats
    squares: Floats

    @classmethod
    def of(cls, shape: float) -> Rests:
        """`shape`: as in `noise_nodes`."""
        nodes, chances = noise_nodes(shape)
        total = SQUARES[:, None] + nodes
        height = chances / np.sqrt(2 * np.pi * total)
        kept = SQUARES[:, None] / total

        densities = np.exp(-0.5 * MIDDLES[:, None, None] ** 2 / total) * height
        squares = (densities * (kept * nodes + (kept * MIDDLES[:, None, None]) ** 2)).sum(axis=2)
        return cls(nodes, chances, densities.sum(axis=2) + 1e-300, squares)

    def learn(self, counts: Floats, gate: float, pooled: Floats | None = None) -> Floats:
        """The components' weights. A fit that explains `gate` nats more than nothing hidden is believed by half."""
        pseudo = VAGUELY_HIDDEN.copy() if pooled is None else VAGUELY_HIDDEN + BROADER_COUNT * pooled
        pseudo[0] += NOT_HIDDEN_COUNT
        # Every component has a share at first: one without would never get any.
        weights = 0.5 * pseudo / pseudo.sum() + 0.5 / len(pseudo)
        seen = counts > 0
        likelihood = np.ascontiguousarray(self.densities[seen].T)
        weights = mixture_weights(counts[seen], likelihood, weights, pseudo)
        return unless_nothing(counts[seen], likelihood, weights, gate)

    def mean_squares(self, places: Places, weights: Floats) -> Floats:
        """The posterior mean of the square of what is hidden, for each rest.

        Scaled down where it is more than the rests' own mean square has room for beside the noise: of very many rests,
        a prior can fit the noise better than the noise's own tabulated law does.
        """
        counts = histogram(places)
        table = (self.squares @ weights) / (self.densities @ weights)
        mean = float(counts @ table) / len(places)
        room = float(counts @ MIDDLES**2) / len(places) - 1.0 + DEVIATIONS * sqrt(KURTOSIS / len(places))
        return np.asarray((table * min(1.0, max(room, 0.0) / max(mean, 1e-300)))[places])

    def upper_ends(self, scores: Floats, weights: Floats, chance: float) -> Floats:
        """The height that what is hidden exceeds with this posterior probability; 0 if it is likelier to be lower."""
        total = SQUARES[1:, None] + self.nodes
        kept = SQUARES[1:, None] / total
        spread = np.sqrt(kept * self.nodes)
        ends = np.zeros(len(SIGNED))
        every = SQUARES[:, None] + self.nodes
        from scipy.special import ndtr  # loaded when errors are first asked for

        for at, score in enumerate(SIGNED):
            joint = np.exp(-0.5 * score**2 / every) * (self.chances / np.sqrt(every)) * weights[:, None]
            posterior = (joint / max(float(joint.sum()), 1e-300))[1:]
            tails = (posterior * ndtr((kept * score - HEIGHTS[:, None, None]) / spread)).sum(axis=(1, 2))
            beyond = tails < chance
            first = int(np.argmax(beyond)) if beyond.any() else len(HEIGHTS) - 1
            if first:
                logs = -np.log(tails[first - 1 : first + 1] + 1e-300)
                ends[at] = np.interp(-np.log(chance), logs, HEIGHTS[first - 1 : first + 1])
        return np.interp(scores, SIGNED, ends)


def at_most(weights: Floats, magnitude: float) -> Floats:
    """Weights scaled so that the mean magnitude of what is hidden stays below this: counts have no less than none."""
    mean = float(weights @ np.sqrt(SQUARES)) * sqrt(2 / np.pi)
    if mean <= magnitude:
        return weights
    scaled = weights * (magnitude / mean)
    scaled[0] += 1.0 - scaled.sum()
    return np.asarray(scaled)


# What a recovery that measured cells, all or those of dense blocks, may have smoothed away: by detail, and by cell;
# learned per level, and by how dense the neighbourhood is.

FINE_GATE = 6.0
"""Nats of evidence at which hidden structure is believed by half on levels of many details, and in cells."""

FEW_DETAILS, MANY_DETAILS = 64, 256
"""Levels of fewer details than the first are learned in one class; of more than the second, by the fine gate."""

BORROWED = 16.0
"""Details that the levels next to a level lend it, at most; those beyond half as many, and so on."""

UNEVEN, UNEVEN_FROM = 0.02, 32
"""Nothing is quite even: the halves of so many cells, or more, differ by this share of their sum, in the mean square,
though nothing is seen of it. A year has seasons, however noisy its days are. (Where cells were measured in dense blocks
only, the sums of the others would have shown it.)"""

BUSY: Floats = np.array([0.5, 2.0])
"""Classes of neighbourhood: their mean, as a multiple of the mean of all cells."""


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
            # Where a tree chose groups, it has found that they are flat: few details are no reason for doubt.
            gate = FINE_GATE if few >= MANY_DETAILS else GATE if self.chosen else GATE * min(1.0, few / 32)
            weights = rests.learn(_with_neighbours(seen, at), gate)
            unit = self.units[part]
            # Where the estimate follows the observed, little is left over, and as little can be hidden.
            unseen = np.minimum(self.learned.rests[part], unit)
            magnitudes = under[part] * 2.0 ** ((at + 1) / 2) / np.sqrt(unit)
            busy = np.searchsorted(BUSY * self.mean if few >= FEW_DETAILS else BUSY[:0], under[part])
            for kind in range(len(BUSY) + 1):
                here = (busy == kind) & measured
                if not here.any():
                    continue
                local = rests.learn(histogram(places[here]), gate, weights) if few >= FEW_DETAILS else weights
                local = self._bounded(local, magnitudes[here])
                found[part.start : part.stop][here] = unseen[here] * rests.mean_squares(places[here], local)
            if few < FEW_DETAILS and self.fit.nonnegative:
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
