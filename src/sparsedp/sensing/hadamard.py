"""Randomised Hadamard sensing: ±1 entries as the paper's, in O(n log n) time and O(n) memory."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers, Numbers, float_vector
from sparsedp.sensing.hadamard_kernels import (
    SHUFFLED_CELLS,
    pick_rows,
    shuffle_sign_transform,
    spread_rows,
    transform_sign_unshuffle,
)
from sparsedp.sensing.public_randomness import public_bytes, public_permutation, public_subset
from sparsedp.sensing.signs import SignSensing


class Hadamard(SignSensing):
    """Φ = R · H · diag(±1) · P on the first n of N = 2^⌈log₂ n⌉ columns; every entry is exactly +1 or −1.

    P applies one public permutation within each block of 2,048 cells, so that the rows are incoherent with Haar
    wavelets; the signs are public, one a cell; H is the N × N Hadamard matrix in natural order; R keeps `rows`
    distinct rows of it, chosen at random. All three come from the public `seed` (`public_randomness`, purposes
    "hadamard permutation", "hadamard signs" and "hadamard rows").

    When n is a power of two, Φ Φᵀ = n · I exactly.
    """

    name = "hadamard"

    def __init__(self, n: int, rows: int, seed: int) -> None:
        super().__init__(n, rows, seed)
        self.padded_size = 1 << (self.n - 1).bit_length()

    # Drawn when they are needed: whoever opens a file looks first at how many cells it speaks of.

    @cached_property
    def _order(self) -> npt.NDArray[np.uint16]:
        shuffled = min(self.padded_size, SHUFFLED_CELLS)
        return public_permutation(self.seed, "hadamard permutation", shuffled).astype(np.uint16)

    @cached_property
    def _signs(self) -> npt.NDArray[np.uint64]:
        sign_bytes = public_bytes(self.seed, "hadamard signs", max(8, self.padded_size // 8))
        return sign_bytes.view("<u8").astype(np.uint64, copy=False)

    @cached_property
    def _chosen(self) -> Integers:
        return public_subset(self.seed, "hadamard rows", self.rows, self.padded_size)

    def _product(self, cells: Numbers) -> Numbers:
        """Φ · cells."""
        return self._transformed(cells, np.empty(self.padded_size, cells.dtype))

    def _transformed(self, cells: Numbers, work: Numbers) -> Numbers:
        shuffle_sign_transform(cells, self._order, self._signs, work)
        values = np.empty(self.rows, cells.dtype)
        pick_rows(work, self._chosen, values)
        return values

    def adjoint(self, values: Floats) -> Floats:
        """Φᵀ y: n cells."""
        cells = np.empty(self.n)
        self.adjoint_into(values, np.empty(self.padded_size), cells)
        return cells

    def forward_within(self, signal: Floats, work: Floats) -> Floats:
        """Φ s, using `work` (N floats): decoders call hundreds of times, and fresh memory costs as much as the sums."""
        return self._transformed(float_vector("signal", signal, self.n), work)

    def adjoint_into(self, values: Floats, work: Floats, cells: Floats) -> None:
        """cells ← Φᵀ y, using `work` (N floats)."""
        spread_rows(float_vector("values", values, self.rows), self._chosen, work)
        transform_sign_unshuffle(work, self._order, self._signs, cells)

    def materialize(self) -> Integers:
        """Entry by entry: (−1)^(bits shared by row and place) times the sign at the place that the cell moves to."""
        order = self._order.astype(np.int64)
        place_of = np.argsort(order)
        cells = np.arange(self.n)
        places = cells - cells % len(order) + place_of[cells % len(order)]
        parity = self._chosen[:, None] & places[None, :]
        for shift in (16, 8, 4, 2, 1):
            parity ^= parity >> shift
        negative = (self._signs[places // 64] >> (places % 64).astype(np.uint64)).astype(np.int64)
        return np.where((parity ^ negative) & 1, -1, 1)
