"""Exact discrete Laplace noise of any rational scale, vectorised, with full support (discrete_laplace.md)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.noise.digit_kernel import BLOCK, SIGN_BIT, add_digit_words
from sparsedp.noise.digit_table import DigitTable, digit_table
from sparsedp.noise.in_place import flat_view, wrapped
from sparsedp.noise.source import BitStream, RandomSource
from sparsedp.validate import MAX_CELLS, positive, whole

_CHUNK_BYTES = 1 << 18


def discrete_laplace(scale: Fraction, size: int, source: RandomSource) -> Integers:
    """`size` independent X with P(X = x) ∝ exp(−|x|/scale) on all integers, reported modulo 2⁶⁴ as int64."""
    noise = np.zeros(whole("size", size, least=0, most=MAX_CELLS), dtype=np.int64)
    add_discrete_laplace(noise, scale, source)
    return noise


def add_discrete_laplace(values: Integers, scale: Fraction, source: RandomSource) -> None:
    """Add independent discrete Laplace noise to every value, in place, modulo 2⁶⁴.

    Guarantee: ε-DP if the scale is Δ/ε, where Δ bounds the L1 change of `values` between neighbours; proof
    in discrete_laplace.md. One fresh key a call; extra memory does not grow with the number of values.
    """
    table = digit_table(positive("scale", scale))
    flat = flat_view(values)
    block_bytes = table.rows * BLOCK * 2
    blocks = min(-(-flat.size // BLOCK), max(1, _CHUNK_BYTES // block_bytes))
    if blocks == 0:
        return
    words = np.zeros((blocks, table.rows, BLOCK), dtype=np.uint16)
    sums, tied = np.zeros(BLOCK, dtype=np.int16), np.zeros(BLOCK, dtype=np.uint8)
    # Room for a tie at every word that a value reads, which never happens by chance but must not overrun memory either.
    ties = np.zeros(min(words.size, table.rows * flat.size), dtype=np.int64)
    try:
        with source.draw() as stream:
            for start in range(0, flat.size, blocks * BLOCK):
                part = flat[start : start + blocks * BLOCK]
                used = words[: -(-part.size // BLOCK)]
                stream.fill(used)
                found = add_digit_words(used, table.first, part, sums, tied, ties)
                if found:
                    _settle_ties(part, used, ties[:found], table, stream)
    finally:
        words.fill(0)
        sums.fill(0)
        tied.fill(0)
        ties.fill(0)


def _settle_ties(
    values: Integers, words: npt.NDArray[np.uint16], ties: Integers, table: DigitTable, stream: BitStream
) -> None:
    """Go on comparing where the first word was equal, and add the digits that turn out not to be 0."""
    in_block = ties % BLOCK
    block, row = np.divmod(ties // BLOCK, table.rows)
    nonzero = _go_on_comparing(row, table, stream)
    sign = np.where(words.reshape(-1)[ties] & SIGN_BIT, -1, 1)
    for index, digit, direction in zip(
        (block * BLOCK + in_block)[nonzero].tolist(),
        row[nonzero].tolist(),
        sign[nonzero].tolist(),
        strict=True,
    ):
        magnitude = 1 if digit < table.digits else 1 + table.high_part().draw(stream)
        values[index] = wrapped(int(values[index]) + direction * (magnitude << digit))


def _go_on_comparing(row: Integers, table: DigitTable, stream: BitStream) -> npt.NDArray[np.bool_]:
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
