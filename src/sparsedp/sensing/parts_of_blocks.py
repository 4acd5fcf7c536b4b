"""Blocks of cells in a row, each cut into parts of one size: as first cells, or as one letter a block.

A block's letter tells the size of its parts: a for 1 cell, b for 2, c for 4, and so on. A file with many parts is far
smaller so than if it said where each begins. Where the letter of the first block is a capital, its first part, which is
less than the block, is cut by halves, and the first half again, down to the first cell.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput

MOST_PARTS = 2**20
"""More are not measured, nor read from letters: whoever opens a file has to hold them."""

FIRST_LETTER, LARGEST = ord("a"), 2**25
"""So blocks have up to as many cells as z says."""

AS_IT_WAS_MADE = "give the synopsis as it was made"


def cut_blocks(sizes: Ints, block: int, n: int) -> Ints:
    """The first cells of the parts of every block of n cells, of so many cells each; the end may cut the last ones."""
    firsts = np.arange(len(sizes), dtype=np.int64) * block
    counts = _counts(sizes, block, n)
    before = np.cumsum(counts) - counts
    within = np.arange(int(counts.sum())) - np.repeat(before, counts)
    starts: Ints = np.repeat(firsts, counts) + within * np.repeat(sizes, counts)
    return starts


def _counts(sizes: Ints, block: int, n: int) -> Ints:
    """How many parts each block has."""
    cells = np.minimum(block, n - np.arange(len(sizes), dtype=np.int64) * block)
    counts: Ints = -(-cells // sizes)
    return counts


def cut_to_the_first(starts: Ints) -> Ints:
    """The same groups, two at least, but the first of them, of 2^k cells, cut by halves down to the first cell."""
    halves: Ints = 1 << np.arange(int(starts[1]).bit_length() - 1, dtype=np.int64)
    return np.concatenate([starts[:1], halves, starts[1:]])


def to_letters(starts: Ints, block: int, n: int) -> str | None:
    """One a block; None if these are not parts of 2^k cells of every block of n cells, but for the first of all."""
    letters = _of_one_size(starts, block, n)
    power = 1
    while letters is None and 1 << power < block and power < len(starts) and starts[power] == 1 << (power - 1):
        uncut = _of_one_size(np.delete(starts, slice(1, power + 1)), block, n)
        if uncut is not None and ord(uncut[0]) == FIRST_LETTER + power:
            letters = uncut[0].upper() + uncut[1:]
        power += 1
    return letters


def _of_one_size(starts: Ints, block: int, n: int) -> str | None:
    """The same, without a capital."""
    blocks = np.arange(0, n, block)
    if block & (block - 1) or block > LARGEST or not np.isin(blocks, starts, assume_unique=True).all():
        return None
    first = np.searchsorted(starts, blocks)
    several = np.diff(first, append=len(starts)) > 1
    second = np.append(starts, n)[first + 1]
    sizes = np.where(several, second - blocks, block)
    if (sizes & (sizes - 1)).any() or not np.array_equal(cut_blocks(sizes, block, n), starts):
        return None
    powers = np.frexp(sizes.astype(np.float64))[1] - 1
    return bytes((FIRST_LETTER + powers).astype(np.uint8)).decode("ascii")


def from_letters(letters: str, block: object, n: int) -> Ints:
    """The first cells of the parts; `block`: the layer above, which must be of blocks of 2^k cells."""
    if type(block) is not int or not 1 <= block <= LARGEST or block & (block - 1):
        raise InvalidInput("layers", "letters without blocks of 2, 4, 8, … cells above", AS_IT_WAS_MADE)
    if len(letters) != -(-n // block):
        raise InvalidInput("layers", f"{len(letters)} letters", f"give one for each of {-(-n // block)} blocks")
    most = block.bit_length() - 1
    to_the_first = "A" < letters[0] <= "Z"
    if to_the_first:
        letters = letters[0].lower() + letters[1:]
    powers = np.frombuffer(letters.encode("utf-32-le", "replace"), np.uint32).astype(np.int64) - FIRST_LETTER
    if powers.min() < 0 or powers.max() > most or (to_the_first and powers[0] == most):
        raise InvalidInput("layers", "other letters", f"give letters from a to {chr(FIRST_LETTER + most)}")
    sizes: Ints = np.left_shift(1, powers)
    if int(_counts(sizes, block, n).sum()) > MOST_PARTS:
        raise InvalidInput("layers", f"more than {MOST_PARTS} parts of blocks", AS_IT_WAS_MADE)
    starts = cut_blocks(sizes, block, n)
    if to_the_first and len(starts) == 1:
        raise InvalidInput("layers", "one part alone, cut", AS_IT_WAS_MADE)
    return cut_to_the_first(starts) if to_the_first else starts
