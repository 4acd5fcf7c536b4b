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
from scipy.sparse import coo_array
from scipy.sparse.linalg import LinearOperator, cg

from sparsedp.arrays import Floats, Integers, Mask
from sparsedp.constraints.margin import Margin
from sparsedp.constraints.monotone import monotone_lines
from sparsedp.errors import SparsedpError

GOAL = 1e-13
"""Relative error of the totals at which to stop; a hundredth of what is promised will do if rounding hinders."""
PROMISED = 1e-9
"""Relative error of the totals that is never exceeded."""
MOST_STEPS = 500


def nearest_with_totals(
    table: Floats, weights: Floats, free: Mask, margins: Sequence[Margin], monotone: Mapping[int, int]
) -> Floats:
    """The table of the cone, with these margins, nearest to `table`; `monotone` has one axis at most.

    There must be such a table: `feasibility` finds out.
    """
    dual = _Dual(table, weights, free, margins, monotone)
    point = dual.at(np.zeros(dual.size))
    damping, idle = 1e-3, 0
    for _ in range(MOST_STEPS):
        if dual.error(point) <= GOAL or (idle > 5 and dual.error(point) <= 0.01 * PROMISED):
            break
        direction = dual.direction(point, damping)
        moved = dual.at(point.multipliers + direction)
        idle = 0 if dual.error(moved) <= 0.5 * dual.error(point) else idle + 1
        if dual.accepts(point, direction, moved):
            point, damping = moved, max(damping / 10.0, 1e-13)
        else:
            damping *= 5.0
    if dual.error(point) > PROMISED:
        raise SparsedpError("The totals could not be met to nine digits; leave one of them out.")
    return point.table


@dataclass
class _Point:
    """x(λ), and what the next step needs of it; `blocks` are the cells that a monotone axis has pooled."""

    multipliers: Floats
    table: Floats
    blocks: Integers | None
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

    def _curvature_of_blocks(self, blocks: Integers, active: Mask) -> Floats:
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
