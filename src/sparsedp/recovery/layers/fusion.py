"""All layers of group sums made consistent: generalised least squares on the tree that nested groups form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.noise.law import LayersLaw
from sparsedp.sensing.group_sums import GroupSums


@dataclass(frozen=True)
class Layer:
    """One layer fused with all finer ones: the estimate of each group's sum, and its variance, from them alone."""

    starts: Integers
    sums: Floats
    variances: Floats


def fuse(sensing: GroupSums, values: Integers, law: LayersLaw) -> list[Layer]:
    """Per layer, finest first, the best linear unbiased estimate of every group's sum from all layers together.

    Groups are nested, so one pass up and one pass down is exact (Hay et al. 2010, for unequal groups and noises): a
    group's own value and the sum of its parts are two independent estimates, weighed by their variances; what the
    layers above change is spread over the parts in proportion to their variances. The variances returned are those of
    the pass up: of a group given its own value and the finer ones.
    """
    layers: list[Layer] = []
    for starts, measured, noise in zip(
        sensing.starts, sensing.split(values.astype(np.float64)), law.layers, strict=True
    ):
        variances = np.full(len(starts), noise.variance)
        if not layers:
            layers.append(Layer(starts, measured, variances))
            continue
        first = np.searchsorted(layers[-1].starts, starts)
        below, spread = np.add.reduceat(layers[-1].sums, first), np.add.reduceat(layers[-1].variances, first)
        weight = spread / np.maximum(spread + variances, 1e-300)
        layers.append(Layer(starts, below + weight * (measured - below), spread * (1.0 - weight)))
    for finer, coarser in zip(reversed(layers[:-1]), reversed(layers[1:]), strict=True):
        first = np.searchsorted(finer.starts, coarser.starts).astype(np.int64)
        parts = np.diff(first, append=len(finer.starts))
        change = coarser.sums - np.add.reduceat(finer.sums, first)
        spread = np.add.reduceat(finer.variances, first)
        finer.sums[...] += finer.variances * np.repeat(change / np.maximum(spread, 1e-300), parts)
    return layers
