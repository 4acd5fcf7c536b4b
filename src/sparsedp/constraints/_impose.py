"""Make an estimate obey constraints: post-processing, which costs no privacy and never sees the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, prod, sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints, Mask, Numbers
from sparsedp.constraints._checked import CheckedConstraints
from sparsedp.constraints._margins import Margin, nearest_monotone, rounded_with_two_margins
from sparsedp.constraints.constraints import Constraints
from sparsedp.errors import InvalidInput
from sparsedp.jit import kernel


def impose(
    estimate: npt.ArrayLike,
    constraints: Constraints | CheckedConstraints,
    variance: npt.ArrayLike | None = None,
    axis_names: Sequence[str] | None = None,
) -> Floats:
    """A table near `estimate` that obeys the constraints: totals to 10⁻⁹ of themselves, all else exactly.

    First negative cells are removed, their deficits being taken from nearby cells so that sums stay
    (`nonnegative.py`); then comes the nearest table in Σ (change)² / `variance`; whole numbers come last. A table that
    obeys is left as it is. `variance`, of each cell's error, says which cells to trust; without it all alike.
    """
    values = np.array(estimate, np.float64, order="C")
    if values.size == 0 or not np.isfinite(values).all():
        raise InvalidInput("estimate", "empty or not finite", "give a table of numbers")
    checked = constraints.checked(values.shape, axis_names) if isinstance(constraints, Constraints) else constraints
    if checked.shape != values.shape:
        raise InvalidInput("estimate", f"of shape {values.shape}", f"the constraints are on a table of {checked.shape}")
    table = _nearest(values, _weights(values.shape, variance), checked)
    return _whole(table, checked) if checked.integers else table


def _weights(shape: tuple[int, ...], variance: npt.ArrayLike | None) -> Floats:
    """Variances in units of the largest; none is so small that its cell could not move at all."""
    if variance is None:
        return np.ones(shape)
    given = np.asarray(variance, np.float64)
    if given.shape != shape or not np.isfinite(given).all() or (given < 0.0).any():
        raise InvalidInput("variance", "not one number of at least zero for each cell", f"give a table of {shape}")
    largest = float(given.max())
    return np.ascontiguousarray(np.maximum(given / largest, 1e-9)) if largest > 0.0 else np.ones(shape)


def _nearest(values: Floats, weights: Floats, checked: CheckedConstraints) -> Floats:
    finest = max(checked.margins, key=lambda margin: margin.totals.size, default=None)
    totals = None if finest is None else finest.totals.astype(np.float64)
    table = spread_totals(values, weights, checked.free, () if finest is None else finest.axes, totals)
    if len(checked.monotone) > 1:
        axes = tuple(axis for axis in range(table.ndim) if finest is None or axis not in finest.axes)
        sums = table.sum(axis=axes, keepdims=True)
        table = nearest_monotone(table, weights, checked.free, checked.monotone)
        # The weighted nearest has other sums. Scaling under each total keeps its lines monotone: they lie within it.
        found = table.sum(axis=axes, keepdims=True)
        table *= np.divide(sums, found, out=np.zeros(sums.shape), where=found > 0.0)
    elif checked.margins and (checked.monotone or len(checked.margins) > 1):
        from sparsedp.constraints._solvers import nearest_with_totals  # loads solvers, seldom needed

        table = nearest_with_totals(table, weights, checked.free, checked.margins, checked.monotone)
    elif checked.monotone:
        table = nearest_monotone(table, weights, checked.free, checked.monotone)
    return table


def _whole(table: Floats, checked: CheckedConstraints) -> Floats:
    if float(table.sum()) >= 2.0**53:
        return np.rint(table)  # such numbers are whole as they are, and have no room for more digits
    margin = checked.margins[0] if checked.margins else None
    if len(checked.margins) == 2:
        return rounded_with_two_margins(table, *checked.margins).astype(np.float64)
    if checked.monotone:
        return rounded_monotone(table, margin, checked.monotone).astype(np.float64)
    return rounded(table, margin).astype(np.float64)


# Cells at or above zero without moving the sums: a deficit is taken from the nearest cells that can bear it.


def nonnegative_keeping_totals(values: Floats, variance: Floats | None = None) -> Floats:
    """Non-negative cells near `values` whose sums are those of `values` wherever those can be believed; O(n).

    From the total downwards, each half of the table gets the share nearest to its own sum (weighted by the inverse
    variance) that leaves both halves what they surely hold: the mass of their cells above the noise, the noise being
    judged by the negative cells. The total stays unless it is less than that mass. Nothing changes where no cell is
    negative. A table of several axes is halved along each in turn. `variance` is above zero everywhere.
    """
    values = np.asarray(values, np.float64)
    free = np.ones(values.shape, np.bool_)
    weights = np.ones(values.shape) if variance is None else np.asarray(variance, np.float64)
    return spread_totals(values, weights, free, (), None)


def spread_totals(values: Floats, weights: Floats, free: Mask, kept: tuple[int, ...], totals: Floats | None) -> Floats:
    """The same with the `totals` over the `kept` axes given, and zeros in the cells that are not `free`.

    `weights` are variances, above zero. A total above zero needs a free cell under it.
    """
    values = np.where(free, values, 0.0)
    if totals is None and (values >= 0.0).all():
        return values
    halving = Halving(values.shape, kept)
    sums = halving.sums(values)
    weight_sums = halving.sums(np.where(free, weights, 0.0))
    noise = _noise(values, weights, sums[-1], weight_sums[-1], totals)
    surely = halving.sums(np.maximum(values - noise * np.sqrt(weights), 0.0))
    parents = np.maximum(sums[-1], surely[-1]) if totals is None else totals.ravel().astype(np.float64)
    for level in range(len(halving.views) - 1, -1, -1):
        view = halving.views[level]
        children = np.empty(view)
        _share(
            parents, sums[level].reshape(view), surely[level].reshape(view), weight_sums[level].reshape(view), children
        )
        parents = children.ravel()
    return parents.reshape(values.shape)


def _noise(values: Floats, weights: Floats, sums: Floats, weight_sums: Floats, totals: Floats | None) -> float:
    """Above how many times the root of its weight a cell is no mere noise.

    The noise's variance, in units of the weights, is that of the negative cells or, if larger, that of the sums
    around their known totals. Of m cells of Laplace noise of scale b, less than b·√m together lies above ½ log(m)·b:
    what passes for signal is less than the noise of the sum. Two b more are a margin for small m.
    """
    count = int(np.count_nonzero(values < 0.0))
    squares = float(np.sum(np.minimum(values, 0.0) ** 2 / weights)) / count if count else 0.0
    if totals is not None:
        known = weight_sums > 0.0
        count = max(count, 1)
        off = (totals.ravel()[known] - sums[known]) ** 2 / weight_sums[known]
        squares = max(squares, float(off.mean()) if off.size else 0.0)
    return sqrt(squares / 2.0) * (2.0 + 0.5 * log(max(count, 1)))


@kernel
def _share(parents: Floats, sums: Floats, surely: Floats, weights: Floats, children: Floats) -> None:
    """Split each parent's total over its two children; one without weight has no free cell and gets nothing."""
    before, along, after = sums.shape
    half = (along + 1) // 2
    for b in range(before):
        for i in range(along // 2):
            for c in range(after):
                total = parents[(b * half + i) * after + c]
                left, right = 2 * i, 2 * i + 1
                left_weight, right_weight = weights[b, left, c], weights[b, right, c]
                left_least, right_least = surely[b, left, c], surely[b, right, c]
                if right_weight == 0.0:
                    share = total
                elif left_weight == 0.0:
                    share = 0.0
                elif left_least + right_least > total:
                    share = total * (left_least / (left_least + right_least))
                else:
                    excess = total - sums[b, left, c] - sums[b, right, c]
                    share = sums[b, left, c] + excess * (left_weight / (left_weight + right_weight))
                    share = min(max(share, left_least), total - right_least)
                share = min(max(share, 0.0), total)
                children[b, left, c] = share
                children[b, right, c] = total - share
        if along % 2:
            for c in range(after):
                children[b, along - 1, c] = parents[(b * half + half - 1) * after + c]


# Whole counts out of fractional ones, without chance, moving no sum of nearby cells by as much as one.


def rounded(table: Floats, margin: Margin | None) -> Ints:
    """Whole cells with exactly the margin's totals; without a margin, the total is rounded to the nearest.

    Every node of the halving becomes its own sum rounded up or down; the half with the larger fraction goes up
    (largest remainder). So in one dimension every aligned dyadic sum is off by less than one, and every range by less
    than 2·log₂ n. `table` is non-negative and has the totals up to rounding errors; cells that are zero stay zero.
    """
    halving = Halving(table.shape, () if margin is None else margin.axes)
    sums = halving.sums(table)
    parents = np.rint(sums[-1]).astype(np.int64) if margin is None else margin.totals.ravel()
    for level in range(len(halving.views) - 1, -1, -1):
        view = halving.views[level]
        children = np.empty(view, np.int64)
        _round_halves(parents, sums[level].reshape(view), children)
        parents = children.ravel()
    return parents.reshape(table.shape)


@kernel
def _round_halves(parents: Ints, sums: Floats, children: Ints) -> None:
    before, along, after = sums.shape
    half = (along + 1) // 2
    for b in range(before):
        for i in range(along // 2):
            for c in range(after):
                total = parents[(b * half + i) * after + c]
                left, right = sums[b, 2 * i, c], sums[b, 2 * i + 1, c]
                share = np.int64(np.floor(left))
                spare = total - share - np.int64(np.floor(right))
                if right == 0.0:
                    share = total
                elif left == 0.0:
                    share = np.int64(0)
                elif spare == 1:
                    share += left - np.floor(left) >= right - np.floor(right)
                else:
                    share += spare // 2  # both up, or none; sums beyond a float's digits may leave more to share
                children[b, 2 * i, c] = min(max(share, 0), total)
                children[b, 2 * i + 1, c] = total - children[b, 2 * i, c]
        if along % 2:
            for c in range(after):
                children[b, along - 1, c] = parents[(b * half + half - 1) * after + c]


def rounded_monotone(table: Floats, margin: Margin | None, monotone: Mapping[int, int]) -> Ints:
    """Whole cells with exactly the margin's totals, still monotone; the margin has none of the monotone axes.

    Under each total the largest fractions are rounded up and, of equal ones, those further up their lines: cells in
    order stay in order. Ranges are not looked after: of equal cells, those at one end are rounded up. Without a margin
    the grand total is rounded to the nearest.
    """
    nearest = np.rint(table)
    table = np.where(np.abs(table - nearest) <= 1e-9 + 1e-14 * table, nearest, table)
    whole = np.floor(table).astype(np.int64)
    fractions = table - whole
    if margin is None:
        margin = Margin((), np.asarray(whole.sum() + round(float(fractions.sum()))))
    upwards = np.zeros(table.shape, np.int64)
    for axis, sign in monotone.items():
        upwards += sign * np.arange(table.shape[axis]).reshape([-1 if a == axis else 1 for a in range(table.ndim)])
    groups = margin.groups(table.shape).ravel()
    spare = (margin.totals - margin.of(whole)).ravel()
    ranked = np.lexsort((-upwards.ravel(), -fractions.ravel(), groups))
    sizes = np.bincount(groups, minlength=len(spare))
    rank = np.arange(table.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    whole.ravel()[ranked] += rank < np.repeat(spare, sizes)
    return whole


# Nested halves of a table: sums of neighbouring cells, one axis after the other (the order of a k-d tree).


class Halving:
    """How the cells of a table are paired up, level by level, until one sum is left for each cell of `kept` axes.

    Every level pairs neighbours along one axis, the axes taking turns from the last to the first; the last of an odd
    number of neighbours stays alone. In one dimension the nodes are the aligned dyadic ranges.
    `views[j]` is level j (0: the cells) as (before, along the axis that is halved next, after).
    """

    def __init__(self, shape: Sequence[int], kept: Sequence[int] = ()) -> None:
        sizes = list(shape)
        self.shape = tuple(shape)
        self.views: list[tuple[int, int, int]] = []
        halved = [axis for axis in reversed(range(len(sizes))) if axis not in kept]
        while any(sizes[axis] > 1 for axis in halved):
            for axis in halved:
                if sizes[axis] > 1:
                    self.views.append((prod(sizes[:axis]), sizes[axis], prod(sizes[axis + 1 :])))
                    sizes[axis] = (sizes[axis] + 1) // 2
        self.roots = tuple(sizes)

    def sums(self, cells: Floats) -> list[Floats]:
        """Level by level, the cells first and the roots last, each flat; the cells are not copied."""
        levels = [np.ravel(cells)]
        for view in self.views:
            levels.append(_pair_sums(levels[-1].reshape(view)).ravel())
        return levels


@kernel
def _pair_sums(children: Numbers) -> Numbers:
    before, along, after = children.shape
    half = (along + 1) // 2
    parents = np.empty((before, half, after), children.dtype)
    for b in range(before):
        for i in range(along // 2):
            for c in range(after):
                parents[b, i, c] = children[b, 2 * i, c] + children[b, 2 * i + 1, c]
        if along % 2:
            parents[b, half - 1] = children[b, along - 1]
    return parents
