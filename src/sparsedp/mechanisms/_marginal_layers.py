"""Which layers of a table Adaptive measures, and with which shares: public functions of what was published before.

First the total, with a small share. The noisy number of records tells, with the shape, what each division of the budget
over the orders (all single axes, all pairs, all triples, the cells) would come to for a table of a usual kind; the best
one is taken. Within an order a layer has a share by its number of groups. Where there are records enough, one noisy
number for each pair and each triple says how far a model of what is known so far is off there: those that it fits
already are left out, and the others have more. Axes in declared groups (weekdays, states) are measured beside the axes
themselves, alone and in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, inf, prod, sqrt

import numpy as np
from scipy.special import pdtr

from sparsedp.arrays import Floats, Ints
from sparsedp.axes.domain import Domain
from sparsedp.sensing.marginals import (
    ALL,
    CELLS,
    Coarsened,
    Lattice,
    Layer,
    groups_along,
    in_order_of_first_cells,
    in_runs,
    refines,
)

TOTAL = Fraction(1, 100)
"""For the sum of all cells, before anything else is decided."""

OF_SCORES = (Fraction(1, 1000), Fraction(1, 250), Fraction(1, 80), Fraction(1, 25))
"""Of what is left beside single axes, for the numbers that say which pairs are worth measuring: the least that does."""

FINE_SCORE_NOISE, MOST_SCORE_NOISE = 0.03, 0.3
"""Of a score, in parts of the number of records: so little will do; with more than the second, nothing is spent on
scores, and all pairs are measured.
"""

MOST_CELLS = 2**24
"""Larger tables are measured in cells and blocks: every step of the fit goes over all cells some times."""

LEAST_AXES = 3
"""From so many axes on "any" measures marginals."""

LARGEST_ORDER = 3
"""Marginals of more axes are not measured, but for the cells."""

SCATTER = (1.0, 0.35, 0.12, 1.0)
"""What interactions of one, two, three and more axes are in a table of a usual kind, in parts of a group's count; the
last is all that cells have beside marginals of three axes.
"""

OF_SPLIT = 0.7
"""What the errors of single axes are held to, in parts of what they are where all marginals of one and two axes have
the same share.
"""

SEEN, CELLS_SEEN, ALONE_SEEN = 15.0, 5.0, 1.0
"""Mean counts of a group, in deviations of the noise that half of the budget puts on it: stretches of an axis are as
short as they can be to have so much; where cells have, they are measured. The last: of axes alone, that are measured to
see how well they explain the cells, in deviations of the noise that they have.
"""

DENSE, MOST_WEIGHT, MOST_WEIGHT_GAUSSIAN = 4.0, 200.0, 20.0
"""For "any", errors that are larger than those of noisy cells with the whole budget weigh (mean/DENSE)⁴, at most so
much: the mean is that of a cell in deviations of this noise. In sparse tables the model beats noisy cells anyway; and
under Gaussian noise, where shares cost roots, marginals beside the cells cost these less.
"""

SINGLES = (40, 30, 20, 15, 10, 6, 3)
PARTS = (100, 80, 60, 45, 30, 15, 0)
"""Hundredths of the budget that single axes may have; of the rest that pairs may; and of what is left that triples may:
of divisions that are as good as one another the first is taken.
"""

MOST_OF_ORDER = 300
"""Layers; an order that has more is not measured."""

NEGLIGIBLE = 1e-6
"""Records: nothing is worth less."""

FIRST, OF_FIT, MOST_UNEXPLAINED, LEAST_RHYTHM = Fraction(8, 100), Fraction(3, 100), 0.3, 2.0
"""Of a table with a calendar, for "any": for stretches and rhythms of single axes, and to see whether these explain the
cells. If more than this part of the records lies elsewhere, the table is measured as one without a calendar; and so is
a row, unless its rhythms move more records than this many times what the noise on them would seem to move.
"""

CAP = 2**38
"""Of what one group adds to a score: 2²⁴ of them leave room in 64 bits."""

Coarsenings = Sequence[Sequence[tuple[int, ...]]]
"""Of each axis, those that join cells."""

Shares = list[tuple[Layer, Fraction]]
"""Layers, each with its share of the budget."""

Deviation = Callable[[Fraction], float]
"""Of the noise that a share of the budget buys."""

CELLS_OF = -1
"""The order of the cells, whatever the number of axes is."""


def whole_table(shape: Sequence[int]) -> Layer:
    """All cells together."""
    return tuple(ALL for _ in shape)


def marginal(shape: Sequence[int], axes: Sequence[int]) -> Layer:
    """The sums over all other axes."""
    return tuple(CELLS if axis in axes and side > 1 else ALL for axis, side in enumerate(shape))


def long_axes(shape: Sequence[int]) -> list[int]:
    """Those of more than one cell."""
    return [axis for axis, side in enumerate(shape) if side > 1]


def coarsenings_of(domain: Domain | None, shape: Sequence[int]) -> Coarsenings:
    """Of each axis, those that join cells, each once."""
    if domain is None:
        return tuple(() for _ in shape)
    found = []
    for axis in domain.axes:
        several = dict.fromkeys(in_order_of_first_cells(each.group_of) for each in axis.coarsenings.values())
        found.append(tuple(each for each in several if 1 < max(each) + 1 < axis.length))
    return tuple(found)


def layers_of_order(shape: Sequence[int], order: int, coarsenings: Coarsenings | None = None) -> list[Layer]:
    """All marginals of so many axes; of one or two also with axes in groups."""
    axes = long_axes(shape)
    if order in (CELLS_OF, len(axes)):
        return [marginal(shape, axes)]
    found = []
    for kept in combinations(axes, order):
        levels: list[list[Coarsened]] = [
            [CELLS, *(coarsenings[axis] if coarsenings is not None and order < LARGEST_ORDER else ())] for axis in kept
        ]
        for chosen in product(*levels):
            if sum(one != CELLS for one in chosen) > 1:
                continue  # groups of one axis beside cells of the other say enough
            by_axis = dict(zip(kept, chosen, strict=True))
            found.append(tuple(by_axis.get(axis, ALL) for axis in range(len(shape))))
    plain = [layer for layer in found if all(isinstance(one, str) for one in layer)]
    return found if len(found) <= MOST_OF_ORDER else plain


def groups_of(shape: Sequence[int], layer: Layer) -> int:
    """How many sums a layer has."""
    return prod(groups_along(one, side) for one, side in zip(layer, shape, strict=True))


# ---- how much each order has


def planned(
    shape: Sequence[int], total: float, deviation: Deviation, *, with_cells: bool, gaussian: bool
) -> dict[int, Fraction]:
    """The share of each order, by the noisy total: what is left beside the total's own."""
    axes, total = len(long_axes(shape)), max(total, 1.0)
    side = prod(shape) ** (1.0 / axes)
    menu, of_all = list(_menu(axes)), deviation(Fraction(1))

    def about(share: Fraction) -> float:
        """The deviation, as far as it falls with the share as that of a continuous law does."""
        return float(of_all / (share**0.5 if gaussian else float(share)))

    errors = np.array([expected_errors(side, axes, total, about, shares) for shares in menu]) + NEGLIGIBLE
    least = errors.min(axis=0)
    if axes > 1:
        least[0] = max(least[0], OF_SPLIT * 0.8 * side * deviation((1 - TOTAL) / (axes + comb(axes, 2))))
    weights = np.ones(errors.shape[1])
    if axes > LARGEST_ORDER:
        weights[-1] = float(with_cells)
    loss = ((errors / least) ** 2 * weights).sum(axis=1)
    if with_cells:
        orders, noise = [*range(1, errors.shape[1]), axes], max(of_all, NEGLIGIBLE)
        of_cells = np.array([0.8 * noise * side ** ((order + axes) / 2.0) for order in orders])
        weight = min((total / prod(shape) / noise / DENSE) ** 4, MOST_WEIGHT_GAUSSIAN if gaussian else MOST_WEIGHT)
        loss += weight * (np.maximum(errors / of_cells - 1.0, 0.0) ** 2).sum(axis=1)
    return menu[int(np.argmin(loss))]


def _menu(axes: int) -> Iterator[dict[int, Fraction]]:
    left = 1 - TOTAL
    orders = [order for order in (2, 3) if order < axes and comb(axes, order) <= MOST_OF_ORDER]
    if axes == 1:
        yield {CELLS_OF: left}  # its only marginal is the cells
        return
    if not orders:
        for single in SINGLES:
            yield {1: left * Fraction(single, 100), CELLS_OF: left * Fraction(100 - single, 100)}
        return
    for single, *parts in product(SINGLES, *[PARTS for _ in orders]):
        shares = {1: left * Fraction(single, 100)}
        rest = left - shares[1]
        for order, part in zip(orders, parts, strict=True):
            shares[order] = rest * Fraction(part, 100)
            rest -= shares[order]
        shares[CELLS_OF] = rest
        yield {order: share for order, share in shares.items() if share}


def expected_errors(
    side: float, axes: int, total: float, deviation: Deviation, shares: Mapping[int, Fraction]
) -> list[float]:
    """Of marginals of one, two and three axes, and of the cells: the sum of absolute errors, if all axes were alike.

    A marginal is made of components, one for each set of its axes (as in the analysis of variance). Each is known as
    well as all layers that hold it say, or as what is usual of it (`SCATTER`, and the scatter of counts).
    """
    noise = {axes if order == CELLS_OF else order: share for order, share in ({0: TOTAL} | dict(shares)).items()}
    variances = {order: max(deviation(share / comb(axes, order)), NEGLIGIBLE) ** 2 for order, share in noise.items()}
    components = []
    for order in range(axes + 1):
        mean = total / side**order
        usual = (SCATTER[min(order, len(SCATTER)) - 1] * mean) ** 2 + mean if order else inf
        precision = 1.0 / usual + sum(
            comb(axes - order, finer - order) / (variance * side ** (finer - order))
            for finer, variance in variances.items()
            if finer >= order
        )
        components.append((1.0 - 1.0 / side) ** order / precision)
    found = []
    for asked in dict.fromkeys((*range(1, min(LARGEST_ORDER, axes) + 1), axes)):
        of_group = sum(
            comb(asked, order) * components[order] * side ** (2.0 * (order - asked)) for order in range(asked + 1)
        )
        found.append(min(0.8 * side**asked * sqrt(of_group), 2.0 * total))
    return found


# ---- how much each layer of an order has


def divided(shape: Sequence[int], layers: Sequence[Layer], share: Fraction, *, gaussian: bool) -> Shares:
    """A share over layers, by their numbers of groups: the sum of all absolute errors is then the least."""
    weights = [_weight(groups_of(shape, layer), gaussian) for layer in layers]
    return [(layer, share * Fraction(weight, sum(weights))) for layer, weight in zip(layers, weights, strict=True)]


def _weight(groups: int, gaussian: bool) -> int:
    """The deviation of noise falls as one over the share, or its root."""
    power: float = 2 / 3 if gaussian else 1 / 2
    return max(1, round(float(1000 * groups**power)))


def worth_measuring(
    shape: Sequence[int],
    layers: Sequence[Layer],
    scores: Floats,
    share: Fraction,
    deviation: Deviation,
    *,
    gaussian: bool,
) -> Shares:
    """Those layers, with their shares, that together bring the model's errors down the most: the scores say how far it
    is off now, in all groups of a layer.
    """
    groups = np.array([groups_of(shape, layer) for layer in layers], dtype=np.float64)
    off = np.maximum(scores, 0.0)
    order = np.argsort(-off / np.array([_weight(int(each), gaussian) for each in groups]), kind="stable")
    best, most = divided(shape, layers, share, gaussian=gaussian), 0.0
    for many in range(1, len(layers) + 1):
        chosen = order[:many]
        shares = divided(shape, [layers[place] for place in chosen], share, gaussian=gaussian)
        noise = np.array([max(deviation(each), NEGLIGIBLE) for _, each in shares])
        # In a group the model is off by `each`, and with the measurement by the harmonic mean of both.
        each = off[chosen] / (0.8 * groups[chosen])
        left = off[chosen] * noise / np.hypot(each, noise)
        if float((off[chosen] - left).sum()) > most:
            best, most = shares, float((off[chosen] - left).sum())
    return best


def departures(shape: tuple[int, ...], layers: Sequence[Layer], cells: Ints, expected: Floats) -> Ints:
    """For each layer the sum over its groups of |exact − expected|, the expected sums rounded, each capped.

    Differences are taken modulo 2⁶⁴, and their size is the distance from 0 there: one that wraps has no jump.
    """
    lattice = Lattice(shape, layers)
    found = []
    for exact, model in zip(lattice.sums(cells.reshape(shape)), lattice.sums(expected.reshape(shape)), strict=True):
        rounded = np.rint(np.clip(model, 0.0, 2.0**62)).astype(np.int64)
        off = (exact - rounded).view(np.uint64)
        found.append(int(np.minimum(np.minimum(off, ~off + np.uint64(1)), np.uint64(CAP)).sum()))
    return np.array(found, dtype=np.int64)


# ---- tables of one or two axes in declared groups


def cells_are_seen(shape: Sequence[int], total: float, deviation: Deviation) -> bool:
    """Whether most cells stand out of the noise."""
    return total / prod(shape) >= CELLS_SEEN * deviation(Fraction(1, 2))


def has_rhythms(coarsenings: Coarsenings) -> bool:
    """Whether the cells of some axis come round again, as days of the week do."""
    return any(not in_runs(groups) for several in coarsenings for groups in several)


def stretches_and_rhythms(
    shape: Sequence[int], coarsenings: Coarsenings, total: float, least: float, beside: str
) -> list[Layer]:
    """Of each axis that has groups the shortest stretches and the longest rhythm that have so many records in the
    mean, or the coarsest of either kind. `beside`: what other axes are in.
    """
    wanted = []
    for axis, several in enumerate(coarsenings):
        stretches = [groups for groups in several if in_runs(groups)]
        for kind in (stretches, [groups for groups in several if groups not in stretches]):
            layers = [
                tuple(groups if place == axis else beside if side > 1 else ALL for place, side in enumerate(shape))
                for groups in sorted(kind, key=max)
            ]
            seen = [one for one in layers if total / groups_of(shape, one) >= least]
            # Of stretches the finest is enough; rhythms need not hold one another, as weekdays and hours do not.
            wanted += [one for one in seen if not any(_holds(other, one) for other in seen)] or layers[:1]
    return wanted


def axes_alone(shape: Sequence[int], coarsenings: Coarsenings, total: float, least: float) -> list[Layer]:
    """The stretches and rhythms of axes that have some, and the cells of the others, each axis by itself."""
    plain = [axis for axis in long_axes(shape) if not coarsenings[axis]]
    return [
        *stretches_and_rhythms(shape, coarsenings, total, least, ALL),
        *(marginal(shape, [axis]) for axis in plain),
    ]


def unexplained(departure: float, expected: Floats, noise: float) -> float:
    """How many records lie elsewhere than a model expects, beyond what a Poisson law would scatter: by the sum of
    |cell − expected|. `noise`: what the model itself may be off by in that sum.
    """
    rate = np.maximum(expected, 0.0).reshape(-1)
    nearest = np.rint(rate)
    below = np.where(nearest > 0.0, pdtr(np.maximum(nearest - 1.0, 0.0), rate), 0.0)
    scatter = 2.0 * (nearest * pdtr(nearest, rate) - rate * below) + rate - nearest
    beyond = max(departure - float(scatter.sum()), 0.0)
    return sqrt(max(beyond**2 - noise**2, 0.0))


def is_rhythm(layer: Layer) -> bool:
    """Whether it joins cells that do not follow one another."""
    return any(not isinstance(one, str) and not in_runs(one) for one in layer)


def _holds(finer: Layer, coarser: Layer) -> bool:
    return finer != coarser and all(map(refines, finer, coarser))


# ---- marginals that are named


def as_asked(shape: Sequence[int], wanted: Sequence[Layer], left: Fraction, *, gaussian: bool) -> Shares:
    """The layers that will be asked, and a little for each of their axes alone: these hold the others together. With
    all that is `left` of the budget; of an axis that has one group alone, that is the total once more.
    """
    several = [layer for layer in dict.fromkeys(wanted) if layer != whole_table(shape)] or [whole_table(shape)]
    alone = dict.fromkeys(
        tuple(one if axis == other else ALL for other, one in enumerate(layer))
        for layer in several
        for axis in range(len(shape))
        if layer[axis] != ALL
    )
    singles = [layer for layer in alone if layer not in several]
    of_singles = Fraction(10, 100) if singles else Fraction(0)
    found = divided(shape, singles, left * of_singles, gaussian=gaussian) if singles else []
    return found + divided(shape, several, left * (1 - of_singles), gaussian=gaussian)
