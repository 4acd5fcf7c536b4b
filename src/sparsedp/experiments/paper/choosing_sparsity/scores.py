"""The paper's score u(D, S) for every S from 1 to n, in floats, and the law of the pick that its words describe.

What the library draws by is exact and restricted (`mechanisms/selection`); this is the formula as it is printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases import basis_from
from sparsedp.mechanisms.selection.sparsity_choice import SelectionConstants


@dataclass(frozen=True)
class Shares:
    """A budget ε, and the part of it that choosing S may spend."""

    epsilon: Fraction
    share: Fraction

    @property
    def choosing(self) -> Fraction:
        """What the exponential mechanism spends."""
        return self.share * self.epsilon

    @property
    def measuring(self) -> Fraction:
        """What is left for the samples."""
        return (1 - self.share) * self.epsilon


@dataclass(frozen=True)
class PaperScores:
    """u(D, S) = C₂·‖x − x_S‖₁/√S + C₄·S·log₂(n/S)/ε, its sensitivity C₅/√S, and who is picked by them."""

    bounds: Floats
    """u(D, S) at S = 1 … n."""
    sensitivities: Floats
    """C₅/√S."""

    def law(self, epsilon: Fraction) -> Floats:
        """The probability of each S from 1 to n: ∝ exp(−ε·u(S)/(2Δ(S))), as the paper has it."""
        exponents = float(epsilon) * self.bounds / (2 * self.sensitivities)
        weights = np.exp(exponents.min() - exponents)
        return np.asarray(weights / weights.sum())


def paper_scores(counts: Integers, basis: str, constants: SelectionConstants, measuring: Fraction) -> PaperScores:
    """The scores of all S; `measuring` is the ε in u."""
    cells = counts.size
    frame = basis_from(basis, cells)
    sizes = np.sort(np.abs(frame.analyze(counts.astype(np.float64))))
    below = np.concatenate([[0.0], np.cumsum(sizes)])
    sparsity = np.arange(1, cells + 1)
    tails = below[sizes.size - sparsity]
    tail_weight, noise_weight = float(constants.tail_weight), float(constants.noise_weight)
    noise = noise_weight * sparsity * np.log2(cells / sparsity) / float(measuring)
    sensitivities = tail_weight * float(frame.row_sum_bound) / np.sqrt(sparsity)
    return PaperScores(tail_weight * tails / np.sqrt(sparsity) + noise, sensitivities)
