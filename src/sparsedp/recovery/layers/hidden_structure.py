"""What the recovery may have smoothed away: empirical Bayes on what it left over.

The rest, observed − estimate, is noise and whatever truth the estimate lacks. Its law over many coefficients teaches a
prior of the latter: zero, or Gaussian of some scale. In units of the noise's deviation, everything tabulated by |z|.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p, sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.coefficient_noise import noise_nodes

Places = npt.NDArray[np.uint8]

SQUARES: Floats = np.concatenate([np.zeros(1), 4.0 ** np.arange(-3, 8)])
"""Variances of the prior's components, the first being none."""

VAGUE: Floats = np.concatenate([[0.5], np.full(5, 0.1), np.zeros(len(SQUARES) - 6)])
"""Imagined before anything is seen: as likely as not nothing; else up to two deviations."""

NULL_COUNT = 1.0
"""Coefficients that are imagined to hide nothing, beside the one of the vague prior."""

POOLED_COUNT = 10.0
"""How many coefficients a prior that was learned from more of them counts for."""

DEVIATIONS, KURTOSIS = 2.0, 5.0
"""What a mean square may be off by chance, and the variance of one square: that of Laplace noise."""

BINS, RESOLUTION = 160, 32.0
MIDDLES: Floats = np.expm1((np.arange(BINS) + 0.5) / RESOLUTION)
ROUNDS = 60

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
        places[i] = min(int(log1p(sqrt(rests[i] * rests[i] / units[i])) * RESOLUTION), BINS - 1)
    return places


def histogram(places: Places) -> Floats:
    """Counts by magnitude."""
    return np.bincount(places, minlength=BINS).astype(np.float64)


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
        pseudo = VAGUE.copy() if pooled is None else VAGUE + POOLED_COUNT * pooled
        pseudo[0] += NULL_COUNT
        # Every component has a share at first: one without would never get any.
        weights = 0.5 * pseudo / pseudo.sum() + 0.5 / len(pseudo)
        seen = counts > 0
        likelihood, count = self.densities[seen], counts[seen]
        for _ in range(ROUNDS):
            joint = likelihood * weights
            weights = (count / joint.sum(axis=1)) @ joint + pseudo
            weights /= weights.sum()
        gain = float(count @ (np.log(likelihood @ weights) - np.log(likelihood[:, 0])))
        weights /= 1.0 + exp(min(gate - gain, 700.0))
        weights[0] += 1.0 - weights.sum()
        return np.asarray(weights)

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
