"""The counts around a model: nearest to it in relative entropy, and to what was measured (`log_linear.md`).

Independent records scatter around what a model expects of them. What the noisy sums say beyond the model is therefore
believed as far as that scatter allows: of large counts nearly all of it, of small ones little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.estimation.log_linear import LEAST_MASS, LogLinear
from sparsedp.sensing.marginals import CELLS, Lattice

SWEEPS, SETTLED = 10, 0.02
"""Of all layers, at most; they end when no group moves by more than this part of the root of its count."""

NEWTON = 30
"""Steps for one layer, at most."""

ALTERNATIONS = 2
"""Of making a layer's sums agree with all coarser ones; one is enough where these are marginals."""


def around(model: LogLinear) -> Floats:
    """The cells x that minimise Σ_j (x_j log(x_j/λ_j) − x_j) + Σ_A ‖t_A − M_A x‖²/(2v_A), for the expected cells λ, and
    for the sums t_A of each layer that all layers together suggest, with their variances v_A.

    In its dual form x = λ·exp(Σ_A u_A), and one layer after the other is solved exactly: its groups are disjoint.
    """
    lattice = model.lattice
    cells = np.maximum(model.cells, LEAST_MASS)
    variances, sums = pooled(lattice, model.observed, model.noise)
    targets = consistent(lattice, sums)
    finest_first = sorted(targets, key=lambda place: -targets[place].size)
    exponents = {place: np.zeros(targets[place].shape) for place in targets}
    for _ in range(SWEEPS):
        most = 0.0
        for place in finest_first:
            layer = lattice.layers[place]
            now = np.maximum(lattice.to(cells, layer), LEAST_MASS)
            change = _solved(targets[place], now, variances[place], exponents[place])
            cells = cells * np.exp(lattice.from_layer(change, layer))
            exponents[place] = exponents[place] + change
            most = max(most, float((np.abs(change) * np.sqrt(now)).max()))
        if most < SETTLED:
            break
    return np.asarray(cells)


def _solved(target: Floats, sums: Floats, variance: Floats, before: Floats) -> Floats:
    """The change d with variance·(before + d) + sums·exp(d) = target, by Newton's method from where it goes down."""
    wanted = target - variance * before
    change = np.where(wanted > sums, np.log(np.maximum(wanted, LEAST_MASS) / sums), 0.0)
    for _ in range(NEWTON):
        scaled = sums * np.exp(change)
        step = (variance * change + scaled - wanted) / (variance + scaled)
        change = change - step
        if float(np.abs(step).max()) < 1e-9:
            break
    return np.asarray(change)


def pooled(
    lattice: Lattice, observed: Sequence[Floats], noise: Sequence[float | None]
) -> tuple[dict[int, Floats], dict[int, Floats]]:
    """The variances, and the sums of each layer as itself and all finer ones say, weighed by their noise."""
    weighted = {place: np.zeros(lattice.shape_of(layer)) for place, layer in enumerate(lattice.layers)}
    precision = {place: np.zeros(one.shape) for place, one in weighted.items()}
    for finer, (sums, variance) in enumerate(zip(observed, noise, strict=True)):
        if variance is None:
            continue
        for place, of_finer, groups in _below(lattice, finer, sums):
            precision[place] += 1.0 / (variance * groups)
            weighted[place] += of_finer / (variance * groups)
    known = [place for place, one in precision.items() if (one > 0.0).all()]
    return {place: 1.0 / precision[place] for place in known}, {
        place: weighted[place] / precision[place] for place in known
    }


def _below(lattice: Lattice, finer: int, sums: Floats) -> list[tuple[int, Floats, Floats]]:
    """The layers that one refines: what its sums add up to there, and how many of them."""
    ones, layer = np.ones(sums.shape), lattice.layers[finer]
    if all(one == CELLS or side == 1 for one, side in zip(layer, lattice.shape, strict=True)):
        every = zip(lattice.sums(sums), lattice.sums(ones), strict=True)
        return [(place, *found) for place, found in enumerate(every)]
    return [
        (place, lattice.between(sums, layer, coarser), lattice.between(ones, layer, coarser))
        for place, coarser in enumerate(lattice.layers)
        if finer in lattice.finer[place]
    ]


def consistent(lattice: Lattice, sums: Mapping[int, Floats]) -> dict[int, Floats]:
    """The sums of all layers, such that those of finer ones add up to those of coarser ones: from the coarsest on, each
    differs evenly from what it was. For marginals these are the generalised least squares.
    """
    found: dict[int, Floats] = {}
    for place in sorted(sums, key=lambda each: sums[each].size):
        layer, here = lattice.layers[place], sums[place]
        coarser = [other for other in found if place in lattice.finer[other]]
        for _ in range(ALTERNATIONS):
            for other in coarser:
                above = lattice.layers[other]
                groups = lattice.between(np.ones(here.shape), layer, above)
                missing = (found[other] - lattice.between(here, layer, above)) / groups
                here = here + lattice.refined(missing, above, layer)
        found[place] = here
    return found
