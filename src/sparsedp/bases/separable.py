"""Bases over tables: a basis of its own along every axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.axes.domain import Domain
from sparsedp.bases import basis_from
from sparsedp.bases.base import Basis, Identity
from sparsedp.bases.cosine import Cosine
from sparsedp.bases.haar import Haar, haar_analyze_rows, haar_synthesize_rows
from sparsedp.bases.wavelet import Wavelet
from sparsedp.errors import InvalidInput
from sparsedp.validate import MAX_CELLS


class Separable(Basis):
    """Ψ = Ψ₁ ⊗ … ⊗ Ψ_d over the row-major cells of an N-D table: each axis's basis is applied along it.

    Padding is per axis: the coefficients are a table of the axes' `size`s, row-major too. The product of orthonormal
    bases is orthonormal, and an entry of Ψ is the product of one entry of each, so row sums multiply.
    """

    def __init__(self, bases: Sequence[Basis]) -> None:
        self.bases = tuple(bases)
        if not self.bases:
            raise InvalidInput("bases", "empty", "give one basis for each axis")
        for basis in self.bases:
            if not isinstance(basis, Basis):
                raise InvalidInput("bases", f"a list with something of type {type(basis).__name__} in it", "give bases")
        self.name = " × ".join(basis.name for basis in self.bases)
        self.shape = tuple(basis.n for basis in self.bases)
        self.padded_shape = tuple(basis.size for basis in self.bases)
        self.n = prod(self.shape)
        if self.n > MAX_CELLS:
            raise InvalidInput("bases", f"over {self.n:,} cells", f"give at most {MAX_CELLS:,}")

    @property
    def size(self) -> int:
        """The product of the axes' sizes."""
        return prod(self.padded_shape)

    def analyze(self, signal: Floats) -> Floats:
        """Ψᵀ: n cells (or `size` padded cells) to `size` coefficients."""
        cells = float_vector("signal", signal, self.n, self.size)
        shape = self.shape if len(cells) == self.n else self.padded_shape
        # The last axis first: what padding adds is not yet there when the longest contiguous rows are read.
        return self._along(_analyze_along, cells, shape, self.padded_shape)

    def synthesize(self, coefficients: Floats) -> Floats:
        """Ψ: `size` coefficients to n cells."""
        given = float_vector("coefficients", coefficients, self.size)
        return self._along(_synthesize_along, given, self.padded_shape, self.shape)

    def _along(
        self,
        transform: Callable[[Basis, Floats], Floats],
        values: Floats,
        shape: tuple[int, ...],
        result: tuple[int, ...],
    ) -> Floats:
        """The transform along each axis in turn, the last first; `shape` turns into `result` axis by axis."""
        array = values
        for axis in reversed(range(len(self.bases))):
            block = (prod(shape[:axis]), shape[axis], prod(result[axis + 1 :]))
            array = transform(self.bases[axis], array.reshape(block))
        flat = array.reshape(-1)
        return flat.copy() if np.may_share_memory(flat, values) else flat

    @property
    def row_sum_bound(self) -> Fraction:
        """The product of the axes' bounds."""
        return prod((basis.row_sum_bound for basis in self.bases), start=Fraction(1))


def basis_for(domain: Domain, name: str) -> Basis:
    """The named basis along the ordered axes of a domain, and cells as they are along those without an order.

    A domain of one axis gets the plain basis over it. Equal domains and names give equal bases, so the two describe
    a basis in a file.
    """
    basis_from(name, 1)  # an unknown name is refused also where no axis is ordered
    bases = [basis_from(name, axis.length) if axis.ordered else Identity(axis.length) for axis in domain.axes]
    return bases[0] if len(bases) == 1 else Separable(bases)


# ---- a basis along the middle axis of a block of shape (before, along, after): all its rows in one go


def _analyze_along(basis: Basis, block: Floats) -> Floats:
    """The coefficients of every row of basis.n or basis.size cells: a new contiguous block, or the same if Ψ = I."""
    if isinstance(basis, Identity):
        return block
    padded = _padded(block, basis.size)
    if isinstance(basis, Haar):
        coefficients = np.empty(padded.shape)
        haar_analyze_rows(padded, coefficients)
        return coefficients
    if isinstance(basis, Cosine):
        from scipy.fft import dct

        return np.ascontiguousarray(dct(padded, axis=1, norm="ortho"))
    if isinstance(basis, Wavelet):
        import pywt

        parts = pywt.wavedec(padded, basis.name, mode="periodization", level=basis.levels, axis=1)
        return np.ascontiguousarray(np.concatenate(parts, axis=1))
    return _row_by_row(basis.analyze, padded)


def _synthesize_along(basis: Basis, block: Floats) -> Floats:
    """The basis.n cells of every row of `basis.size` coefficients: a new contiguous block, or the same if Ψ = I."""
    if isinstance(basis, Identity):
        return block
    if isinstance(basis, Haar):
        cells = np.empty((block.shape[0], basis.n, block.shape[2]))
        haar_synthesize_rows(block, cells)
        return cells
    if isinstance(basis, Cosine):
        from scipy.fft import idct

        return np.ascontiguousarray(idct(block, axis=1, norm="ortho"))
    if isinstance(basis, Wavelet):
        import pywt

        coarsest = basis.size >> basis.levels
        parts = np.split(block, [coarsest << level for level in range(basis.levels)], axis=1)
        cells = pywt.waverec(parts, basis.name, mode="periodization", axis=1)
        return np.ascontiguousarray(cells[:, : basis.n])
    return _row_by_row(basis.synthesize, block)


def _row_by_row(transform: Callable[[Floats], Floats], block: Floats) -> Floats:
    """For a basis that has no faster way: slow where there are many rows."""
    before, along, after = block.shape
    rows = np.moveaxis(block, 1, 2).reshape(before * after, along)
    transformed = np.stack([transform(row) for row in rows]).reshape(before, after, -1)
    return np.ascontiguousarray(np.moveaxis(transformed, 2, 1))


def _padded(block: Floats, size: int) -> Floats:
    before, along, after = block.shape
    if along == size:
        return block
    padded = np.zeros((before, size, after))
    padded[:, :along] = block
    return padded
