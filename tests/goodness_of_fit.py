"""Chi-square tests of integer samples against the discrete Laplace law and against each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import stats

from sparsedp.laws import DiscreteLaplaceLaw, IndependentLaw

Integers = npt.NDArray[np.int64]

SCALES = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(10),
    Fraction(1000),
    Fraction(10**6),
    Fraction(10**9),
]


def bin_edges(scale: Fraction, bins: int = 16) -> list[int]:
    """Upper ends x of the bins (…, x], from the exact law's quantiles; fewer where the law has few likely values."""
    law = DiscreteLaplaceLaw(scale)
    return sorted({law.quantile(level) for level in np.linspace(0, 1, bins + 1)[1:-1].tolist()} | {-1, 0})


def counts_in_bins(sample: Integers, edges: list[int]) -> npt.NDArray[np.int64]:
    return np.bincount(np.searchsorted(np.array(edges), sample, side="left"), minlength=len(edges) + 1)


def fit_p_value(sample: Integers, scale: Fraction) -> float:
    """The chi-square p-value of the sample under the exact law of that scale."""
    edges = bin_edges(scale)
    law = DiscreteLaplaceLaw(scale)
    cumulative = np.array([0.0, *(law.cdf(edge) for edge in edges), 1.0])
    expected = np.diff(cumulative) * sample.size
    return float(stats.chisquare(counts_in_bins(sample, edges), expected).pvalue)


def same_law_p_value(sample: Integers, other: Integers, scale: Fraction) -> float:
    """The chi-square p-value of two samples having one law, in the bins of the scale."""
    edges = bin_edges(scale)
    table = np.array([counts_in_bins(sample, edges), counts_in_bins(other, edges)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def uniform_if_true(sample: Integers, law: IndependentLaw, jitter: np.random.Generator) -> list[float]:
    """The randomised probability transform: exactly uniform if, and only if, the sample follows the law.

    For samples whose scales differ: transform each with its own law, and test them together.
    """
    values, which = np.unique(sample, return_inverse=True)
    below = np.array([law.cdf(value - 1) for value in values.tolist()])
    mass = np.array([law.pmf(value) for value in values.tolist()])
    return list(below[which] + mass[which] * jitter.random(sample.size))
