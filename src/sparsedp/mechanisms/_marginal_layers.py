"""Which marginals of a table Adaptive measures, and with which shares: public functions of shape, workload and total.

First the total, with a small share: the noisy number of records says, beside the number of groups, what is worth
measuring. Then all marginals of one axis and of two; of three, where their groups are seen above the noise in the mean;
and the cells, likewise, if they are wanted. Within an order a marginal has a share in proportion to the root of its
number of groups, which makes the mean of their errors least under Laplace noise, and nearly so under Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf, isqrt, prod

from sparsedp.sensing.marginals import ALL, CELLS, Layer

TOTAL = Fraction(1, 50)
"""For the sum of all cells, before anything else is decided."""

MOST_CELLS = 2**24
"""Larger tables are measured in cells and blocks: every step of the fit goes over all cells some times."""

LEAST_AXES = 3
"""From so many axes on "any" measures marginals."""


@dataclass(frozen=True)
class Kind:
    """How a budget is divided under one kind of noise. Under Laplace noise of a share s the deviation grows as 1/s,
    under Gaussian as 1/√s: there a layer more costs the others less.

    Thresholds are mean counts of a group, in deviations of the noise that it would have: from there on `cells` are
    measured, and are `dense`; `triples` are measured; and so are they `beside_cells`, which makes cells worse. Below
    `pairs` a layer of pairs shows little, and single axes have more.
    """

    cells: float
    dense: float
    pairs: float
    triples: float
    beside_cells: float
    of_cells: Fraction
    of_dense_cells: Fraction
    by_order: dict[str, dict[int, int]]
    """Hundredths of what is left for marginals, by how many axes they have."""


LAPLACE = Kind(
    cells=0.5,
    dense=4.0,
    pairs=2.0,
    triples=4.0,
    beside_cells=inf,
    of_cells=Fraction(45, 100),
    of_dense_cells=Fraction(65, 100),
    by_order={"faint": {1: 35, 2: 65}, "pairs": {1: 15, 2: 85}, "triples": {1: 10, 2: 40, 3: 50}},
)
GAUSSIAN = Kind(
    cells=0.3,
    dense=4.0,
    pairs=0.0,
    triples=1.0,
    beside_cells=40.0,
    of_cells=Fraction(45, 100),
    of_dense_cells=Fraction(50, 100),
    by_order={"pairs": {1: 35, 2: 65}, "triples": {1: 30, 2: 30, 3: 40}},
)
"""Chosen by trials on chains, on tables of flights and on tables of independent axes; the optimum is flat."""

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
    axes, left, kind = long_axes(shape), 1 - TOTAL, GAUSSIAN if gaussian else LAPLACE
    shares: Shares = []
    seen = total / prod(shape) / deviation(left * kind.of_cells)
    if with_cells and len(axes) > 2 and seen >= kind.cells:
        of_cells = kind.of_dense_cells if seen >= kind.dense else kind.of_cells
        shares.append((marginal(shape, axes), left * of_cells))
        left *= 1 - of_cells

    def group_seen(orders: str, order: int) -> float:
        """The mean count of groups of so many axes, in deviations of their noise."""
        several = list(combinations(axes, order))
        groups = sum(prod(shape[axis] for axis in each) for each in several) / len(several)
        return total / groups / deviation(left * Fraction(kind.by_order[orders][order], 100 * len(several)))

    orders = "pairs" if group_seen("pairs", 2) >= kind.pairs or gaussian else "faint"
    if len(axes) > 3 and group_seen("triples", 3) >= (kind.beside_cells if shares else kind.triples):
        orders = "triples"
    for order, hundredths in kind.by_order[orders].items():
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
