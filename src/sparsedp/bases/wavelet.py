"""Any orthogonal wavelet of PyWavelets: smoother than Haar, local unlike cosine."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.bases.base import Basis, cells_or_padded
from sparsedp.validate import MAX_CELLS, one_of, whole

_ROW_SUM_MARGIN = Fraction(1, 10**6)
"""The relative room that `row_sum_bound` leaves for floating-point error."""


class Wavelet(Basis):
    """The periodised wavelet transform by a named orthogonal filter of F taps ("db4", "sym8", "coif3", …).

    It has the L = ⌊log₂(n/(F − 1))⌋ levels on which no wavelet is longer than the signal (none if n < F − 1: the
    basis is then the identity), on `size` cells: n padded with public zeros to a multiple of 2^L, so that every level
    has an even length and the transform is orthonormal. Coefficients: the approximation first, then the details,
    coarsest first.
    """

    def __init__(self, name: str, n: int) -> None:
        import pywt

        one_of("basis", name, dict.fromkeys(orthogonal_wavelets()))
        self.name = name
        self.n = whole("n", n, most=MAX_CELLS)
        self._filter = pywt.Wavelet(name)
        self.levels = int(pywt.dwt_max_level(self.n, self._filter.dec_len))
        self._size = -(-self.n >> self.levels) << self.levels
        coarsest = self._size >> self.levels
        self._lengths = [coarsest, *(coarsest << level for level in range(self.levels))]

    @property
    def size(self) -> int:
        """n rounded up to a multiple of 2^L."""
        return self._size

    def analyze(self, signal: Floats) -> Floats:
        """n or `size` cells to `size` coefficients."""
        import pywt

        cells = cells_or_padded(self, signal)
        return np.concatenate(pywt.wavedec(cells, self._filter, mode="periodization", level=self.levels))

    def synthesize(self, coefficients: Floats) -> Floats:
        """`size` coefficients to n cells."""
        import pywt

        checked = float_vector("coefficients", coefficients, self._size)
        parts = np.split(checked, np.cumsum(self._lengths)[:-1])
        cells = pywt.waverec(parts, self._filter, mode="periodization")
        return np.array(cells[: self.n])

    @property
    def row_sum_bound(self) -> Fraction:
        """The largest row sum of the transform on an endless signal, and a margin of 10⁻⁶ of it for rounding.

        The wavelet of level l and place p is one filter g_l shifted by 2^l·p, so the sum over level l at cell j is
        that of |g_l| over the residue class of j modulo 2^l; the classes of all levels follow from j modulo 2^L. No
        wavelet is longer than the signal, so none overlaps itself when it is wrapped round. PyWavelets shifts all
        levels by the same number of cells, which moves the maximum and does not change it. Each entry is a sum of at
        most F·L products, so double precision errs by far less than the margin.
        """
        low, high = np.array(self._filter.rec_lo), np.array(self._filter.rec_hi)
        smooth = np.ones(1)
        sums = np.zeros(1)
        for level in range(1, self.levels + 1):
            sums = np.tile(sums, 2) + _folded(_refined(smooth, high, level), 2**level)
            smooth = _refined(smooth, low, level)
        largest = float((sums + _folded(smooth, 2**self.levels)).max())
        return Fraction(largest) * (1 + _ROW_SUM_MARGIN)


def _refined(smooth: Floats, taps: Floats, level: int) -> Floats:
    """Σ_m taps[m] · smooth(· − 2^(level−1)·m): one level coarser than `smooth`."""
    step = 2 ** (level - 1)
    coarser = np.zeros(len(smooth) + step * (len(taps) - 1))
    for m, tap in enumerate(taps):
        coarser[m * step : m * step + len(smooth)] += tap * smooth
    return coarser


def _folded(values: Floats, period: int) -> Floats:
    """Σ |values| over each residue class modulo `period`."""
    padded = np.zeros(-(-len(values) // period) * period)
    padded[: len(values)] = np.abs(values)
    return np.asarray(padded.reshape(-1, period).sum(axis=0))


@cache
def orthogonal_wavelets() -> tuple[str, ...]:
    """The names whose filters are orthonormal to 10⁻⁹. (PyWavelets' "dmey" claims to be, and is off by 2·10⁻³.)"""
    import pywt

    names = pywt.wavelist(kind="discrete")
    return tuple(
        name for name in names if pywt.Wavelet(name).orthogonal and _departure(pywt.Wavelet(name).rec_lo) < 1e-9
    )


def _departure(taps: list[float]) -> float:
    """How far the filter's even shifts are from orthonormal."""
    correlations = np.correlate(taps, taps, "full")[len(taps) - 1 :: 2]
    correlations[0] -= 1
    return float(np.abs(correlations).max())
