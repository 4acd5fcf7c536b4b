"""The compiled choice among a table's slabs: what a float cannot decide for certain is left open."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.jit import kernel
from sparsedp.noise.gaussian_table import GUIDE_BITS, HEIGHT_BITS

MARGIN = 2.0**-44
"""How far a float may be off, as a share of the slab's height; discrete_gaussian.md proves a fiftieth of it."""

# Integers below 2⁶³ are signed here: mixed with unsigned ones, numba would turn them into floats.
_NUMBER = np.int64(2**HEIGHT_BITS - 1)
_CELL = np.int64(HEIGHT_BITS - GUIDE_BITS)
_TERMS = 12


@kernel
def place_candidates(
    words: npt.NDArray[np.int64],
    per_candidate: int,
    position: int,
    values: Integers,
    placed: int,
    guide: npt.NDArray[np.int16],
    ends: Integers,
    certain: Integers,
    starts: Integers,
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
        number = ~word & _NUMBER
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
                margin = heights[slab] * MARGIN
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
