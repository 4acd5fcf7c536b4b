"""Exact discrete Laplace noise of any rational scale, vectorised, with full support (discrete_laplace.md).

The noise is drawn digit by digit: +1, 0 or −1 times each power of two. A compiled kernel compares random words with the
first bits of the digits' probabilities; a tie goes on to later bits, and what lies above the digits, which is rare, to
geometric variables in Python's integers, which have no width.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.jit import kernel
from sparsedp.noise.coins import Probability, bernoulli, binary_digit, exponential, nonzero, signed_digit
from sparsedp.noise.source import BitStream, RandomSource
from sparsedp.validate import MAX_CELLS, positive, whole

VARIABLES_A_BLOCK = 512
"""Variables drawn together: a block's partial sums stay in the nearest cache while its rows stream past."""

_SIGN_BIT = np.uint16(0x8000)
_MAGNITUDE = np.uint16(0x7FFF)
# ±1 digits of weights 1 … 2¹⁴ sum to less than 2¹⁵, so fifteen rows fit in 16-bit partial sums.
_ROWS_PER_SUM = 15

FIRST_BITS = 15
"""Bits of an expansion that the kernel compares: a 16-bit word is one sign bit and these."""

LATER_BITS = 64
STORED_LATER_WORDS = 2
"""Words past the first that a table holds from the start: 15 + 2·64 = 143 certified bits a digit."""

_SCALES_COVERED = 17
"""M digits are drawn one by one, where 2ᴹ ≥ 17·s: a higher one is set with probability below 2⁻²⁴."""

_CHUNK_BYTES = 1 << 18
_MODULUS = 2**64


def discrete_laplace(scale: Fraction, size: int, source: RandomSource) -> Ints:
    """`size` independent X with P(X = x) ∝ exp(−|x|/scale) on all integers, reported modulo 2⁶⁴ as int64."""
    noise = np.zeros(whole("size", size, least=0, most=MAX_CELLS), dtype=np.int64)
    add_discrete_laplace(noise, scale, source)
    return noise


def add_discrete_laplace(values: Ints, scale: Fraction, source: RandomSource) -> None:
    """Add independent discrete Laplace noise to every value, in place, modulo 2⁶⁴.

    Guarantee: ε-DP if the scale is Δ/ε, where Δ bounds the L1 change of `values` between neighbours; proof
    in discrete_laplace.md. One fresh key a call; extra memory does not grow with the number of values.
    """
    table = digit_table(positive("scale", scale))
    flat = flat_view(values)
    block_bytes = table.rows * VARIABLES_A_BLOCK * 2
    blocks = min(-(-flat.size // VARIABLES_A_BLOCK), max(1, _CHUNK_BYTES // block_bytes))
    if blocks == 0:
        return
    words = np.zeros((blocks, table.rows, VARIABLES_A_BLOCK), dtype=np.uint16)
    sums, tied = np.zeros(VARIABLES_A_BLOCK, dtype=np.int16), np.zeros(VARIABLES_A_BLOCK, dtype=np.uint8)
    # Room for a tie at every word that a value reads, which never happens by chance but must not overrun memory either.
    ties = np.zeros(min(words.size, table.rows * flat.size), dtype=np.int64)
    try:
        with source.draw() as stream:
            for start in range(0, flat.size, blocks * VARIABLES_A_BLOCK):
                part = flat[start : start + blocks * VARIABLES_A_BLOCK]
                used = words[: -(-part.size // VARIABLES_A_BLOCK)]
                stream.fill(used)
                found = add_digit_words(used, table.first, part, sums, tied, ties)
                if found:
                    _settle_ties(part, used, ties[:found], table, stream)
    finally:
        words.fill(0)
        sums.fill(0)
        tied.fill(0)
        ties.fill(0)


def _settle_ties(values: Ints, words: npt.NDArray[np.uint16], ties: Ints, table: DigitTable, stream: BitStream) -> None:
    """Go on comparing where the first word was equal, and add the digits that turn out not to be 0."""
    in_block = ties % VARIABLES_A_BLOCK
    block, row = np.divmod(ties // VARIABLES_A_BLOCK, table.rows)
    below = _go_on_comparing(row, table, stream)
    sign = np.where(words.reshape(-1)[ties] & _SIGN_BIT, -1, 1)
    for index, digit, direction in zip(
        (block * VARIABLES_A_BLOCK + in_block)[below].tolist(),
        row[below].tolist(),
        sign[below].tolist(),
        strict=True,
    ):
        magnitude = 1 if digit < table.digits else 1 + table.high_part().draw(stream)
        values[index] = wrapped(int(values[index]) + direction * (magnitude << digit))


def _go_on_comparing(row: Ints, table: DigitTable, stream: BitStream) -> npt.NDArray[np.bool_]:
    """For each tied digit, whether the rest of its uniform number lies below the rest of its probability."""
    below = np.zeros(row.size, dtype=np.bool_)
    undecided = np.arange(row.size)
    depth = 0
    while undecided.size:
        fresh = np.zeros(undecided.size, dtype=np.uint64)
        stream.fill(fresh)
        expected = table.later(depth)[row[undecided]]
        below[undecided] = fresh < expected
        undecided = undecided[fresh == expected]
        fresh.fill(0)
        depth += 1
    return below


@kernel
def add_digit_words(
    words: npt.NDArray[np.uint16],
    first: npt.NDArray[np.uint16],
    values: Ints,
    sums: npt.NDArray[np.int16],
    tied: npt.NDArray[np.uint8],
    ties: Ints,
) -> int:
    """Add Σᵢ 2ⁱ·dᵢ to every value modulo 2⁶⁴, and list the words that leave their digit open.

    `words` is blocks × rows × VARIABLES_A_BLOCK random words. Value j of block b reads words[b, :, j]: the top bit of
    word i is the sign of digit i, and the rest is compared with first[i]. Below, the digit is ±1; above, 0;
    equal, the flat position of the word is put into `ties` and the digit counts as 0 until the caller settles
    it. Returns the number of ties. The work done does not depend on the words, except for listing ties.
    """
    blocks, rows, _ = words.shape
    found = 0
    for b in range(blocks):
        start = b * VARIABLES_A_BLOCK
        count = min(VARIABLES_A_BLOCK, values.size - start)
        for j in range(VARIABLES_A_BLOCK):
            tied[j] = 0
        for base in range(0, rows, _ROWS_PER_SUM):
            for j in range(VARIABLES_A_BLOCK):
                sums[j] = 0
            for row in range(base, min(rows, base + _ROWS_PER_SUM)):
                threshold = first[row]
                weight = np.uint16(1 << (row - base))
                line = words[b, row]
                for j in range(VARIABLES_A_BLOCK):
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
                        ties[found] = (b * rows + row) * VARIABLES_A_BLOCK + j
                        found += 1
    return found


# ---- what a scale comes to: the digits' probabilities in words


class DigitTable:
    """What drawing a discrete Laplace variable modulo 2⁶⁴ needs to know about its scale; public throughout.

    Row i < `digits` is the digit of weight 2ⁱ: it is +1, 0 or −1. The last row, where there is one, is the
    event that the part from 2^digits upwards is not 0; with 64 digits that part vanishes modulo 2⁶⁴, and the
    row with it.
    """

    def __init__(self, scale: Fraction) -> None:
        self.scale = scale
        self.digits = min(64, low_digits(scale))
        self.probabilities: list[Probability] = [signed_digit(2**i / scale) for i in range(self.digits)]
        if self.digits < 64:
            self.probabilities.append(nonzero(2**self.digits / scale))
        self._later: dict[int, npt.NDArray[np.uint64]] = {}
        longest = FIRST_BITS + STORED_LATER_WORDS * LATER_BITS
        expansions = [probability.floor(longest) for probability in self.probabilities]
        self.first = np.array([bits >> (longest - FIRST_BITS) for bits in expansions], dtype=np.uint16)
        for depth in range(STORED_LATER_WORDS):
            rest = (STORED_LATER_WORDS - 1 - depth) * LATER_BITS
            self._later[depth] = _last_words([bits >> rest for bits in expansions])

    @property
    def rows(self) -> int:
        """The number of random words that each variable takes."""
        return len(self.probabilities)

    def later(self, depth: int) -> npt.NDArray[np.uint64]:
        """Word `depth` after the first of every row's expansion; past the table, computed when asked for."""
        if depth not in self._later:
            bits = FIRST_BITS + (depth + 1) * LATER_BITS
            self._later[depth] = _last_words([probability.floor(bits) for probability in self.probabilities])
        return self._later[depth]

    def high_part(self) -> ExactGeometric:
        """The magnitude, less one, of the part from 2^digits upwards given that it is not 0 (memoryless)."""
        return ExactGeometric(self.scale / 2**self.digits)


def _last_words(expansions: list[int]) -> npt.NDArray[np.uint64]:
    return np.array([bits & (2**LATER_BITS - 1) for bits in expansions], dtype=np.uint64)


@lru_cache(maxsize=64)
def digit_table(scale: Fraction) -> DigitTable:
    """The table of a scale, kept for the next draw of the same scale."""
    return DigitTable(scale)


# ---- the rare high digits, one variable at a time


def low_digits(scale: Fraction) -> int:
    """M: the least M ≥ 0 with 2ᴹ ≥ 17·scale. A function of the scale alone, which is public."""
    return (-(-_SCALES_COVERED * scale.numerator // scale.denominator) - 1).bit_length()


class ExactGeometric:
    """G on 0, 1, 2, … with P(G = g) ∝ exp(−g/s), drawn digit by digit."""

    def __init__(self, scale: Fraction) -> None:
        digits = low_digits(scale)
        self._digits = [binary_digit(2**i / scale) for i in range(digits)]
        self._carry_on = exponential(2**digits / scale)

    def draw(self, stream: BitStream) -> int:
        """One variable: M independent digits, and above them a geometric count of successes."""
        low = sum(1 << i for i, digit in enumerate(self._digits) if bernoulli(digit, stream))
        high = 0
        while bernoulli(self._carry_on, stream):
            high += 1
        return low + (high << len(self._digits))


# ---- the arrays that noise goes into


def flat_view(values: Ints) -> Ints:
    """The same memory as one vector; an array that noise could not be added to in place is refused."""
    if not isinstance(values, np.ndarray) or values.dtype != np.int64:
        raise InvalidInput("values", "not an array of int64", "convert the exact integers to numpy's int64 first")
    if not values.flags.c_contiguous or not values.flags.writeable:
        raise InvalidInput("values", "not a contiguous writeable array", "make a copy of it first")
    return values.reshape(-1)


def wrapped(number: int) -> int:
    """The 64-bit signed integer that equals `number` modulo 2⁶⁴."""
    return (number + _MODULUS // 2) % _MODULUS - _MODULUS // 2
