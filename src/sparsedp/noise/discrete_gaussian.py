"""Exact discrete Gaussian noise of any rational variance, vectorised, with full support (discrete_gaussian.md)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.noise.bernoulli import bernoulli
from sparsedp.noise.gaussian_kernel import place_candidates
from sparsedp.noise.gaussian_law import checked_variance
from sparsedp.noise.gaussian_table import HEIGHT_BITS, GaussianTable, gaussian_table
from sparsedp.noise.geometric import ExactGeometric
from sparsedp.noise.in_place import flat_view, wrapped
from sparsedp.noise.probability import Probability, exponential
from sparsedp.noise.source import BitStream, RandomSource
from sparsedp.validate import MAX_CELLS, whole

_CHUNK_WORDS = 1 << 15
_LATER_BITS = 64


def discrete_gaussian(variance: Fraction, size: int, source: RandomSource) -> Integers:
    """`size` independent X with P(X = x) ∝ exp(−x²/(2·variance)) on all integers, modulo 2⁶⁴ as int64."""
    noise = np.zeros(whole("size", size, least=0, most=MAX_CELLS), dtype=np.int64)
    add_discrete_gaussian(noise, variance, source)
    return noise


def add_discrete_gaussian(values: Integers, variance: Fraction, source: RandomSource) -> None:
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
