"""Bernoulli sensing: independent fair ±1 entries, the paper's own ensemble, one bit each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints, Numbers, float_vector
from sparsedp.jit import kernel
from sparsedp.sensing.public_signs import SignSensing, public_bytes
from sparsedp.validate import MAX_CELLS, whole

_Bits = npt.NDArray[np.uint8]

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
        self._kept: _Bits | None = None

    def _checked_rows(self, rows: int) -> int:
        # More rows than cells are no mistake here: the prefix of a stream may be shorter than its counters are many.
        return whole("rows", rows, most=MAX_CELLS)

    def _product(self, cells: Numbers) -> Numbers:
        """Φ · cells."""
        sums = np.zeros(self.rows, cells.dtype)
        for first, bits in self._parts():
            _accumulate_forward(cells, first, bits, sums)
        return sums

    def adjoint(self, values: Floats) -> Floats:
        """Φᵀ y."""
        checked = float_vector("values", values, self.rows)
        cells = np.empty(self.n)
        for first, bits in self._parts():
            _accumulate_adjoint(checked, first, bits, cells)
        return cells

    def materialize(self) -> Ints:
        """Entry by entry from the definition."""
        octets = (self.n + 7) // 8
        stream = public_bytes(self.seed, "bernoulli signs", octets * self.rows)
        place = (np.arange(self.n) // 8)[None, :] * self.rows + np.arange(self.rows)[:, None]
        negative: Ints = stream[place].astype(np.int64) >> (np.arange(self.n) % 8) & 1
        return np.where(negative, -1, 1)

    def columns(self, first: int, stop: int) -> Ints:
        """Columns first … stop − 1 of Φ, a row each, of ±1: what a stream needs of it, tick by tick."""
        octet, last = first // 8, -(-stop // 8)
        start = octet * self.rows // 16 * 16
        stream = public_bytes(self.seed, "bernoulli signs", last * self.rows - start, start=start)
        bits = stream[octet * self.rows - start :].reshape(last - octet, 1, self.rows) >> _PLACES & 1
        signs = 1 - 2 * bits.reshape(-1, self.rows).astype(np.int64)
        return signs[first - 8 * octet : stop - 8 * octet]

    def _parts(self) -> Iterator[tuple[int, _Bits]]:
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

    def _draw(self, first: int, last: int) -> _Bits:
        count = (last - first) * self.rows
        stream = public_bytes(self.seed, "bernoulli signs", count, start=first * self.rows)
        return stream.reshape(last - first, self.rows)


# ---- the products, eight cells at a time
#
# Eight cells have 256 signed sums ±x₀ ± … ± x₇. They are tabulated once, and each row looks its own up by its byte of
# signs: one addition for eight entries. The adjoint is the same backwards: each row adds its value to the bin of its
# byte, and the 256 bins are folded into eight signed sums. Unsigned integers wrap modulo 2⁶⁴.


@kernel
def _accumulate_forward(cells: Numbers, first: int, bits: _Bits, sums: Numbers) -> None:
    """sums += (the columns of octets first, first + 1, …) · cells; bits[g, r] are row r's signs on octet first + g."""
    octets = len(bits)
    one, other = np.empty(256, sums.dtype), np.empty(256, sums.dtype)
    for octet in range(0, octets - 1, 2):
        _tabulate(cells, 8 * (first + octet), one)
        _tabulate(cells, 8 * (first + octet + 1), other)
        left, right = bits[octet], bits[octet + 1]
        for row in range(len(sums)):
            sums[row] += one[left[row]] + other[right[row]]
    if octets % 2:
        _tabulate(cells, 8 * (first + octets - 1), one)
        last = bits[octets - 1]
        for row in range(len(sums)):
            sums[row] += one[last[row]]


@kernel
def _tabulate(cells: Numbers, start: int, table: Numbers) -> None:
    """table[m] ← Σ_t ±cells[start + t], minus where bit t of m is set; cells beyond the last are zeros."""
    table[0] = 0
    size = 1
    for t in range(8):
        if start + t < len(cells):
            value = cells[start + t]
            low, high = table[:size], table[size : 2 * size]
            for m in range(size):
                high[m] = low[m] - value
                low[m] = low[m] + value
        else:
            table[size : 2 * size] = table[:size]
        size *= 2


@kernel
def _accumulate_adjoint(values: Floats, first: int, bits: _Bits, cells: Floats) -> None:
    """cells[8·first …] ← (the columns of octets first, first + 1, …)ᵀ · values."""
    bins, others = np.empty(256), np.empty(256)
    for octet in range(len(bits)):
        bins[:] = 0
        others[:] = 0
        signs = bits[octet]
        # Two sets of bins, so that equal bytes of neighbouring rows do not wait for each other.
        for row in range(0, len(values) - 1, 2):
            bins[signs[row]] += values[row]
            others[signs[row + 1]] += values[row + 1]
        if len(values) % 2:
            bins[signs[len(values) - 1]] += values[len(values) - 1]
        for m in range(256):
            bins[m] += others[m]
        _fold(bins, 8 * (first + octet), cells)


@kernel
def _fold(bins: Floats, start: int, cells: Floats) -> None:
    """The transpose of `_tabulate`; `bins` is overwritten."""
    size = 256
    for t in range(7, -1, -1):
        size //= 2
        low, high = bins[:size], bins[size : 2 * size]
        difference = 0.0
        for m in range(size):
            difference += low[m] - high[m]
            low[m] += high[m]
        if start + t < len(cells):
            cells[start + t] = difference
