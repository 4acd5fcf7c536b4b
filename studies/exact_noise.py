"""The intervals of an oracle: least squares over all of Φ, and the law of the noise in it. Slow and plain, for small n.

It knows the noise's law and the measured sums, as the library does, and shares none of its shortcuts: Φ is written out,
the weights of the sums come from one pseudo-inverse, and the law from its characteristic function, term by term.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, LayersLaw
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.marginals import Marginals
from sparsedp.synopsis import Synopsis

SMOOTHED = 60
"""The law is smoothed by a normal one of so small a part of its deviation: then its transform ends somewhere."""

FARTHEST = 12
"""In deviations, half of what the law is computed on."""


@dataclass(frozen=True)
class ExactIntervals:
    """Of what was measured: Φ, the noisy sums, and the law of each."""

    sensing: Floats
    values: Floats
    laws: tuple[tuple[IndependentLaw, int], ...]
    """In the order of the sums, each with how many they are."""

    inverse: Floats
    """(Φᵀ V⁻¹ Φ)⁺."""

    @classmethod
    def of(cls, synopsis: Synopsis) -> ExactIntervals | None:
        """None where noise is not independent from sum to sum."""
        law = synopsis.law
        if isinstance(law, DiscreteLaplaceLaw | DiscreteGaussianLaw):
            laws: tuple[tuple[IndependentLaw, int], ...] = ((law, len(synopsis.values)),)
        elif isinstance(law, LayersLaw) and isinstance(synopsis.sensing, GroupSums | Marginals):
            parts = synopsis.sensing.split(synopsis.values.astype(np.float64))
            laws = tuple((one, part.size) for one, part in zip(law.layers, parts, strict=True))
        else:
            return None
        sensing = np.asarray(synopsis.sensing.materialize(), np.float64)
        weighed = sensing.T / np.concatenate([np.full(count, one.variance) for one, count in laws])
        inverse = np.linalg.pinv(weighed @ sensing, rcond=1e-11, hermitian=True)
        return cls(sensing, synopsis.values.astype(np.float64), laws, inverse)

    def width(self, weights: Floats, level: float) -> float | None:
        """Of the interval around the generalised least-squares estimate, cut at zero; None where no combination of the
        sums makes up the query.
        """
        row = weights.reshape(-1)
        variances = np.concatenate([np.full(count, law.variance) for law, count in self.laws])
        combined = self.sensing @ (self.inverse @ row) / variances
        if np.abs(combined @ self.sensing - row).max() > 1e-6:
            return None
        value, reach = float(combined @ self.values), self._quantile(combined, (1 + level) / 2)
        return max(value + reach, 0.0) - max(value - reach, 0.0)

    def _quantile(self, combined: Floats, level: float) -> float:
        """Of Σ combined·noise: Gil-Pelaez' inversion, halved until it is known to a thousandth of a deviation."""
        counts = [count for _, count in self.laws]
        parts = list(zip((law for law, _ in self.laws), np.split(combined, np.cumsum(counts)[:-1]), strict=True))
        deviation = sqrt(sum(law.variance * float(part @ part) for law, part in parts))
        if deviation == 0.0:
            return 0.0
        step = pi / (FARTHEST * deviation)
        places = step * (np.arange(round(6 * SMOOTHED * FARTHEST / pi)) + 0.5)
        whole = np.exp(-0.5 * (places * deviation / SMOOTHED) ** 2)
        for law, part in parts:
            sizes, many = np.unique(np.round(np.abs(part) / deviation, 12), return_counts=True)
            for size, count in zip(sizes * deviation, many, strict=True):
                whole = whole * characteristic(law, size * places) ** count
        low, high = 0.0, FARTHEST * deviation / 2
        while high - low > 1e-3 * deviation:
            middle = (low + high) / 2
            below = 0.5 + float((np.sin(places * middle) / places * whole).sum()) * step / pi
            low, high = (middle, high) if below < level else (low, middle)
        return (low + high) / 2


def characteristic(law: IndependentLaw, places: Floats) -> Floats:
    """E cos(t·X) for each t."""
    turned = np.mod(places + pi, 2 * pi) - pi
    if isinstance(law, DiscreteLaplaceLaw):
        ratio = float(np.exp(-float(1 / law.scale)))
        return np.asarray((1 - ratio) ** 2 / ((1 - ratio) ** 2 + 2 * ratio * (1 - np.cos(turned))))
    # Poisson's summation: the normal law's transform, wrapped around the circle.
    around = 2 * pi * np.arange(-2, 3)
    wrapped = np.exp(-0.5 * float(law.variance_parameter) * np.add.outer(turned, around) ** 2).sum(axis=-1)
    return np.asarray(wrapped / np.exp(-0.5 * float(law.variance_parameter) * around**2).sum())
