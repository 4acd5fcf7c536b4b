"""The compiled comparison of random words with digit probabilities: the only part whose speed matters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.jit import kernel

BLOCK = 512
"""Variables drawn together: a block's partial sums stay in the nearest cache while its rows stream past."""

SIGN_BIT = np.uint16(0x8000)
_MAGNITUDE = np.uint16(0x7FFF)
# ±1 digits of weights 1 … 2¹⁴ sum to less than 2¹⁵, so fifteen rows fit in 16-bit partial sums.
_ROWS_PER_SUM = 15


@kernel
def add_digit_words(
    words: npt.NDArray[np.uint16],
    first: npt.NDArray[np.uint16],
    values: Integers,
    sums: npt.NDArray[np.int16],
    tied: npt.NDArray[np.uint8],
    ties: Integers,
) -> int:
    """Add Σᵢ 2ⁱ·dᵢ to every value modulo 2⁶⁴, and list the words that leave their digit open.

    `words` is blocks × rows × BLOCK random words. Value j of block b reads words[b, :, j]: the top bit of
    word i is the sign of digit i, and the rest is compared with first[i]. Below, the digit is ±1; above, 0;
    equal, the flat position of the word is put into `ties` and the digit counts as 0 until the caller settles
    it. Returns the number of ties. The work done does not depend on the words, except for listing ties.
    """
    blocks, rows, _ = words.shape
    found = 0
    for b in range(blocks):
        start = b * BLOCK
        count = min(BLOCK, values.size - start)
        for j in range(BLOCK):
            tied[j] = 0
        for base in range(0, rows, _ROWS_PER_SUM):
            for j in range(BLOCK):
                sums[j] = 0
            for row in range(base, min(rows, base + _ROWS_PER_SUM)):
                threshold = first[row]
                weight = np.uint16(1 << (row - base))
                line = words[b, row]
                for j in range(BLOCK):
                    magnitude = np.uint16(line[j] & _MAGNITUDE)
                    # All ones for a negative digit: (x ^ sign) − sign is then −x, without a branch.
                    sign = np.uint16(np.int16(line[j]) >> np.int16(15))
                    digit = weight if magnitude < threshold else np.uint16(0)
                    sums[j] += np.int16((digit ^ sign) - sign)
                    tied[j] |= np.uint8(magnitude == threshold)
            for j in range(count):
                values[start + j] += np.int64(sums[j]) << base
        for j in range(count):
            if tied[j]:
                for row in range(rows):
                    if words[b, row, j] & _MAGNITUDE == first[row]:
                        ties[found] = (b * rows + row) * BLOCK + j
                        found += 1
    return found
