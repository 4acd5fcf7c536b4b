"""How the discrete Gaussian's mass is laid out over 63-bit words, for one variance; public throughout."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.noise.probability import Formula, Probability, exponential

HEIGHT_BITS = 63
"""Bits of the uniform number that chooses a slab and a height in it at once; the word's last bit is the sign."""

GUIDE_BITS = 12
_SLABS_A_DEVIATION = 32
_REACH = 8
_PRECISION = 256
_ONE = 1 << _PRECISION

Bounds = tuple[int, int]
"""Integers around 2²⁵⁶·v for some real v."""


class GaussianTable:
    """Slabs that cover the graph of exp(−x²/2σ²), one after the other along the integers below 2⁶³.

    Slab 0 is the value 0, of height `unit`. Slab j ≥ 1 holds the magnitudes `starts[j]` + r, 0 ≤ r < `width`, of either
    sign; the height of magnitude y in it is 2·width·unit·exp(−y²/2σ²), which at `starts[j]` is at most the slab's
    size. The last slab but one is the tail: all magnitudes from `tail_start` upwards. The last one is void.
    """

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        self.width = _width(variance)
        slabs = _slabs(variance, self.width)
        self.tail_start = 1 + slabs * self.width
        edges = _edge_heights(variance, self.width, slabs)
        tail = _tail_mass(edges[-1], exponential(self.tail_start / variance).enclose(_PRECISION))
        upper = _ONE + 2 * self.width * sum(high for _, high in edges[:-1]) + tail
        # Rounding every slab up adds less than one unit a slab: there is room for that and for the void one.
        self.unit = (2**HEIGHT_BITS - slabs - 2) * _ONE // upper
        self.factor = 2 * self.width * self.unit
        sizes = [self.unit, *(_rounded_up(self.factor * high) for _, high in edges[:-1]), _rounded_up(self.unit * tail)]
        sizes.append(2**HEIGHT_BITS - sum(sizes))
        self.ends = np.cumsum(np.array(sizes, dtype=np.uint64), dtype=np.uint64)
        self.starts: Integers = np.array([0, *range(1, self.tail_start, self.width)], dtype=np.int64)
        # Below the least height in its slab a number is accepted whatever the offset is.
        least = edges[:-1] if self.width == 1 else edges[1:]
        certain = [self.unit, *(self.factor * low >> _PRECISION for low, _ in least), 0, 0]
        self.certain: npt.NDArray[np.uint64] = np.array(certain, dtype=np.uint64)
        heights = [float(Fraction(self.factor * low, _ONE)) for low, _ in edges[:-1]]
        self.heights: Floats = np.array([float(self.unit), *heights])
        cells = np.arange(2**GUIDE_BITS, dtype=np.uint64) << np.uint64(HEIGHT_BITS - GUIDE_BITS)
        self.guide = np.searchsorted(self.ends, cells, side="right").astype(np.int16)
        # With one magnitude a slab there is no offset, and 1/2σ² may exceed every float.
        self.decay = 0.0 if self.width == 1 else float(1 / (2 * variance))

    @property
    def tail(self) -> int:
        """The number of the tail's slab."""
        return self.starts.size

    @property
    def words(self) -> int:
        """The number of random words a candidate takes: one to choose by, and one for the offset if there is any."""
        return 1 if self.width == 1 else 2

    def slab_of(self, number: int) -> tuple[int, int]:
        """The slab that a 63-bit number falls in, and how far above the slab's beginning."""
        slab = int(np.searchsorted(self.ends, np.uint64(number), side="right"))
        return slab, number - (int(self.ends[slab - 1]) if slab else 0)

    def height_of(self, magnitude: int) -> Probability:
        """The exact height of a magnitude within its slab, as a share of 2⁶³."""
        return Scaled(exponential(magnitude * magnitude / (2 * self.variance)), self.factor)

    def tail_height(self) -> Probability:
        """The exact mass 2·unit·exp(−X²/2σ²)/(1 − exp(−X/σ²)) of the curve that covers the tail, as a share of 2⁶³."""
        start, variance = self.tail_start, self.variance

        def mass(iv: Any) -> Any:
            slope = iv.mpf(start * variance.denominator) / iv.mpf(variance.numerator)
            return self.unit * iv.exp(-slope * start / 2) / (1 - iv.exp(-slope)) / iv.mpf(2 ** (HEIGHT_BITS - 1))

        return Formula(mass)


class Scaled(Probability):
    """factor·p/2⁶³ for a probability p."""

    def __init__(self, probability: Probability, factor: int) -> None:
        self._probability = probability
        self._factor = factor

    def enclose(self, bits: int) -> Bounds:
        """Bounds from bounds on p with as many bits more as the factor has."""
        more = self._factor.bit_length()
        low, high = self._probability.enclose(bits + more)
        shift = more + HEIGHT_BITS
        return self._factor * low >> shift, -(-self._factor * high >> shift)


def _width(variance: Fraction) -> int:
    """The greatest power of two that is at most σ/32, and 1 where there is none."""
    ratio = isqrt(variance.numerator // (variance.denominator * _SLABS_A_DEVIATION**2))
    return 1 << max(0, ratio.bit_length() - 1)


def _slabs(variance: Fraction, width: int) -> int:
    """The least k ≥ 0 with 1 + k·width ≥ 8σ."""
    wanted = isqrt(-(-(_REACH**2) * variance.numerator // variance.denominator) - 1) + 1
    return max(0, -(-(wanted - 1) // width))


def _edge_heights(variance: Fraction, width: int, slabs: int) -> list[Bounds]:
    """exp(−y²/2σ²) at y = 1, 1 + width, …, 1 + slabs·width: each from the one before by multiplication.

    The exponents are quadratic, so the ratios of neighbours themselves have one ratio. Every product rounds outwards.
    """
    height = exponential(1 / (2 * variance)).enclose(_PRECISION)
    step = exponential((2 * width + width * width) / (2 * variance)).enclose(_PRECISION)
    bend = exponential(width * width / variance).enclose(_PRECISION)
    heights = [height]
    for _ in range(slabs):
        height, step = _product(height, step), _product(step, bend)
        heights.append(height)
    return heights


def _product(one: Bounds, other: Bounds) -> Bounds:
    return one[0] * other[0] >> _PRECISION, _rounded_up(one[1] * other[1])


def _tail_mass(edge: Bounds, ratio: Bounds) -> int:
    """An upper bound on 2·h/(1 − q): both signs of a geometric curve that begins at height h."""
    return -(-2 * edge[1] * _ONE // (_ONE - ratio[1]))


def _rounded_up(number: int) -> int:
    return -(-number >> _PRECISION)


@lru_cache(maxsize=64)
def gaussian_table(variance: Fraction) -> GaussianTable:
    """The table of a variance, kept for the next draw of the same variance."""
    return GaussianTable(variance)
