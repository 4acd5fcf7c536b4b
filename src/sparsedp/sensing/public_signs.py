"""Public randomness, the same for ever from the same seed, and what matrices of signs made of it share.

A synopsis keeps the seed, not the matrix, so whoever opens it in ten years, with any version of any library, must
draw the same matrix. Hence a stream that is specified here, from standards, and nothing else:

- `key` = SHA-256 of the ASCII text "sparsedp public randomness 1/<purpose>/<seed in decimal>";
- the stream is AES-256 in counter mode under that key, from counter zero, over zeros: its bytes in order;
- a *word* is 8 consecutive bytes, little-endian; bit i of the stream is bit (i mod 8) of byte ⌊i/8⌋, the lowest first;
- a number below m is one word modulo m. (m ≤ 2³¹, so no value is likelier than another by more than 2⁻³³ of it. That is
  no concern of privacy: the matrix is public, and the guarantee holds for every matrix.)

This is never a source of noise: everyone knows the seed.
"""

from __future__ import annotations

from abc import abstractmethod
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from sparsedp.arrays import Floats, Ints, Numbers, float_vector
from sparsedp.jit import kernel
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.validate import MAX_CELLS, whole

_Bytes = npt.NDArray[np.uint8]
_Words = npt.NDArray[np.uint64]


def public_seed(seed: object) -> int:
    """A seed that can be written in any file: a whole number below 2⁶⁴."""
    return whole("seed", seed, least=0, most=2**64 - 1)


def public_bytes(seed: int, purpose: str, count: int, *, start: int = 0) -> _Bytes:
    """Bytes start … start + count − 1 of the stream for `purpose`; `start` is a multiple of 16."""
    key = sha256(f"sparsedp public randomness 1/{purpose}/{seed}".encode("ascii")).digest()
    counter = (start // 16).to_bytes(16, "big")
    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
    return np.frombuffer(encryptor.update(bytes(count)), np.uint8).copy()


def public_words(seed: int, purpose: str, count: int) -> _Words:
    """The first `count` words of the stream for `purpose`."""
    return public_bytes(seed, purpose, 8 * count).view("<u8").astype(np.uint64, copy=False)


def public_numbers(seed: int, purpose: str, bounds: Ints) -> Ints:
    """One number below each of the bounds, from the first words of the stream for `purpose`."""
    words = public_words(seed, purpose, len(bounds))
    words %= bounds.astype(np.uint64)
    return words.view(np.int64)


def public_permutation(seed: int, purpose: str, size: int) -> Ints:
    """A permutation of 0 … size − 1: from the identity, for i = size − 1 … 1 swap places i and (number below i + 1)."""
    order = np.arange(size)
    _shuffle(order, public_numbers(seed, purpose, np.arange(size, 1, -1)))
    return order


def public_subset(seed: int, purpose: str, size: int, population: int) -> Ints:
    """`size` distinct places below `population`, ascending, every subset equally likely.

    Floyd's algorithm, one number a place: for j = population − size … population − 1, take a number below j + 1, or j
    itself if that number was taken before.
    """
    chosen = np.empty(size, np.int64)
    taken = np.zeros((population + 7) // 8, np.uint8)
    lasts = np.arange(population - size, population)
    _floyd(public_numbers(seed, purpose, lasts + 1), lasts, taken, chosen)
    return chosen


@kernel
def _shuffle(order: Ints, numbers: Ints) -> None:
    for draw in range(len(numbers)):
        i = len(order) - 1 - draw
        other = numbers[draw]
        order[i], order[other] = order[other], order[i]


@kernel
def _floyd(numbers: Ints, lasts: Ints, taken: _Bytes, chosen: Ints) -> None:
    """`taken` has one bit a place, so that finding the chosen places in order is a scan of it."""
    for draw in range(len(numbers)):
        place = numbers[draw]
        if taken[place >> 3] >> (place & 7) & 1:
            place = lasts[draw]
        taken[place >> 3] |= np.uint8(1 << (place & 7))
    found = 0
    for byte in range(len(taken)):
        if taken[byte]:
            for bit in range(8):
                if taken[byte] >> bit & 1:
                    chosen[found] = 8 * byte + bit
                    found += 1


class SignSensing(Sensing):
    """Φ: `rows` × n, every entry exactly +1 or −1, all of them a function of n, `rows` and the public `seed`."""

    def __init__(self, n: int, rows: int, seed: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self._rows = self._checked_rows(rows)
        self.seed = public_seed(seed)

    def _checked_rows(self, rows: int) -> int:
        return whole("rows", rows, most=self.n, why="there are no more independent measurements than cells")

    @abstractmethod
    def _product(self, cells: Numbers) -> Numbers:
        """Φ · cells: in floating point, or of unsigned integers modulo 2⁶⁴."""

    def apply(self, counts: Ints) -> Ints:
        """Φ D, exact modulo 2⁶⁴."""
        return self._product(exact_counts(counts, self.n).view(np.uint64)).view(np.int64)

    def forward(self, signal: Floats) -> Floats:
        """Φ s in floating point, s of n cells."""
        return self._product(float_vector("signal", signal, self.n))

    @property
    def rows(self) -> int:
        """The number k of measurements."""
        return self._rows

    @property
    def max_column_l1(self) -> int:
        """k: every column has k entries of size one."""
        return self._rows

    @property
    def max_column_l2_squared(self) -> int:
        """k."""
        return self._rows

    def describe(self) -> dict[str, Any]:
        """Name, cells, rows and the public seed: the matrix follows."""
        return {"name": self.name, "n": self.n, "rows": self._rows, "seed": self.seed}
