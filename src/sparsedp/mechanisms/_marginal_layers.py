"""Which marginals of a table Adaptive measures, and with which shares: public functions of shape, workload and total.

First the total, with a small share: the noisy number of records says, beside the number of groups, what is worth
measuring. Then all marginals of one axis and of two; of three, where their groups are seen above the noise in the mean;
and the cells, likewise, if they are wanted. Within an order a marginal has a share in proportion to the root of its
number of groups, which makes the mean of their errors least under Laplace noise, and nearly so under Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import isqrt, prod

from sparsedp.sensing.marginals import ALL, CELLS, Layer

TOTAL = Fraction(1, 50)
"""For the sum of all cells, before anything else is decided."""

MOST_CELLS = 2**24
"""Larger tables are measured in cells and blocks: every step of the fit goes over all cells some times."""

LEAST_AXES = 3
"""From so many axes on "any" measures marginals."""

PAIRS_SEEN, TRIPLES_SEEN = 2.0, 4.0
"""Mean count of a group of two or three axes, in deviations of the noise that it would have: from here on pairs have
most of what is for marginals, and triples are measured."""

CELLS_SEEN, CELLS_SEEN_GAUSSIAN = 0.5, 0.3
"""Mean count of a cell, in deviations of the noise that it would have: from here on the cells are measured. Under
Gaussian noise a layer more costs the others less."""

OF_CELLS = Fraction(45, 100)
"""For the cells, of what the total leaves, if they are measured."""

FAINT, PAIRS, TRIPLES = {1: 35, 2: 65}, {1: 15, 2: 85}, {1: 10, 2: 40, 3: 50}
"""Hundredths of what is left for marginals, by how many axes they have: where pairs are hardly seen above the noise,
where they are, and where triples are."""

Shares = list[tuple[Layer, Fraction]]
"""Layers, each with its share of the budget."""

Deviation = Callable[[Fraction], float]
"""Of the noise that a share of the budget buys."""


def whole_table(shape: Sequence[int]) -> Layer:
    """All cells together."""
    return tuple(ALL for _ in shape)


def marginal(shape: Sequence[int], axes: Sequence[int]) -> Layer:
    """The sums over all other axes."""
    return tuple(CELLS if axis in axes and side > 1 else ALL for axis, side in enumerate(shape))


def long_axes(shape: Sequence[int]) -> list[int]:
    """Those of more than one cell."""
    return [axis for axis, side in enumerate(shape) if side > 1]


def by_order(shape: Sequence[int], total: float, deviation: Deviation, *, gaussian: bool, with_cells: bool) -> Shares:
    """What is measured beside the total, which is about so much: marginals, and the cells if they are wanted."""
    axes, left = long_axes(shape), 1 - TOTAL
    shares: Shares = []
    least = CELLS_SEEN_GAUSSIAN if gaussian else CELLS_SEEN
    if with_cells and len(axes) > 2 and total / prod(shape) >= least * deviation(left * OF_CELLS):
        shares.append((marginal(shape, axes), left * OF_CELLS))
        left *= 1 - OF_CELLS

    def seen(order: int, hundredths: int) -> float:
        """The mean count of groups of so many axes, in deviations of their noise, if they had that much."""
        several = list(combinations(axes, order))
        groups = sum(prod(shape[axis] for axis in each) for each in several) / len(several)
        return total / groups / deviation(left * Fraction(hundredths, 100 * len(several)))

    orders = PAIRS if seen(2, PAIRS[2]) >= PAIRS_SEEN else FAINT
    if len(axes) > 3 and not shares and seen(3, TRIPLES[3]) >= TRIPLES_SEEN:
        orders = TRIPLES
    for order, hundredths in orders.items():
        shares += divided(shape, list(combinations(axes, order)), left * Fraction(hundredths, 100))
    return shares


def divided(shape: Sequence[int], asked: Sequence[Sequence[int]], share: Fraction) -> Shares:
    """A share over marginals, each in proportion to the root of its number of groups."""
    roots = [isqrt(prod(shape[axis] for axis in axes)) for axes in asked]
    return [
        (marginal(shape, axes), share * Fraction(root, sum(roots))) for axes, root in zip(asked, roots, strict=True)
    ]


def as_asked(shape: Sequence[int], asked: Sequence[Sequence[int]]) -> Shares:
    """The marginals that will be asked, and a little for each of their axes alone: these hold the others together."""
    wanted = {marginal(shape, axes): tuple(axes) for axes in asked}
    alone = {marginal(shape, [axis]): (axis,) for axes in asked for axis in axes}
    singles = [axes for layer, axes in alone.items() if layer not in wanted and layer != whole_table(shape)]
    of_singles = Fraction(10, 100) if singles else Fraction(0)
    several = [axes for layer, axes in wanted.items() if layer != whole_table(shape)]
    return [
        *divided(shape, singles, (1 - TOTAL) * of_singles),
        *divided(shape, several, (1 - TOTAL) * (1 - of_singles)),
    ]
