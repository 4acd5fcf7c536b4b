"""Products with a matrix of signs held as bits, eight cells at a time.

Eight cells have 256 signed sums ±x₀ ± … ± x₇. They are tabulated once, and each row looks its own up by its byte of
signs: one addition for eight entries. The adjoint is the same backwards: each row adds its value to the bin of its
byte, and the 256 bins are folded into eight signed sums. Unsigned integers wrap modulo 2⁶⁴.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Numbers
from sparsedp.jit import kernel

Bits = npt.NDArray[np.uint8]


@kernel
def accumulate_forward(cells: Numbers, first: int, bits: Bits, sums: Numbers) -> None:
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
def accumulate_adjoint(values: Floats, first: int, bits: Bits, cells: Floats) -> None:
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
