"""The law of a weighted sum of independent noise: its quantiles, from the laws of the terms (guaranteed.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, inf, isfinite, log, sqrt
from statistics import NormalDist

import numpy as np

from sparsedp.arrays import Floats, usual_warnings
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw

NEARLY_NORMAL = 0.03
"""A sum of less excess kurtosis is taken as normal but for that: the sum of a hundred Laplace terms. (One has 3.)"""

UNFELT = 1e-40
"""Noise of so little variance is 0 but with a chance of no more than that."""

FEW = 32
"""So many terms are never taken as normal: their steps may be felt."""

GRID_STEPS = 256
"""To a deviation of the sum: the grid on which the law of terms of several kinds is computed."""

MOST_MULTIPLES = 128
"""Weights that are multiples of one step, up to so many, are summed exactly, on the grid of that step."""

COARSE = 32
"""A term whose own steps are at least so many of the grid is summed as it is, its weight rounded up to the grid; others
as if they came in steps of the grid, with the same variance."""

FINE = 2.0
"""A term of no more steps of the grid in deviation is taken as normal; so is a Gaussian one of fine steps."""

SUMMED, TURNS = 1.0, 2
"""A narrower discrete Gaussian law is summed term by term; of others the turns beyond two are below rounding."""

LARGEST = 2**19
"""Points of a grid: a law that needs more is computed on a coarser one."""

BEYOND = 1e-15
"""The probability of all sums that are left out, on either side."""


@dataclass(frozen=True)
class NoiseSum:
    """Σ weight·noise over independent terms: for every law the weights of its terms, and how many have each.

    The signs of weights do not matter: the laws are symmetric.
    """

    terms: tuple[tuple[IndependentLaw, Floats, Floats], ...]

    @classmethod
    def of(cls, *terms: tuple[IndependentLaw, Floats]) -> NoiseSum:
        """Every weight of a law's terms, one by one."""
        return cls(tuple((law, np.ravel(weights), np.ones(np.size(weights))) for law, weights in terms))

    def times(self, factor: float) -> NoiseSum:
        """All weights times a factor."""
        return NoiseSum(tuple((law, weights * factor, counts) for law, weights, counts in self.terms))

    @property
    def merged(self) -> NoiseSum:
        """The same, with equal weights of a law as one term: quicker to ask again and again."""
        found = []
        for term in self._distinct():
            found.append((term.law, np.array([term.weight]), np.array([float(term.count)])))
        return NoiseSum(tuple(found))

    @cached_property
    def variance(self) -> float:
        """Of the sum, exactly."""
        return float(sum(law.variance * float(counts @ weights**2) for law, weights, counts in self.terms))

    @usual_warnings()
    def quantile(self, level: float) -> float:
        """The least x with P(sum ≤ x) ≥ level, for levels from ½ on.

        Exact for one term, and for weights that are small multiples of one step where the grid has room; else within a
        hundredth, as the tests hold it to, and rather too large.
        """
        felt = NoiseSum(tuple(term for term in self.terms if term[0].variance > UNFELT))
        largest = max((float(np.abs(weights).max(initial=0.0)) for _, weights, _ in felt.terms), default=0.0)
        if largest == 0.0:
            return 0.0
        return largest * felt.times(1 / largest)._quantile(level)

    def _quantile(self, level: float) -> float:
        """Of weights up to one."""
        terms = list(self._distinct())
        if not terms:
            return 0.0
        if not isfinite(self.variance):
            return inf
        if len(terms) == 1 and terms[0].count == 1:
            return terms[0].weight * terms[0].law.quantile(level)
        if abs(self._excess) <= NEARLY_NORMAL and sum(term.count for term in terms) > FEW:
            return self._nearly_normal(level, terms)
        exact = _on_a_common_grid(terms, level)
        return _on_a_fine_grid(terms, sqrt(self.variance), level) if exact is None else exact

    @cached_property
    def _excess(self) -> float:
        """The excess kurtosis: cumulants of independent terms add up."""
        fourth = sum(
            (law.fourth_moment - 3 * law.variance**2) * float(counts @ weights**4)
            for law, weights, counts in self.terms
        )
        return float(fourth) / self.variance**2 if self.variance else 0.0

    def _distinct(self) -> Iterator[_Term]:
        for law, weights, counts in self.terms:
            there = (weights != 0) & (counts > 0)
            sizes = np.abs(weights[there])
            if sizes.size:
                digits = 10.0 ** np.floor(np.log10(sizes))
                rounded, place = np.unique(np.round(sizes / digits, 12) * digits, return_inverse=True)
                for size, count in zip(rounded, np.bincount(place.reshape(-1), counts[there]), strict=True):
                    yield _Term(law, float(size), round(float(count)))

    def _nearly_normal(self, level: float, terms: list[_Term]) -> float:
        """By the first term of Cornish's and Fisher's expansion; all of equal terms lie within half a step of it."""
        normal = NormalDist().inv_cdf(level)
        reach = sqrt(self.variance) * (normal + self._excess / 24 * (normal**3 - 3 * normal))
        if len(terms) > 1:
            return reach
        step = terms[0].weight
        return step * max(0, ceil(reach / step - 0.5))


@dataclass(frozen=True)
class _Term:
    """So many independent noises of one law, all with one weight."""

    law: IndependentLaw
    weight: float
    count: int

    @property
    def deviation(self) -> float:
        return self.weight * sqrt(self.law.variance)


def _on_a_common_grid(terms: list[_Term], level: float) -> float | None:
    """The quantile where all weights are small multiples of one step; None if they are not, or are too wide."""
    step = _common_step(np.array([term.weight for term in terms]))
    if step is None:
        return None
    whole = [(term.law, round(term.weight / step), term.count) for term in terms]
    farthest = _farthest([(law, float(factor), count) for law, factor, count in whole], 0.0)
    if 4 * farthest > LARGEST:
        return None
    size = 1 << (2 * farthest).bit_length()
    return step * _upper(_product([(_characteristic(law, size), factor, count) for law, factor, count in whole]), level)


def _on_a_fine_grid(terms: list[_Term], deviation: float, level: float) -> float:
    """The quantile of a sum of terms of any weights, on a grid of which `deviation` has so many steps."""
    step, normal = deviation / GRID_STEPS, 0.0
    stepped: list[tuple[IndependentLaw, int, int]] = []
    smooth: list[tuple[float, int]] = []
    for term in terms:
        if term.weight >= COARSE * step:
            stepped.append((term.law, ceil(term.weight / step - 1e-9), term.count))
        elif term.deviation > FINE * step and isinstance(term.law, DiscreteLaplaceLaw):
            smooth.append((term.deviation / step, term.count))
        else:
            normal += term.count * (term.deviation / step) ** 2
    reaches: list[tuple[IndependentLaw | float, float, int]] = [
        *((law, float(factor), count) for law, factor, count in stepped),
        *((width / sqrt(2), 1.0, count) for width, count in smooth),
    ]
    size = min(1 << (2 * _farthest(reaches, normal)).bit_length(), LARGEST)
    whole = _product([(_characteristic(law, size), factor, count) for law, factor, count in stepped], size)
    cosines = np.cos(2 * np.pi * np.arange(size // 2 + 1) / size)
    for width, count in _merged(smooth):
        # The discrete Laplace law of this variance: q/(1 − q)² is half of it.
        half = 1 + 1 / width**2
        ratio = 1 / (half + sqrt(half**2 - 1))
        whole *= ((1 - ratio) ** 2 / ((1 - ratio) ** 2 + 2 * ratio * (1 - cosines))) ** count
    whole *= np.exp(-normal / 2 * (2 * np.pi * np.arange(size // 2 + 1) / size) ** 2)
    return step * _upper(whole, level)


def _merged(smooth: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Of very many widths, those that differ by less than half a per cent as the wider one."""
    if len(smooth) <= GRID_STEPS:
        return smooth
    widths, counts = (np.array(part, np.float64) for part in zip(*smooth, strict=True))
    places = np.ceil(np.log(widths) / 0.005).astype(np.int64)
    merged = np.bincount(places - places.min(), counts)
    return [(exp(0.005 * (place + int(places.min()))), int(merged[place])) for place in np.flatnonzero(merged)]


def _common_step(weights: Floats) -> float | None:
    """The step that all weights are multiples of, the greatest of at most `MOST_MULTIPLES`, if there is one."""
    for parts in range(1, 17):
        multiples = weights * (parts / float(weights.min()))
        if multiples.max() > MOST_MULTIPLES:
            return None
        if np.abs(multiples - np.rint(multiples)).max() < 1e-9:
            return float(weights.min()) / parts
    return None


def _product(parts: list[tuple[Floats, int, int]], size: int | None = None) -> Floats:
    """The characteristic function of the sum at the roots of unity, those of the terms being known there."""
    size = len(parts[0][0]) if size is None else size
    places, whole = np.arange(size // 2 + 1), np.ones(size // 2 + 1)
    for one, factor, count in parts:
        whole *= one[places * factor % size] ** count
    return whole


def _upper(characteristic: Floats, level: float) -> float:
    """The least whole number with so much probability up to it; symmetric laws."""
    size = 2 * (len(characteristic) - 1)
    probabilities = np.fft.irfft(characteristic, size)
    # P(sum > x) for x = 0, 1, …: summed from the far end, so that small tails keep their digits.
    tails = np.cumsum(probabilities[1 : size // 2 + 1][::-1])[::-1]
    return float(np.count_nonzero(tails > 1 - level))


def _characteristic(law: IndependentLaw, size: int) -> Floats:
    """E exp(2πi·jX/size) for j = 0, …, size − 1: real, for the law is symmetric.

    Of a discrete Gaussian by Poisson's summation: a sum over whole turns of the angle, of which a few count.
    """
    angles = 2 * np.pi * np.arange(size) / size
    if isinstance(law, DiscreteGaussianLaw):
        square = float(law.variance_parameter)
        turns = range(-TURNS, TURNS + 1)
        if square < SUMMED:
            far = law.quantile(1 - BEYOND)
            return sum((2 * law.pmf(x) * np.cos(x * angles) for x in range(1, far + 1)), np.full(size, law.pmf(0)))
        angles = np.minimum(angles, 2 * np.pi - angles)
        whole = sum(exp(-square / 2 * (2 * np.pi * turn) ** 2) for turn in turns)
        return sum((np.exp(-square / 2 * (angles + 2 * np.pi * turn) ** 2) for turn in turns), np.zeros(size)) / whole
    ratio = float(np.exp(-float(1 / law.scale)))
    return np.asarray((1 - ratio) ** 2 / ((1 - ratio) ** 2 + 2 * ratio * (1 - np.cos(angles))))


def _farthest(terms: list[tuple[IndependentLaw | float, float, int]], normal: float) -> int:
    """P(sum > farthest) ≤ BEYOND, by Chernoff's bound: so many of each law times a factor, beside a normal variance.

    A discrete Laplace variable of scale s has E exp(tX) ≤ 1/(1 − (ts)²), which is taken at t = 1/2s over the greatest
    s·factor; a discrete Gaussian one has E exp(tX) ≤ exp(t²σ²/2). Without a Laplace term the bound is that of a normal
    sum. In place of a law its scale may stand.
    """
    scales, counts = [], []
    for law, factor, count in terms:
        if isinstance(law, DiscreteGaussianLaw):
            normal += count * factor**2 * float(law.variance_parameter)
        else:
            scales.append(factor * (law if isinstance(law, float) else float(law.scale)))
            counts.append(count)
    if not scales:
        return 1 + ceil(sqrt(-2 * log(BEYOND) * normal))
    sizes, many = np.array(scales), np.array(counts)
    t = min(1 / (2 * float(sizes.max())), sqrt(-2 * log(BEYOND) / normal) if normal else inf)
    growth = -float((many * np.log1p(-((t * sizes) ** 2))).sum()) + t**2 * normal / 2
    return 1 + ceil((growth - log(BEYOND)) / t)
