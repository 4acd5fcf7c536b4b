"""Exact discrete Gaussian noise of any rational variance, vectorised, with full support (discrete_gaussian.md).

Slabs cover the graph of exp(−x²/2σ²), laid out over 63-bit words. A compiled kernel chooses a slab and a height in it
by one random word, and accepts what lies under the graph. What a float cannot decide for certain, and the tail, it
leaves open, to be settled in Python's integers.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.jit import kernel
from sparsedp.laws import checked_variance
from sparsedp.noise.coins import Formula, Probability, bernoulli, exponential
from sparsedp.noise.discrete_laplace import ExactGeometric, flat_view, wrapped
from sparsedp.noise.source import BitStream, RandomSource
from sparsedp.validate import MAX_CELLS, whole

HEIGHT_BITS = 63
"""Bits of the uniform number that chooses a slab and a height in it at once; the word's last bit is the sign."""

GUIDE_BITS = 12
_SLABS_A_DEVIATION = 32
_REACH = 8
_PRECISION = 256
_FIXED_ONE = 1 << _PRECISION

_Bounds = tuple[int, int]
"""Integers around 2²⁵⁶·v for some real v."""

FLOAT_MARGIN = 2.0**-44
"""How far a float may be off, as a share of the slab's height; discrete_gaussian.md proves a fiftieth of it."""

# Integers below 2⁶³ are signed here: mixed with unsigned ones, numba would turn them into floats.
_NUMBER_BITS = np.int64(2**HEIGHT_BITS - 1)
_CELL = np.int64(HEIGHT_BITS - GUIDE_BITS)
_TERMS = 12

_CHUNK_WORDS = 1 << 15
_LATER_BITS = 64


def discrete_gaussian(variance: Fraction, size: int, source: RandomSource) -> Ints:
    """`size` independent X with P(X = x) ∝ exp(−x²/(2·variance)) on all integers, modulo 2⁶⁴ as int64."""
    noise = np.zeros(whole("size", size, least=0, most=MAX_CELLS), dtype=np.int64)
    add_discrete_gaussian(noise, variance, source)
    return noise


def add_discrete_gaussian(values: Ints, variance: Fraction, source: RandomSource) -> None:
    """Add independent discrete Gaussian noise to every value, in place, modulo 2⁶⁴.

    Guarantee: ρ-zCDP if the variance is at least Δ₂²/(2ρ), where Δ₂ bounds the L2 change of `values` between
    neighbours; proof in discrete_gaussian.md. Variances up to 2¹¹⁰. One fresh key a call; extra memory does not
    grow with the number of values.
    """
    table = gaussian_table(checked_variance(variance))
    flat = flat_view(values)
    words = np.zeros(min(_CHUNK_WORDS, _candidates_for(flat.size) * table.words), dtype=np.int64)
    layout = table.guide, table.ends.view(np.int64), table.certain.view(np.int64), table.starts, table.heights
    offsets = table.width - 1
    placed = 0
    try:
        with source.draw() as stream:
            while placed < flat.size:
                used = words[: _candidates_for(flat.size - placed) * table.words]
                stream.fill(used.view(np.uint64))
                position = 0
                while position < used.size // table.words and placed < flat.size:
                    position, placed = place_candidates(
                        used, table.words, position, flat, placed, *layout, offsets, table.decay
                    )
                    if position < used.size // table.words and placed < flat.size:
                        candidate = used[position * table.words : (position + 1) * table.words]
                        noise = _settle(table, int(candidate[0]), int(candidate[-1] & offsets), stream)
                        if noise is not None:
                            flat[placed] = wrapped(int(flat[placed]) + noise)
                            placed += 1
                        position += 1
    finally:
        words.fill(0)


def _candidates_for(values: int) -> int:
    """A few more than the values: about one candidate in a hundred is refused."""
    return values + values // 50 + 8 if values else 0


def _settle(table: GaussianTable, word: int, offset: int, stream: BitStream) -> int | None:
    """The noise of a candidate that the kernel left open, or None if it is refused; exact, in Python's integers."""
    sign = -1 if word < 0 else 1
    slab, above = table.slab_of(~word % 2**HEIGHT_BITS)
    if slab < table.tail:
        magnitude = int(table.starts[slab]) + offset
        return sign * magnitude if _below(table.height_of(magnitude), above, stream) else None
    if not _below(table.tail_height(), above, stream):
        return None
    beyond = ExactGeometric(table.variance / table.tail_start).draw(stream)
    if not bernoulli(exponential(beyond * beyond / (2 * table.variance)), stream):
        return None
    return sign * (table.tail_start + beyond)


def _below(height: Probability, above: int, stream: BitStream) -> bool:
    """Whether the real number whose first 63 places are `above` lies below the height; its later places are drawn."""
    places = HEIGHT_BITS
    while True:
        low, high = height.enclose(places)
        if above + 1 <= low:
            return True
        if above >= high:
            return False
        above = above << _LATER_BITS | stream.bits(_LATER_BITS)
        places += _LATER_BITS


@kernel
def place_candidates(
    words: npt.NDArray[np.int64],
    per_candidate: int,
    position: int,
    values: Ints,
    placed: int,
    guide: npt.NDArray[np.int16],
    ends: Ints,
    certain: Ints,
    starts: Ints,
    heights: Floats,
    offsets: int,
    decay: float,
) -> tuple[int, int]:
    """Add the candidates that are accepted to the values in turn, modulo 2⁶⁴; where it stopped in both.

    It stops when either is used up, or before a candidate that is in the tail or too close to call. A candidate's
    first word is a sign bit and the complement of a number; its last word's low bits are the offset in the slab.
    """
    candidates = words.size // per_candidate
    tail = starts.size
    while position < candidates and placed < values.size:
        word = words[position * per_candidate]
        number = ~word & _NUMBER_BITS
        slab = guide[number >> _CELL]
        # The last end is 2⁶³, out of reach: what lies past all others is in the last slab.
        while slab <= tail and number >= ends[slab]:
            slab += 1
        if slab == tail:
            break
        if slab < tail:
            offset = words[position * per_candidate + per_candidate - 1] & offsets if slab else np.int64(0)
            above = number - (ends[slab - 1] if slab else np.int64(0))
            accepted = above < certain[slab]
            if not accepted:
                exponent = float(offset) * (float(2 * starts[slab]) + float(offset)) * decay
                factor = 1.0
                for term in range(_TERMS, 0, -1):
                    factor = 1.0 - exponent * (1.0 / term) * factor
                room = heights[slab] * factor - float(above)
                margin = heights[slab] * FLOAT_MARGIN
                accepted = room >= 1.0 + margin
                if not accepted and room > -margin:
                    break
            if accepted:
                # All ones for a negative word: (x ^ sign) − sign is then −x, without a branch.
                sign = word >> np.int64(63)
                values[placed] += ((starts[slab] + offset) ^ sign) - sign
                placed += 1
        position += 1
    return position, placed


# ---- what a variance comes to: slabs under the curve


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
        upper = _FIXED_ONE + 2 * self.width * sum(high for _, high in edges[:-1]) + tail
        # Rounding every slab up adds less than one unit a slab: there is room for that and for the void one.
        self.unit = (2**HEIGHT_BITS - slabs - 2) * _FIXED_ONE // upper
        self.factor = 2 * self.width * self.unit
        sizes = [self.unit, *(_rounded_up(self.factor * high) for _, high in edges[:-1]), _rounded_up(self.unit * tail)]
        sizes.append(2**HEIGHT_BITS - sum(sizes))
        self.ends = np.cumsum(np.array(sizes, dtype=np.uint64), dtype=np.uint64)
        self.starts: Ints = np.array([0, *range(1, self.tail_start, self.width)], dtype=np.int64)
        # Below the least height in its slab a number is accepted whatever the offset is.
        least = edges[:-1] if self.width == 1 else edges[1:]
        certain = [self.unit, *(self.factor * low >> _PRECISION for low, _ in least), 0, 0]
        self.certain: npt.NDArray[np.uint64] = np.array(certain, dtype=np.uint64)
        heights = [float(Fraction(self.factor * low, _FIXED_ONE)) for low, _ in edges[:-1]]
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

    def enclose(self, bits: int) -> _Bounds:
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


def _edge_heights(variance: Fraction, width: int, slabs: int) -> list[_Bounds]:
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


def _product(one: _Bounds, other: _Bounds) -> _Bounds:
    return one[0] * other[0] >> _PRECISION, _rounded_up(one[1] * other[1])


def _tail_mass(edge: _Bounds, ratio: _Bounds) -> int:
    """An upper bound on 2·h/(1 − q): both signs of a geometric curve that begins at height h."""
    return -(-2 * edge[1] * _FIXED_ONE // (_FIXED_ONE - ratio[1]))


def _rounded_up(number: int) -> int:
    return -(-number >> _PRECISION)


@lru_cache(maxsize=64)
def gaussian_table(variance: Fraction) -> GaussianTable:
    """The table of a variance, kept for the next draw of the same variance."""
    return GaussianTable(variance)
