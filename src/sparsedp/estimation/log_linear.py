"""A hierarchical log-linear model of a table, fitted to noisy sums over any layers (`log_linear.md`).

The logarithm of a cell is the sum of one parameter for each layer: that of the group which the cell is in there. Those
of one layer have a normal prior around zero, whose variance is learned from all of them: interactions that the data do
not show are shrunk away, those that they show are kept. One fit weighs every layer by the law of its noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, prod, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.sensing.marginals import ALL, Lattice, Layer, Marginals, joined, refines

LEAST_VARIANCE = 1e-12
"""Of the noise; less is taken for this."""

LEAST_MASS = 1e-12
"""Of a group, where it is divided by."""

VAGUE, VAGUE_AXIS = 0.5, 10.0
"""The variance that the prior of a layer's parameters has at first; of a single axis, whose marginal is anything."""

LEAST_PRIOR, MOST_PRIOR = 1e-6, 10.0
"""Between these the variances are learned."""

ROUNDS, SWEEPS = 12, 5
"""Of Gauss–Newton steps, after so many of proportional fitting."""

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

    `precision`: of each noisy sum, zero for the constant if the total was not measured.
    """

    lattice: Lattice
    observed: list[Floats]
    noise: list[float | None]
    laplace: bool
    parameters: list[Floats]
    priors: list[float]
    cells: Floats

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
        return all(one != ALL or side == 1 for one, side in zip(layer, self.shape, strict=True)) and all(
            isinstance(one, str) for one in layer
        )

    @cached_property
    def information(self) -> list[Floats]:
        """The diagonal of the Hessian: what the noisy sums of a layer and of finer ones say of each parameter."""
        squares = [fitted**2 * weight for fitted, weight in zip(self.sums, self.weights, strict=True)]
        found = []
        for coarser, prior in zip(self.lattice.layers, self.priors, strict=True):
            total = np.full(self.lattice.shape_of(coarser), 1.0 / prior)
            for finer, square in zip(self.lattice.layers, squares, strict=True):
                if all(map(refines, finer, coarser)):
                    total += self.lattice.between(square, finer, coarser)
            found.append(total)
        return found

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
        return total + sum(0.5 * float((one**2).sum()) / prior for one, prior in of_priors)

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
        return [pull + one / prior for pull, one, prior in zip(pulled, direction, self.priors, strict=True)]

    @cached_property
    def descent(self) -> list[Floats]:
        """Minus the gradient of the objective."""
        layers = zip(self.weights, self.observed, self.sums, strict=True)
        residuals = [weight * (observed - fitted) for weight, observed, fitted in layers]
        pulled = self.lattice.sums(self.cells * self.lattice.spread(residuals))
        return [pull - one / prior for pull, one, prior in zip(pulled, self.parameters, self.priors, strict=True)]

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
        direction, size = scaled, float(residual @ scaled)
        first = size
        for _ in range(CONJUGATE):
            if size <= RESIDUAL**2 * first or size <= 0.0:
                break
            image = joined(self.hessian(self._split(direction)))
            length = size / float(direction @ image)
            solved = solved + length * direction
            residual = residual - length * image
            scaled = residual / diagonal
            last, size = size, float(residual @ scaled)
            direction = scaled + size / last * direction
        return self._split(solved)

    def _split(self, values: Floats) -> list[Floats]:
        shapes = [one.shape for one in self.parameters]
        ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(values, ends), shapes, strict=True)]

    def learned(self) -> LogLinear:
        """With priors whose variances the parameters suggest (MacKay 1992): their squares, over how many of them the
        data determine.
        """
        priors = []
        for one, prior, information in zip(self.parameters, self.priors, self.information, strict=True):
            determined = float((1.0 - 1.0 / (prior * information)).sum())
            found = float((one**2).sum()) / max(determined, 1e-9)
            priors.append(prior if one.size == 1 else min(max(found, LEAST_PRIOR), MOST_PRIOR))
        return replace(self, priors=priors)


def fit_log_linear(sensing: Marginals, values: Ints, law: LayersLaw) -> LogLinear:
    """The cells that the noisy sums suggest, their total the one that all layers together suggest."""
    observed = [part.astype(np.float64) for part in sensing.split(values)]
    noise: list[float | None] = [max(one.variance, LEAST_VARIANCE) for one in law.layers]
    total = max(_total(observed, noise), 1.0)
    layers, whole = list(sensing.layers), tuple(ALL for _ in sensing.shape)
    if whole not in layers:
        layers.append(whole)
        observed.append(np.full([1] * len(sensing.shape), total))
        noise.append(None)
    lattice = Lattice(sensing.shape, layers)
    parameters = [np.zeros(one.shape) for one in observed]
    parameters[layers.index(whole)][...] = log(total / sensing.n)
    axes = [sum(one != ALL for one in layer) for layer in layers]
    priors = [1e12 if many == 0 else VAGUE_AXIS if many == 1 else VAGUE for many in axes]
    laplace = isinstance(law.layers[0], DiscreteLaplaceLaw)
    model = LogLinear(lattice, observed, noise, laplace, parameters, priors, np.zeros(()))
    model = proportionally_fitted(model.at(parameters))
    for _ in range(ROUNDS):
        there = model.stepped()
        gained = model.objective - there.objective
        model = there.learned()
        if gained < ENOUGH:
            break
    cells = model.cells * (max(_total(observed, noise), 0.0) / max(float(model.cells.sum()), LEAST_MASS))
    return replace(model, cells=cells)


def _total(observed: Sequence[Floats], noise: Sequence[float | None]) -> float:
    """Of all cells, as the layers together suggest: each weighed by the noise of its sum."""
    precise = [0.0 if one is None else 1.0 / (one * sums.size) for one, sums in zip(noise, observed, strict=True)]
    return sum(weight * float(sums.sum()) for weight, sums in zip(precise, observed, strict=True)) / sum(precise)


def proportionally_fitted(model: LogLinear) -> LogLinear:
    """A start: iterative proportional fitting to the sums of each layer in turn, coarsest first, but those of cells.

    Each group is scaled so that λ·parameter + sum = noisy sum: as if the parameter's prior and this layer's noise were
    all that there is.
    """
    parameters, priors, cells = [one.copy() for one in model.parameters], list(model.priors), model.cells
    sizes = [one.size for one in parameters]
    places = [place for place in np.argsort(sizes, kind="stable").tolist() if 1 < sizes[place] < cells.size]
    for sweep in range(SWEEPS):
        for place in places:
            noise, layer = model.noise[place] or LEAST_VARIANCE, model.lattice.layers[place]
            sums = np.maximum(model.lattice.to(cells, layer), LEAST_MASS)
            stiff = noise / (priors[place] * np.maximum(sums, 1e-3))
            new = np.clip(_scaled(model.observed[place], sums, stiff, parameters[place]), -EXPONENTS, EXPONENTS)
            cells = cells * np.exp(model.lattice.from_layer(new - parameters[place], layer))
            parameters[place] = new
            if sweep:
                left = 1.0 / (sums**2 / noise + 1.0 / priors[place])
                seen = float((new**2).sum()) / max(float((1.0 - left / priors[place]).sum()), 1e-9)
                priors[place] = min(max(sqrt(seen * float((new**2 + left).mean())), 1e-4), MOST_PRIOR)
    return replace(model, priors=priors).at(parameters)


def _scaled(observed: Floats, sums: Floats, stiff: Floats, before: Floats) -> Floats:
    """The parameter p with stiff·p + sums·exp(p − before) = observed, by Newton's method: the left side rises."""
    step = np.log(np.maximum(observed - stiff * before, 1e-3 * sums + 1e-12) / sums)
    step = np.clip(step, -3.0, 3.0) * sums / (sums + stiff)
    for _ in range(8):
        scaled = sums * np.exp(step)
        step -= np.clip((stiff * (before + step) + scaled - observed) / (stiff + scaled), -1.5, 1.5)
    return np.asarray(before + step)
