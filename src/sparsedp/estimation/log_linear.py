"""A hierarchical log-linear model of a table, fitted to noisy sums over any layers (`log_linear.md`).

The logarithm of a cell is the sum of one parameter for each layer: that of the group which the cell is in there. The
factors of one layer, the exponentials of its parameters, have a gamma prior with mean one, whose variance is learned
from all of them: interactions that the data do not show are shrunk away, those that they show are kept. One fit weighs
every layer by the law of its noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, combinations
from math import inf, log, prod, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.sensing.marginals import ALL, CELLS, Lattice, Layer, Marginals, in_runs, joined

LEAST_VARIANCE = 1e-12
"""Of the noise; less is taken for this."""

LEAST_MASS = 1e-12
"""Of a group, where it is divided by."""

VAGUE, VAGUE_AXIS = 0.5, 10.0
"""The variance that the prior of a layer's factors has at first; of a single axis that has nothing coarser."""

LEAST_PRIOR, LEAST_AXIS, MOST_PRIOR = 1e-6, 1.0, 30.0
"""Between these the variances are learned; those of single axes that have nothing coarser, from the second on."""

LEAST_AT_FIRST = 1e-4
"""The same for the start."""

UNKNOWN = 0.02
"""One factor more of each layer has this variance: of few groups nothing would be believed but what stands out."""

MOST_AXES_OF_MODEL, MOST_AXES_COARSENED, MOST_STRUCTURE = 3, 2, 150
"""Layers that were not measured, but are part of one that was, have parameters too: of so many axes at most, some of
them in declared groups if they are so few, and no more than so many layers.
"""

MOST_PARAMETERS, FEW_PARAMETERS = 2, 2**16
"""Of these layers together: as many times the cells, or so many if that is more. Whoever wrote a file chose the groups,
and a few lines of it could ask for a hundred times the memory of the table.
"""

ROUNDS, FIRST_SWEEPS = 12, 5
"""Of Gauss–Newton steps at most, after so many of proportional fitting."""

CONJUGATE, RESIDUAL = 25, 0.05
"""Steps of conjugate gradients in each round, at most, and when they end: the residual over the first one."""

FARTHEST = 3.0
"""The most that a step may change the logarithm of a cell."""

ENOUGH = 0.5
"""A round that gains less than this of the log-likelihood is the last."""

HALVINGS = 6

EXPONENTS = 12.0
"""Of a parameter in proportional fitting."""


@dataclass(frozen=True)
class LogLinear:
    """The model as it is fitted: parameters of all layers, the variances of their priors, and every cell.

    `noise`: the variance of each layer's, None for a layer that was not measured. `observed`: zeros for these.
    """

    lattice: Lattice
    observed: list[Floats]
    noise: list[float | None]
    laplace: bool
    parameters: list[Floats]
    priors: list[float]
    cells: Floats

    @cached_property
    def free(self) -> list[bool]:
        """Which layers have one axis alone, and nothing coarser of it."""
        return _free(self.lattice.layers)

    @property
    def least(self) -> list[float]:
        """Of the variances of the priors."""
        return [LEAST_AXIS if free else LEAST_PRIOR for free in self.free]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the table."""
        return self.lattice.shape

    @cached_property
    def sums(self) -> list[Floats]:
        """Of the fitted cells, by layer."""
        return self.lattice.sums(self.cells)

    @cached_property
    def weights(self) -> list[Floats]:
        """The precision of each noisy sum. Laplace noise is fitted by iteratively reweighted least squares: what is
        far off counts less. That of single cells by its variance alone: of each there is only one.
        """
        found = []
        for layer, noise, observed, fitted in zip(
            self.lattice.layers, self.noise, self.observed, self.sums, strict=True
        ):
            if noise is None:
                found.append(np.zeros(fitted.shape))
            elif self.laplace and not self._is_cells(layer):
                scale = sqrt(noise / 2.0)
                found.append(1.0 / (scale * np.hypot(observed - fitted, scale)))
            else:
                found.append(np.full(fitted.shape, 1.0 / noise))
        return found

    def _is_cells(self, layer: Layer) -> bool:
        return all(one == CELLS or side == 1 for one, side in zip(layer, self.shape, strict=True))

    @cached_property
    def curvatures(self) -> list[Floats]:
        """Of the priors, at each parameter."""
        return [np.exp(one) / prior for one, prior in zip(self.parameters, self.priors, strict=True)]

    @cached_property
    def information(self) -> list[Floats]:
        """The diagonal of the Hessian: what the noisy sums of a layer and of finer ones say of each parameter."""
        squares = [fitted**2 * weight for fitted, weight in zip(self.sums, self.weights, strict=True)]
        measured = [noise is not None for noise in self.noise]
        return pulled_together(self.lattice, self.curvatures, squares, measured)

    @cached_property
    def objective(self) -> float:
        """The negative logarithm of the posterior density, but for a constant."""
        total = 0.0
        layers = zip(self.lattice.layers, self.noise, self.observed, self.sums, strict=True)
        for layer, noise, observed, fitted in layers:
            if noise is None:
                continue
            if self.laplace and not self._is_cells(layer):
                scale = sqrt(noise / 2.0)
                total += float((np.hypot((observed - fitted) / scale, 1.0) - 1.0).sum())
            else:
                total += 0.5 * float(((observed - fitted) ** 2).sum()) / noise
        of_priors = zip(self.parameters, self.priors, strict=True)
        return total + sum(_depth(one) / prior for one, prior in of_priors if prior < inf)

    def at(self, parameters: list[Floats]) -> LogLinear:
        """The model with other parameters."""
        cells = np.exp(np.minimum(self.lattice.spread(parameters), 80.0))
        return replace(self, parameters=parameters, cells=cells)

    def hessian(self, direction: list[Floats]) -> list[Floats]:
        """Its product with a direction, in the approximation of Gauss and Newton."""
        moved = self.lattice.sums(self.cells * self.lattice.spread(direction))
        pulled = self.lattice.sums(
            self.cells * self.lattice.spread([w * one for w, one in zip(self.weights, moved, strict=True)])
        )
        return [pull + one * curved for pull, one, curved in zip(pulled, direction, self.curvatures, strict=True)]

    @cached_property
    def descent(self) -> list[Floats]:
        """Minus the gradient of the objective."""
        layers = zip(self.weights, self.observed, self.sums, strict=True)
        residuals = [weight * (observed - fitted) for weight, observed, fitted in layers]
        pulled = self.lattice.sums(self.cells * self.lattice.spread(residuals))
        return [
            pull - np.expm1(one) / prior for pull, one, prior in zip(pulled, self.parameters, self.priors, strict=True)
        ]

    def stepped(self) -> LogLinear:
        """After a step of Gauss and Newton, shortened until it is one downhill; the same model if none is."""
        towards = self._solved(self.descent)
        farthest = float(np.abs(self.lattice.spread(towards)).max())
        length = min(1.0, FARTHEST / max(farthest, 1e-9))
        for _ in range(HALVINGS):
            there = self.at([one + length * step for one, step in zip(self.parameters, towards, strict=True)])
            if there.objective < self.objective:
                return there
            length /= 3.0
        return self

    def _solved(self, right: list[Floats]) -> list[Floats]:
        """What the Hessian takes to the right side, by conjugate gradients, preconditioned by its diagonal."""
        diagonal = joined(self.information)
        residual = joined(right)
        solved, scaled = np.zeros_like(residual), residual / diagonal
        direction, size = scaled, inner(residual, scaled)
        first = size
        for _ in range(CONJUGATE):
            if size <= RESIDUAL**2 * first or size <= 0.0:
                break
            image = joined(self.hessian(self._split(direction)))
            length = size / inner(direction, image)
            solved = solved + length * direction
            residual = residual - length * image
            scaled = residual / diagonal
            last, size = size, inner(residual, scaled)
            direction = scaled + size / last * direction
        return self._split(solved)

    def _split(self, values: Floats) -> list[Floats]:
        shapes = [one.shape for one in self.parameters]
        ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(values, ends), shapes, strict=True)]

    def learned(self) -> LogLinear:
        """With priors whose variances the parameters suggest, as far as the data determine these (MacKay 1992)."""
        known = zip(self.parameters, self.curvatures, self.information, self.priors, self.least, strict=True)
        priors = [
            prior if prior == inf else _learned(one, float((1.0 - curved / information).sum()), least)
            for one, curved, information, prior, least in known
        ]
        return replace(self, priors=priors)


def pulled_together(
    lattice: Lattice, own: Sequence[Floats], squares: Sequence[Floats], measured: Sequence[bool | float]
) -> list[Floats]:
    """For each layer what it has of its `own`, and the sums of the squares of those measured ones that refine it."""
    found = []
    for coarser, finer, total in zip(lattice.layers, lattice.finer, own, strict=True):
        for place in finer:
            if measured[place]:
                total = total + lattice.between(squares[place], lattice.layers[place], coarser)
        found.append(np.maximum(total, LEAST_MASS))
    return found


def inner(one: Floats, other: Floats) -> float:
    """The inner product, on one thread: starting threads of a linear algebra library for so little takes ten times as
    long as the product.
    """
    return float(np.einsum("i,i->", one, other))


def _depth(parameters: Floats) -> float:
    """Σ(e^θ − 1 − θ): minus the logarithm of the gamma density of all factors, but for its shape. Infinite where a step
    went too far, and then the step is shortened.
    """
    with np.errstate(over="ignore"):
        return float((np.expm1(parameters) - parameters).sum())


def _learned(parameters: Floats, determined: float, least: float) -> float:
    """The variance of a gamma law of mean one, by maximum likelihood (Minka 2002): log a − ψ(a) = mean depth."""
    known = max(determined, 0.0) + 1.0
    depth = max((_depth(parameters) + 0.5 * UNKNOWN) / known, 1e-9)
    shape = (3.0 - depth + sqrt((depth - 3.0) ** 2 + 24.0 * depth)) / (12.0 * depth)
    return min(max(1.0 / shape, least), MOST_PRIOR)


def _free(layers: Sequence[Layer]) -> list[bool]:
    """Which are the coarsest stretches, or the coarsest rhythm, of one axis alone; its cells, if it has neither: a
    marginal is anything, but days differ little from what their month and their weekday say, and so do weeks.
    """
    coarsest: dict[tuple[int, bool], tuple[int, Layer]] = {}
    cells: dict[int, Layer] = {}
    for layer in layers:
        parted = [(axis, one) for axis, one in enumerate(layer) if one != ALL]
        if len(parted) != 1:
            continue
        ((axis, one),) = parted
        if isinstance(one, str):
            cells[axis] = layer
        else:
            kind, found = (axis, in_runs(one)), (max(one), layer)
            coarsest[kind] = min(coarsest.get(kind, found), found, key=lambda each: each[0])
    grouped = {axis for axis, _ in coarsest}
    free = {layer for _, layer in coarsest.values()} | {cells[axis] for axis in cells if axis not in grouped}
    return [layer in free for layer in layers]


def structure(sensing: Marginals) -> list[Layer]:
    """Layers that were not measured, whose parameters hold those of measured ones together: marginals of these, and
    the same with an axis in declared groups.
    """
    measured, shape = set(sensing.layers), sensing.shape
    of_fewer_axes = dict.fromkeys(part for layer in sensing.layers for part in _parts(layer))
    grouped = dict.fromkeys(
        (*layer[:axis], groups, *layer[axis + 1 :])
        for layer in (*of_fewer_axes, *sensing.layers)
        if sum(one != ALL for one in layer) <= MOST_AXES_COARSENED
        for axis, one in enumerate(layer)
        if one == CELLS
        for groups in sensing.coarsenings[axis]
    )
    sizes = {layer: prod(sensing.shape_of(layer)) for layer in of_fewer_axes | grouped if layer not in measured}
    found = sorted(sizes, key=lambda layer: sizes[layer])
    most = max(MOST_PARAMETERS * sensing.n, FEW_PARAMETERS)
    together = accumulate(sizes[layer] for layer in found)
    within = [layer for layer, parameters in zip(found, together, strict=True) if parameters <= most]
    return [tuple(ALL for _ in shape)] * (tuple(ALL for _ in shape) not in measured) + within[:MOST_STRUCTURE]


def _parts(layer: Layer) -> Iterator[Layer]:
    axes = [axis for axis, one in enumerate(layer) if one != ALL]
    for many in range(1, min(len(axes), MOST_AXES_OF_MODEL + 1)):
        for kept in combinations(axes, many):
            yield tuple(one if axis in kept else ALL for axis, one in enumerate(layer))


def fit_log_linear(sensing: Marginals, values: Ints, law: LayersLaw, rounds: int = ROUNDS) -> LogLinear:
    """The expected cells that the noisy sums suggest, their total the one that all layers together suggest."""
    observed = [part.astype(np.float64) for part in sensing.split(values)]
    measured = _joint(sensing.layers, observed, [max(one.variance, LEAST_VARIANCE) for one in law.layers])
    total, beside = _total(measured.values()), structure(sensing)
    layers = [*measured, *beside]
    lattice = Lattice(sensing.shape, layers)
    observed = [sums for sums, _ in measured.values()] + [np.zeros(lattice.shape_of(layer)) for layer in beside]
    noise = [*(variance for _, variance in measured.values()), *(None for _ in beside)]
    parameters = [np.zeros(one.shape) for one in observed]
    parameters[layers.index(tuple(ALL for _ in sensing.shape))][...] = log(max(total, 1.0) / sensing.n)
    priors = [
        inf if set(layer) == {ALL} else VAGUE_AXIS if free else VAGUE
        for layer, free in zip(layers, _free(layers), strict=True)
    ]
    laplace = isinstance(law.layers[0], DiscreteLaplaceLaw)
    model = LogLinear(lattice, observed, noise, laplace, parameters, priors, np.zeros(()))
    model = proportionally_fitted(model.at(parameters))
    for _ in range(rounds):
        there = model.stepped()
        gained = model.objective - there.objective
        model = there.learned()
        if gained < ENOUGH:
            break
    return replace(model, cells=model.cells * (max(total, 0.0) / max(float(model.cells.sum()), LEAST_MASS)))


def _joint(
    layers: Sequence[Layer], observed: Sequence[Floats], noise: Sequence[float]
) -> dict[Layer, tuple[Floats, float]]:
    """The sums of each layer and the variance of their noise: of one that was measured twice, their weighted mean."""
    found: dict[Layer, tuple[Floats, float]] = {}
    for layer, sums, variance in zip(layers, observed, noise, strict=True):
        if layer in found:
            other, of_other = found[layer]
            weight = of_other / (of_other + variance)
            found[layer] = weight * sums + (1.0 - weight) * other, weight * variance
        else:
            found[layer] = sums, variance
    return found


def _total(measured: Iterable[tuple[Floats, float]]) -> float:
    """Of all cells, as the layers together suggest: each weighed by the noise of its sum."""
    known = [(float(sums.sum()), 1.0 / (variance * sums.size)) for sums, variance in measured]
    return sum(total * weight for total, weight in known) / sum(weight for _, weight in known)


def proportionally_fitted(model: LogLinear) -> LogLinear:
    """A start: iterative proportional fitting to the sums of each layer in turn, coarsest first, but those of cells.

    Each group is scaled as if its parameter's prior and this layer's noise were all that there is.
    """
    parameters, priors, cells = [one.copy() for one in model.parameters], list(model.priors), model.cells
    sizes = [one.size for one in parameters]
    places = [
        place
        for place in np.argsort(sizes, kind="stable").tolist()
        if 1 < sizes[place] < cells.size and model.noise[place] is not None
    ]
    for sweep in range(FIRST_SWEEPS):
        for place in places:
            noise, layer, before = model.noise[place] or LEAST_VARIANCE, model.lattice.layers[place], parameters[place]
            sums = np.maximum(model.lattice.to(cells, layer), LEAST_MASS)
            if not sweep and not model.free[place]:
                priors[place] = _by_moments(model.observed[place] - sums, sums, noise)
            new = _scaled(model.observed[place], sums * np.exp(-before), noise, 1.0 / priors[place])
            cells = cells * np.exp(model.lattice.from_layer(new - before, layer))
            parameters[place] = new
            if sweep:
                curved = np.exp(new) / priors[place]
                sums = np.maximum(model.lattice.to(cells, layer), LEAST_MASS)
                determined = float((1.0 - curved / (sums**2 / noise + curved)).sum())
                priors[place] = _learned(new, determined, max(model.least[place], LEAST_AT_FIRST))
    return replace(model, priors=priors).at(parameters)


def _by_moments(off: Floats, sums: Floats, noise: float) -> float:
    """The variance of factors that would leave sums that far off, beside their noise: what a prior has at first. From a
    vague one Laplace noise may be learned as if it were factors, and stays.
    """
    beyond = float((off**2).sum()) - noise * off.size
    return min(max(beyond / float((sums**2).sum()), LEAST_AT_FIRST), VAGUE)


def _scaled(observed: Floats, base: Floats, noise: float, shape: float) -> Floats:
    """log t, where t minimises (observed − base·t)²/(2·noise) + shape·(t − log t): a root of a quadratic."""
    square, slope = base * base / noise, observed * base / noise - shape
    root = np.sqrt(slope * slope + 4.0 * shape * square)
    below = 2.0 * shape / np.maximum(root - np.minimum(slope, 0.0), LEAST_MASS)
    found = np.where(slope > 0.0, (slope + root) / (2.0 * np.maximum(square, 1e-300)), below)
    return np.clip(np.log(np.maximum(found, 1e-300)), -EXPONENTS, EXPONENTS)
