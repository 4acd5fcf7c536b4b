"""The errors of a log-linear fit: the posterior covariance around it, with the scatter of counts (`../log_linear.md`).

Two sources: the parameters are known as well as the noisy sums and the priors say; and counts scatter around what the
model says of them, as those of independent records do, which the sums that were measured tell in part.
"""

from __future__ import annotations

from functools import cached_property
from math import prod, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.log_linear import LEAST_MASS, LogLinear, inner, pulled_together
from sparsedp.sensing.marginals import ALL, CELLS, Layer, joined, meet, refines

SOLVED, MOST_STEPS = 0.03, 60
"""When a solution is near enough, and how many steps of conjugate gradients it may take."""

PROBES, CELLS_OF_PROBES = 8, 2**18
"""Sums of a layer for which the exact variance is computed, to scale the quick one of all: as many as go over so many
cells together, but one at least.
"""

FEW_SUMS, FEW_CELLS = 64, 2**14
"""All sums of a layer are exact if they are no more, of a table that has no more cells."""


INFLATION = 1.15
"""Of variances: priors were learned from the same sums, and fits end a little beside the mode (by coverage)."""

AT_ZERO = 0.4
"""By how much an estimate of nothing is too high, as none is negative, in deviations of its noise; of what may be
nothing, which estimates of up to two deviations are, likewise.
"""


def _too_high(model: LogLinear) -> Floats:
    """What the groups of measured layers may be too high by because none is negative, spread over their cells: by the
    layer that says most, but in every group by no more than its own noise allows.
    """
    lattice, cells = model.lattice, np.ones(model.shape)
    known = [(layer, sqrt(one)) for layer, one in zip(lattice.layers, model.noise, strict=True) if one is not None]
    found = np.zeros(model.shape)
    for layer, deviation in known:
        sums, sizes = lattice.to(model.cells, layer), lattice.to(cells, layer)
        too_high = AT_ZERO * deviation * np.exp(-((sums / deviation) ** 2) / 4.0)
        found = np.maximum(found, lattice.from_layer(too_high / sizes, layer))
    for layer, deviation in sorted(known, key=lambda each: -prod(lattice.shape_of(each[0]))):
        allowed = AT_ZERO * deviation / np.maximum(lattice.to(found, layer), LEAST_MASS)
        found = found * lattice.from_layer(np.minimum(allowed, 1.0), layer)
    return found


class LogLinearErrors:
    """The mean squared errors of linear queries of a table; weights have its shape.

    One query costs a linear system, some tens of passes over the table. The sums of a whole layer, such as all cells
    or a marginal, come from the diagonal of the system, scaled by a few that are exact: `of_layer`.
    """

    def __init__(self, model: LogLinear) -> None:
        self._model = model = model.learned()
        too_high = _too_high(model)
        # A group that is not seen may be that large, and the model, which is linear, would believe that it is known.
        self._cells = np.maximum(model.cells + too_high, LEAST_MASS)
        # The total is right: what is too high in some cells is missing in the others.
        self._bias = too_high - self._cells * (float(too_high.sum()) / float(self._cells.sum()))
        self._weights = [0.0 if noise is None else 1.0 / noise for noise in model.noise]
        self._known: dict[Layer, Floats] = {}

    def variance(self, weights: Floats) -> float:
        """Of Σ weights·cells: g'H⁻¹g, with g the query's gradient in the parameters and in the scatter."""
        lattice, cells, curvatures = self._model.lattice, self._cells, self._model.curvatures
        shapes = [one.shape for one in self._model.parameters]
        ends = np.cumsum([prod(shape) for shape in shapes])

        def parts(vector: Floats) -> tuple[list[Floats], Floats]:
            split = np.split(vector, ends)
            params = [part.reshape(shape) for part, shape in zip(split[:-1], shapes, strict=True)]
            return params, split[-1].reshape(cells.shape)

        def hessian(vector: Floats) -> Floats:
            params, scatter = parts(vector)
            moved = lattice.sums(cells * (lattice.spread(params) + scatter))
            pulled = cells * lattice.spread([w * one for w, one in zip(self._weights, moved, strict=True)])
            down = zip(lattice.sums(pulled), params, curvatures, strict=True)
            return joined([*(pull + one * curved for pull, one, curved in down), pulled + cells * scatter])

        weights = np.asarray(weights, dtype=np.float64).reshape(cells.shape)
        asked = cells * weights
        right = joined([*lattice.sums(asked), asked])
        diagonal = self._diagonal
        residual, solved, scaled = right, np.zeros_like(right), right / diagonal
        direction, size = scaled, inner(right, scaled)
        first = size
        for _ in range(MOST_STEPS):
            if size <= SOLVED**2 * first:
                break
            image = hessian(direction)
            length = size / inner(direction, image)
            solved, residual = solved + length * direction, residual - length * image
            scaled = residual / diagonal
            last, size = size, inner(residual, scaled)
            direction = scaled + size / last * direction
        return INFLATION * inner(right, solved) + float((self._bias * weights).sum()) ** 2

    @cached_property
    def _information(self) -> list[Floats]:
        """By parameter, what the sums and its prior say."""
        lattice = self._model.lattice
        squares = [weight * one**2 for weight, one in zip(self._weights, lattice.sums(self._cells), strict=True)]
        return pulled_together(lattice, self._model.curvatures, squares, self._weights)

    @cached_property
    def _diagonal(self) -> Floats:
        """Of the system: parameters, then the scatter of each cell."""
        scatter = self._cells + self._cells**2 * sum(self._weights)
        return joined([*self._information, scatter])

    def stderr(self) -> Floats:
        """The root mean squared error of every cell."""
        return np.sqrt(self.of_layer(tuple(CELLS if side > 1 else ALL for side in self._model.shape)))

    def of_layer(self, layer: Layer) -> Floats:
        """The mean squared errors of all sums of a layer."""
        if layer not in self._known:
            rough = self._rough(layer)
            if rough.size <= FEW_SUMS and self._cells.size <= FEW_CELLS:
                self._known[layer] = self._exact(layer, np.arange(rough.size)).reshape(rough.shape)
            else:
                self._known[layer] = rough * self._scale(layer, rough)
        return self._known[layer]

    def _rough(self, layer: Layer) -> Floats:
        """As if the errors of all parameters were independent, each as its own information says."""
        lattice, cells = self._model.lattice, self._cells
        sums = lattice.to(cells, layer)
        found, noise = np.zeros(sums.shape), np.inf
        for one, information, weight in zip(lattice.layers, self._information, self._weights, strict=True):
            joint = tuple(map(meet, one, layer))
            shared = lattice.to(cells, joint) ** 2
            found += lattice.between(shared * lattice.refined(1.0 / information, one, joint), joint, layer)
            if weight and all(map(refines, one, layer)):
                noise = min(noise, 1.0 / weight * prod(lattice.shape_of(one)) / prod(lattice.shape_of(layer)))
        return INFLATION * (found + 1.0 / (1.0 / sums + 1.0 / noise)) + lattice.to(self._bias, layer) ** 2

    def _scale(self, layer: Layer, rough: Floats) -> float:
        """What the exact variance is of the rough one, in a few sums from the smallest to the largest."""
        places = np.argsort(rough, axis=None)
        probes = max(1, min(PROBES, len(places), CELLS_OF_PROBES // self._cells.size))
        chosen = places[np.linspace(0, len(places) - 1, probes + 2)[1:-1].round().astype(np.int64)]
        exact = np.maximum(self._exact(layer, chosen), 1e-300)
        return float(np.exp(np.mean(np.log(exact / rough.flat[chosen]))))

    def _exact(self, layer: Layer, places: Ints) -> Floats:
        """The variances of some sums of a layer, one after the other."""
        lattice, found = self._model.lattice, np.zeros(len(places))
        for number, place in enumerate(places):
            asked = np.zeros(lattice.shape_of(layer))
            asked.flat[place] = 1.0
            found[number] = self.variance(np.broadcast_to(lattice.from_layer(asked, layer), self._cells.shape))
        return found
