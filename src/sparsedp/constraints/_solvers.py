"""The nearest table with several margins at once: damped Newton steps on one multiplier for each total.

The wanted x is the point of a cone Q (non-negative cells, structural zeros, one monotone axis at most) nearest to a
table y in Σ (x − y)²/w, among those with A x = b, the totals. It is x(λ) = P(y + w·Aᵀλ), P being the exact projection
onto Q, for the λ at which the concave dual b·λ − ½ Σ x(λ)²/w is largest: its gradient is b − A x(λ). P is piecewise
linear, so Newton's steps end after finitely many pieces, with the totals right to the last digits; every iterate is
in Q exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.linalg import LinearOperator, cg

from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.constraints._margins import Margin, monotone_lines
from sparsedp.errors import SparsedpError

_GOAL = 1e-13
"""Relative error of the totals at which to stop; a hundredth of what is promised will do if rounding hinders."""
_PROMISED = 1e-9
"""Relative error of the totals that is never exceeded."""
_MOST_STEPS = 500


def nearest_with_totals(
    table: Floats, weights: Floats, free: Mask, margins: Sequence[Margin], monotone: Mapping[int, int]
) -> Floats:
    """The table of the cone, with these margins, nearest to `table`; `monotone` has one axis at most.

    There must be such a table: `feasibility` finds out.
    """
    dual = _Dual(table, weights, free, margins, monotone)
    point = dual.at(np.zeros(dual.size))
    damping, idle = 1e-3, 0
    for _ in range(_MOST_STEPS):
        if dual.error(point) <= _GOAL or (idle > 5 and dual.error(point) <= 0.01 * _PROMISED):
            break
        direction = dual.direction(point, damping)
        moved = dual.at(point.multipliers + direction)
        idle = 0 if dual.error(moved) <= 0.5 * dual.error(point) else idle + 1
        if dual.accepts(point, direction, moved):
            point, damping = moved, max(damping / 10.0, 1e-13)
        else:
            damping *= 5.0
    if dual.error(point) > _PROMISED:
        raise SparsedpError("The totals could not be met to nine digits; leave one of them out.")
    return point.table


@dataclass
class _Point:
    """x(λ), and what the next step needs of it; `blocks` are the cells that a monotone axis has pooled."""

    multipliers: Floats
    table: Floats
    blocks: Ints | None
    active: Mask
    gradient: Floats


class _Dual:
    def __init__(
        self, table: Floats, weights: Floats, free: Mask, margins: Sequence[Margin], monotone: Mapping[int, int]
    ) -> None:
        self.table, self.weights, self.free, self.margins = table, weights, free, margins
        self.line = next(iter(monotone.items()), None)
        self.totals = np.concatenate([margin.totals.ravel() for margin in margins]).astype(np.float64)
        self.size = len(self.totals)
        most_curved = self.sums(np.where(free, weights, 0.0))
        self.most_curved = np.where(most_curved > 0.0, most_curved, 1.0)

    def sums(self, table: Floats) -> Floats:
        """A x."""
        return np.concatenate([margin.of(table).ravel() for margin in self.margins])

    def spread(self, multipliers: Floats) -> Floats:
        """Aᵀ λ."""
        spread = np.zeros(self.table.shape)
        start = 0
        for margin in self.margins:
            stop = start + margin.totals.size
            spread += margin.over(spread.ndim, multipliers[start:stop].reshape(margin.totals.shape))
            start = stop
        return spread

    def at(self, multipliers: Floats) -> _Point:
        """x(λ) and the gradient there."""
        wanted = self.table + self.weights * self.spread(multipliers)
        blocks = None
        if self.line is None:
            nearest = np.where(self.free, np.maximum(wanted, 0.0), 0.0)
            active = self.free & (wanted >= 0.0)
        else:
            nearest, blocks = monotone_lines(wanted, self.weights, self.free, *self.line)
            active = nearest > 0.0
        return _Point(multipliers, nearest, blocks, active, self.totals - self.sums(nearest))

    def error(self, point: _Point) -> float:
        """Of the totals, relative."""
        return float((np.abs(point.gradient) / np.maximum(self.totals, 1.0)).max(initial=0.0))

    def accepts(self, point: _Point, direction: Floats, moved: _Point) -> bool:
        """Whether a step gains height; or, in the last digits, halves the error.

        It does if it still leads uphill at its end, the dual being concave: that is sure however small the gain.
        """
        if self.error(point) < 1e-6 and self.error(moved) <= 0.5 * self.error(point):
            return True
        slope = float(point.gradient @ direction)
        if slope <= 0.0 or float(moved.gradient @ direction) >= 0.0:
            return slope > 0.0
        # The heights would cancel: their difference is summed cell by cell, from the changes.
        change = moved.table - point.table
        cells = point.table * (self.spread(direction) - change / self.weights) - 0.5 * change**2 / self.weights
        return slope + float(np.sum(cells)) >= 0.1 * slope

    def direction(self, point: _Point, damping: float) -> Floats:
        """Newton's: (A P′ w Aᵀ + damping) d = gradient. Damped enough, every direction is uphill all the way.

        Newton alone would be held up at each kink of P, where the curvature on the other side is larger.
        """
        damped = damping * self.most_curved
        if point.blocks is not None:
            curvature = self._curvature_of_blocks(point.blocks, point.active) + np.diag(damped)
            return np.asarray(cho_solve(cho_factor(curvature), point.gradient), np.float64)
        weights = np.where(point.active, self.weights, 0.0)
        diagonal = self.sums(weights) + damped
        square = (self.size, self.size)
        operator = LinearOperator(
            square, matvec=lambda d: self.sums(weights * self.spread(d)) + damped * d, dtype=np.float64
        )
        preconditioner = LinearOperator(square, matvec=lambda r: r / diagonal, dtype=np.float64)
        accuracy = min(0.1, max(self.error(point), 1e-8))  # far from the solution a rough direction is as good
        direction, _ = cg(operator, point.gradient, rtol=accuracy, maxiter=500, M=preconditioner)
        return np.asarray(direction, np.float64)

    def _curvature_of_blocks(self, blocks: Ints, active: Mask) -> Floats:
        """A P′ w Aᵀ when P pools cells: a block moves as one, by the sum of what pulls its cells over its mass."""
        numbers = blocks[active]
        mass = np.bincount(numbers, 1.0 / self.weights[active])
        rows, start = [], 0
        for margin in self.margins:
            rows.append(margin.groups(active.shape)[active] + start)
            start += margin.totals.size
        places = (np.concatenate(rows), np.tile(numbers, len(rows)))
        pulls = coo_array((np.ones(len(places[0])), places), (self.size, len(mass))).tocsr()
        scaled = pulls * np.sqrt(np.divide(1.0, mass, out=np.zeros(len(mass)), where=mass > 0.0))
        return np.asarray((scaled @ scaled.T).toarray(), np.float64)


# Whether any table at all has the wanted totals, zeros and monotone axis: a linear program, solved before spending.


def is_feasible(free: Mask, margins: Sequence[Margin], monotone: Mapping[int, int]) -> bool:
    """Whether a non-negative table, zero where not `free` and monotone, has all these margins.

    The margins agree with each other where they overlap, and none has a total above zero without a free cell.
    """
    if all(not set(monotone) & set(margin.axes) for margin in margins):
        if len(margins) <= 1:
            return True  # equal free cells under each total: nothing falls along an axis that the totals sum over
        if _disjoint(margins) and not monotone and _only_zero_totals(free, margins):
            return True  # the product of the margins
    grand = float(margins[0].totals.sum())
    if not _program(free, margins, monotone, max(grand, 1.0)):
        return False
    # The program's tolerance forgives small contradictions in large totals; what will be run has the last word. Totals
    # that contradict each other by one person leave at least one of them wrong by more than this.
    least = 0.25 / sum(margin.totals.size for margin in margins)
    try:
        table = nearest_with_totals(np.zeros(free.shape), np.ones(free.shape), free, margins, monotone)
    except SparsedpError:
        return False
    return all(float(np.abs(margin.of(table) - margin.totals).max()) <= least + _GOAL * grand for margin in margins)


def _disjoint(margins: Sequence[Margin]) -> bool:
    axes = [axis for margin in margins for axis in margin.axes]
    return len(axes) == len(set(axes))


def _only_zero_totals(free: Mask, margins: Sequence[Margin]) -> bool:
    """Whether every cell is free that has no total of zero."""
    above = np.ones(free.shape, np.bool_)
    for margin in margins:
        above &= margin.over(free.ndim, margin.totals) > 0
    return bool(free[above].all())


def _program(free: Mask, margins: Sequence[Margin], monotone: Mapping[int, int], grand: float) -> bool:
    """In shares of the grand total, so that the solver's tolerances mean the same at every size."""
    numbers = np.full(free.shape, -1, np.int64)
    cells = int(free.sum())
    numbers[free] = np.arange(cells)
    if cells == 0:
        return all(not margin.totals.any() for margin in margins)
    sums = vstack([_sums(margin.groups(free.shape)[free], margin.totals.size, cells) for margin in margins])
    totals = np.concatenate([margin.totals.ravel() for margin in margins]) / grand
    rules = [LinearConstraint(sums, totals, totals)]
    rules += [LinearConstraint(_steps(numbers, axis, sign, cells), -np.inf, 0.0) for axis, sign in monotone.items()]
    return bool(milp(np.zeros(cells), constraints=rules).status == 0)


def _sums(groups: Ints, size: int, cells: int) -> csr_array:
    return coo_array((np.ones(cells), (groups, np.arange(cells))), (size, cells)).tocsr()


def _steps(numbers: Ints, axis: int, sign: int, cells: int) -> csr_array:
    """Rows x_low − x_high ≤ 0 for neighbouring free cells; a cell that is not free never lies above a free one."""
    lines = np.moveaxis(numbers, axis, 0)
    low, high = (lines[:-1], lines[1:]) if sign > 0 else (lines[1:], lines[:-1])
    both = (low >= 0) & (high >= 0)
    low, high = low[both], high[both]
    row = np.arange(len(low))
    entries = np.concatenate([np.ones(len(low)), -np.ones(len(low))])
    return coo_array((entries, (np.tile(row, 2), np.concatenate([low, high]))), (len(low), cells)).tocsr()
