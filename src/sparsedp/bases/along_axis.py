"""One-dimensional bases along the middle axis of a block of shape (before, along, after): all its rows in one go."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.bases.base import Basis
from sparsedp.bases.cosine import Cosine
from sparsedp.bases.haar import Haar
from sparsedp.bases.haar_blocks import haar_analyze_rows, haar_synthesize_rows
from sparsedp.bases.identity import Identity
from sparsedp.bases.wavelet import Wavelet


def analyze_along(basis: Basis, block: Floats) -> Floats:
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


def synthesize_along(basis: Basis, block: Floats) -> Floats:
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
