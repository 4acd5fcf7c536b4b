"""Bernoulli sensing: independent fair ±1 entries, the paper's own ensemble, one bit each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.sensing.base import Floats, Integers, Sensing, exact_counts, vector
from sparsedp.sensing.bernoulli_kernels import accumulate_adjoint, accumulate_forward
from sparsedp.sensing.public_randomness import public_bytes, public_seed
from sparsedp.validate import MAX_CELLS, whole

Bits = npt.NDArray[np.uint8]

KEPT_BYTES = 2**27
"""A matrix of at most 128 MB of bits is kept after its first use; a larger one is drawn again, part by part."""

PART_BYTES = 2**22
"""Bits drawn at a time: 4 MB."""


class Bernoulli(Sensing):
    """Φ: `rows` × n, each entry +1 or −1 by one public bit; n·k/8 bytes at most are held, never a float.

    Entry (r, j) is −1 if bit (j mod 8) of byte ⌊j/8⌋·k + r of the public stream "bernoulli signs" is set: the
    bytes of 8 neighbouring cells are together, row by row.
    """

    name = "bernoulli"

    def __init__(self, n: int, rows: int, seed: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        why = "there are no more independent measurements than cells"
        self._row_count = whole("rows", rows, most=self.n, why=why)
        self.seed = public_seed(seed)
        self._kept: Bits | None = None

    @property
    def rows(self) -> int:
        """The number k of measurements."""
        return self._row_count

    def apply(self, counts: Integers) -> Integers:
        """Φ D, exact modulo 2⁶⁴."""
        cells = exact_counts(counts, self.n).view(np.uint64)
        sums = np.zeros(self._row_count, np.uint64)
        for first, bits in self._parts():
            accumulate_forward(cells, first, bits, sums)
        return sums.view(np.int64)

    def forward(self, signal: Floats) -> Floats:
        """Φ s."""
        cells = vector("signal", signal, self.n)
        sums = np.zeros(self._row_count)
        for first, bits in self._parts():
            accumulate_forward(cells, first, bits, sums)
        return sums

    def adjoint(self, values: Floats) -> Floats:
        """Φᵀ y."""
        checked = vector("values", values, self._row_count)
        cells = np.empty(self.n)
        for first, bits in self._parts():
            accumulate_adjoint(checked, first, bits, cells)
        return cells

    def materialize(self) -> Integers:
        """Entry by entry from the definition."""
        octets = (self.n + 7) // 8
        stream = public_bytes(self.seed, "bernoulli signs", octets * self._row_count)
        place = (np.arange(self.n) // 8)[None, :] * self._row_count + np.arange(self._row_count)[:, None]
        negative: Integers = stream[place].astype(np.int64) >> (np.arange(self.n) % 8) & 1
        return np.where(negative, -1, 1)

    @property
    def max_column_l1(self) -> int:
        """k: every column has k entries of size one."""
        return self._row_count

    @property
    def max_column_l2_squared(self) -> int:
        """k."""
        return self._row_count

    def describe(self) -> dict[str, Any]:
        """Name, cells, rows and the public seed: the matrix follows."""
        return {"name": self.name, "n": self.n, "rows": self._row_count, "seed": self.seed}

    def _parts(self) -> Iterator[tuple[int, Bits]]:
        """The bits as (first octet of cells, octets × rows) in turn."""
        octets = (self.n + 7) // 8
        if octets * self._row_count <= KEPT_BYTES:
            if self._kept is None:
                self._kept = self._draw(0, octets)
            yield 0, self._kept
            return
        # The stream is cut where its 16-byte blocks end, so each part is a multiple of 16 octets of cells.
        step = 16 * max(1, PART_BYTES // (16 * self._row_count))
        for first in range(0, octets, step):
            yield first, self._draw(first, min(first + step, octets))

    def _draw(self, first: int, last: int) -> Bits:
        count = (last - first) * self._row_count
        stream = public_bytes(self.seed, "bernoulli signs", count, start=first * self._row_count)
        return stream.reshape(last - first, self._row_count)
