"""Rows that repeat themselves: their period, found in the noisy cells, and shrinkage beside other cycles."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from sparsedp.arrays import Floats, Mask
from sparsedp.estimation.shrinkage.frame import shrink
from sparsedp.estimation.shrinkage.isolated_spikes import beside_isolated_spikes
from sparsedp.estimation.shrinkage.mixture_prior import LEARNABLE_VARIANCE
from sparsedp.laws import IndependentLaw

# After how many cells rows of noisy counts repeat themselves: hours of many days, or amounts that are multiples of
# something, in cells narrower than that.
#
# The mean of the cells a period before and after a cell is near it, nearer than that of the two at most shorter
# distances (which is what tells a period from what is merely smooth; a slope is no matter to either). So of all
# distances the one is taken that gains most on the mean of all shorter ones, in the mean square over noisy cells. It is
# a period only if it is surely nearer than the middle one of the shorter distances, and not surely further off than
# neighbours: where counts are rough, nothing is nearer by more than chance.

LEAST_CYCLES, LEAST_CELLS = 16, 256
"""In a row, or there is no telling."""

LONGEST = 1 << 20
"""Rows of so many cells in all and more have none: cycles would take a good part of the time of a whole release."""

STRETCH, MOST_LOOKED_AT = 1 << 14, 1 << 18
"""Of longer rows, stretches of so many cells are looked at; and no more cells than this, wherever they are."""

OUTER, FAR = 0.025, 4.0
"""What is beyond all but this share of the cells, and so many deviations of the noise from the middle one, is taken to
be no further out: a few huge cells would decide alone."""

BY_CHANCE, NEXT_TO, MULTIPLES = 3.0, 1.4, 16
"""Of a mean of squares, over the root of how many: multiples of a period are as good as it, but for so much. So the
shortest distance is taken that is as good as the best; or one up to so many times as long, if that is better over so
many cycles."""

SURE, FURTHER = 4.0, 2.0
"""Deviations by which a period must be nearer than the middle one of the shorter distances, being chosen among
hundreds; and by which it may be further off than neighbours."""

TOGETHER = 8
"""Cells in a row whose differences count as one, for they have much in common."""


def period_of(rows: Floats, law: IndependentLaw, measured: Mask | None = None) -> int | None:
    """The period that all rows have in common; None if they do not seem to have one. `law`: of the noise of cells.

    Cells that were not `measured` tell nothing.
    """
    if rows.shape[1] < LEAST_CELLS or rows.size >= LONGEST or not LEARNABLE_VARIANCE < law.variance < inf:
        return None
    cells = _stretches(rows)
    known = np.ones_like(cells) if measured is None else _stretches(measured).astype(np.float64)
    if known.sum() < LEAST_CELLS:
        return None
    cells = _bounded(cells, known > 0.0, FAR * sqrt(law.variance)) * known
    apart = mean_squares_apart(cells, known, cells.shape[1] // 2)
    known_up_to = int(np.argmax(np.append(apart, inf) == inf) - 1) // 2
    longest = min(cells.shape[1] // LEAST_CYCLES, known_up_to)
    if longest < 2:
        return None
    # The mean square by which a cell is off the mean of the two at each distance, before and after it.
    off = np.append(inf, apart[1 : known_up_to + 1] - 0.25 * apart[2 : 2 * known_up_to + 1 : 2])
    lags = np.arange(2, longest + 1)
    gain = np.cumsum(off[1:longest]) / (lags - 1.0) - off[lags]
    best = int(lags[np.argmax(gain)])
    as_good = gain >= gain.max() - BY_CHANCE * off[best] / sqrt(float(known.sum()))
    period = _sharpened(int(lags[np.argmax(as_good)]), off)
    middle = int(np.argsort(off[1:period], kind="stable")[(period - 1) // 2]) + 1
    nearer = _nearer(cells, known, period, middle) > SURE and _nearer(cells, known, period, 1) > -FURTHER
    return period if nearer else None


def _sharpened(shortest: int, off: Floats) -> int:
    """The best among distances that are hardly longer, by their multiples too: these tell them apart."""
    near = np.arange(shortest, min(max(int(NEXT_TO * shortest), shortest + 1), len(off)))
    cycles = np.arange(1, max(min((len(off) - 1) // int(near[-1]), MULTIPLES), 1) + 1)
    return int(near[np.argmin(off[np.multiply.outer(near, cycles)].mean(axis=1))])


def _stretches(rows: Floats | Mask) -> Floats:
    """Rows as they are, or stretches of long ones, evenly spread; as many as may be looked at."""
    n = rows.shape[1]
    length = min(n, STRETCH)
    most = max(MOST_LOOKED_AT // length, 1)
    each = max(min(most // len(rows), -(-n // length)), 1)
    starts = np.linspace(0, n - length, each).astype(np.int64)
    found = np.concatenate([rows[:, start : start + length] for start in starts])
    return np.asarray(found[np.linspace(0, len(found) - 1, min(most, len(found))).astype(np.int64)])


def _bounded(cells: Floats, known: Mask, far: float) -> Floats:
    """Cells no further out than most of them are, around the mean of those known."""
    low, middle, high = np.quantile(cells[known], [OUTER, 0.5, 1.0 - OUTER])
    bounded = np.clip(cells, min(low, middle - far), max(high, middle + far))
    return np.asarray(bounded - bounded[known].mean())


def mean_squares_apart(cells: Floats, known: Floats, most: int) -> Floats:
    """Of the differences between cells of a row that are 0 … `most` apart, both `known` (1, others 0); of all rows
    together. Infinite where there are few.
    """
    length = next_fast_len(cells.shape[1] + most, real=True)
    of_cells, of_squares, of_known = (rfft(each, length) for each in (cells, cells**2, known))
    squares = 2.0 * ((of_squares * of_known.conj()).real - np.abs(of_cells) ** 2).sum(axis=0)
    pairs = irfft((np.abs(of_known) ** 2).sum(axis=0), length)[: most + 1]
    enough = pairs > 0.5 * LEAST_CELLS
    sums = np.maximum(irfft(squares, length)[: most + 1], 0.0)
    return np.asarray(np.divide(sums, pairs, out=np.full(most + 1, inf), where=enough))


def _nearer(cells: Floats, known: Floats, period: int, other: int) -> float:
    """By how many deviations the mean of the cells a period before and after is nearer than that of those at some
    `other` distance.
    """
    first, last = period, cells.shape[1] - period
    here = cells[:, first:last]
    gain, weight = np.zeros_like(here), known[:, first:last].copy()
    for distance, by in ((other, 1.0), (period, -1.0)):
        before, after = (slice(first + lag, last + lag) for lag in (-distance, distance))
        gain += by * (here - 0.5 * (cells[:, before] + cells[:, after])) ** 2
        weight *= known[:, before] * known[:, after]
    gains = np.add.reduceat(gain * weight, np.arange(0, last - first, TOGETHER), axis=1)
    return float(gains.sum() / max(sqrt(float((gains**2).sum())), 1e-300))


# Rows that repeat themselves after a period (`cycles.py`), shrunk cycle beside cycle.
#
# A frame knows a cell by its neighbours. Laid out as a table of a cycle a line, a row has the cells of the cycles
# before and after it among them, and these first: windows are long across cycles, and narrow within. What that table's
# frame makes of a cell is taken, but the sums of boxes stay as the row's own frame has them: it knows the noise of long
# sums.

LONGER = 16.0
"""Windows across cycles, beside those within one."""

BOX = 64
"""Cells in a row whose sum stays."""


def beside_other_cycles(row: Floats, shrunk: Floats, law: IndependentLaw, period: int) -> Floats:
    """A `shrunk` row of noisy counts, with noise of `law`, nearer to what is at the same place in the cycles around."""
    table = beside_isolated_spikes(in_cycles(row, period), law, lambda others: shrink(others, law, longer=LONGER))
    change = table.reshape(-1)[: len(row)] - shrunk
    starts = np.arange(0, len(row), BOX)
    sizes = np.diff(starts, append=len(row))
    return np.asarray(shrunk + change - np.repeat(np.add.reduceat(change, starts) / sizes, sizes))


def in_cycles(row: Floats, period: int) -> Floats:
    """A table of a cycle a line; the last one is filled up with the end of the one before."""
    beyond = np.arange(len(row), -(-len(row) // period) * period) - period
    return np.append(row, row[beyond]).reshape(-1, period)


def mean_of_other_cycles(rows: Floats, period: int, reach: int, measured: Mask | None = None) -> Floats:
    """Of the cells at the same place in so many cycles before and after, as far as there are any that were measured;
    the mean of all cells, if there are none.
    """
    known = np.ones_like(rows) if measured is None else measured.astype(np.float64)
    sums, many, cells = np.zeros_like(rows), np.zeros_like(rows), rows * known
    for lag in range(period, reach * period + 1, period):
        sums[:, lag:] += cells[:, :-lag]
        sums[:, :-lag] += cells[:, lag:]
        many[:, lag:] += known[:, :-lag]
        many[:, :-lag] += known[:, lag:]
    return np.where(many > 0.0, sums / np.maximum(many, 1.0), cells.sum() / known.sum())
