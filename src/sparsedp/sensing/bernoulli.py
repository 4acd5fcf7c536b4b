"""Bernoulli sensing: independent fair ±1 entries, the paper's own ensemble, one bit each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparsedp.arrays import Floats, Integers, Numbers, float_vector
from sparsedp.sensing.bernoulli_kernels import Bits, accumulate_adjoint, accumulate_forward
from sparsedp.sensing.public_randomness import public_bytes
from sparsedp.sensing.signs import SignSensing
from sparsedp.validate import MAX_CELLS, whole

KEPT_BYTES = 2**27
"""A matrix of at most 128 MB of bits is kept after its first use; a larger one is drawn again, part by part."""

_PLACES = np.arange(8, dtype=np.uint8)[None, :, None]

PART_BYTES = 2**22
"""Bits drawn at a time: 4 MB."""


class Bernoulli(SignSensing):
    """Φ: `rows` × n, each entry +1 or −1 by one public bit; n·k/8 bytes at most are held, never a float.

    Entry (r, j) is −1 if bit (j mod 8) of byte ⌊j/8⌋·k + r of the public stream "bernoulli signs" is set: the
    bytes of 8 neighbouring cells are together, row by row.
    """

    name = "bernoulli"

    def __init__(self, n: int, rows: int, seed: int) -> None:
        super().__init__(n, rows, seed)
        self._kept: Bits | None = None

    def _checked_rows(self, rows: int) -> int:
        # More rows than cells are no mistake here: the prefix of a stream may be shorter than its counters are many.
        return whole("rows", rows, most=MAX_CELLS)

    def _product(self, cells: Numbers) -> Numbers:
        """Φ · cells."""
        sums = np.zeros(self.rows, cells.dtype)
        for first, bits in self._parts():
            accumulate_forward(cells, first, bits, sums)
        return sums

    def adjoint(self, values: Floats) -> Floats:
        """Φᵀ y."""
        checked = float_vector("values", values, self.rows)
        cells = np.empty(self.n)
        for first, bits in self._parts():
            accumulate_adjoint(checked, first, bits, cells)
        return cells

    def materialize(self) -> Integers:
        """Entry by entry from the definition."""
        octets = (self.n + 7) // 8
        stream = public_bytes(self.seed, "bernoulli signs", octets * self.rows)
        place = (np.arange(self.n) // 8)[None, :] * self.rows + np.arange(self.rows)[:, None]
        negative: Integers = stream[place].astype(np.int64) >> (np.arange(self.n) % 8) & 1
        return np.where(negative, -1, 1)

    def columns(self, first: int, stop: int) -> Integers:
        """Columns first … stop − 1 of Φ, a row each, of ±1: what a stream needs of it, tick by tick."""
        octet, last = first // 8, -(-stop // 8)
        start = octet * self.rows // 16 * 16
        stream = public_bytes(self.seed, "bernoulli signs", last * self.rows - start, start=start)
        bits = stream[octet * self.rows - start :].reshape(last - octet, 1, self.rows) >> _PLACES & 1
        signs = 1 - 2 * bits.reshape(-1, self.rows).astype(np.int64)
        return signs[first - 8 * octet : stop - 8 * octet]

    def _parts(self) -> Iterator[tuple[int, Bits]]:
        """The bits as (first octet of cells, octets × rows) in turn."""
        octets = (self.n + 7) // 8
        if octets * self.rows <= KEPT_BYTES:
            if self._kept is None:
                self._kept = self._draw(0, octets)
            yield 0, self._kept
            return
        # The stream is cut where its 16-byte blocks end, so each part is a multiple of 16 octets of cells.
        step = 16 * max(1, PART_BYTES // (16 * self.rows))
        for first in range(0, octets, step):
            yield first, self._draw(first, min(first + step, octets))

    def _draw(self, first: int, last: int) -> Bits:
        count = (last - first) * self.rows
        stream = public_bytes(self.seed, "bernoulli signs", count, start=first * self.rows)
        return stream.reshape(last - first, self.rows)
