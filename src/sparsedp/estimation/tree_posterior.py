"""The tree posterior: sums of groups of counts, none negative, under a prior on how sums divide (tree_posterior.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.estimation._tree_messages import DISTRIBUTIONS, LAWS, NONE, GroupTree, pass_down, pass_up
from sparsedp.jit import kernel
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.sensing.group_sums import GroupSums

# The posterior mean of sums of groups of counts, from all layers in which they were measured (`tree_posterior.md`).

POINTS, REACH = 64, 6.0
"""Of each grid, and how many deviations of what is known of its sum it reaches to both sides."""

LEARNING_ROUNDS = 4
"""In which the weights of the prior are learnt; they have settled well enough then."""

IMAGINED = 2.0
"""Wholes that all laws explain alike, beside those that are seen."""

LEAST_OF_NOISE = 1e-3
"""Of noise: less is nothing beside counts that are whole numbers."""

ROUNDING = 1e-13
"""The same, as a share of a sum and of the whole that it is a part of: they are told apart no better in floats."""

MOST_GROUPS = 2048
"""The work is some hundred thousand operations for each and in each round."""


@dataclass(frozen=True)
class Measured:
    """Noisy sums of groups: the first cell of each and that beyond it, with noise of these variances.

    `gaussian`: whether the noise is, or Laplace's.
    """

    starts: Ints
    ends: Ints
    sums: Floats
    variances: Floats
    gaussian: bool


@dataclass(frozen=True)
class Posterior:
    """For each node of a tree: the mean of its sum, its variance, and the variance that least squares would leave."""

    means: Floats
    variances: Floats
    linear_variances: Floats


def posterior_sums(tree: GroupTree, layers: Sequence[Measured]) -> Posterior:
    """Of each node's sum given all layers; every leaf has to be measured in one. No mean is negative."""
    nodes = [tree.nodes_of(layer.starts, layer.ends) for layer in layers]
    fused, variances, linear = _fused(tree, layers, nodes)
    least = _least_deviations(tree, fused)
    deviations = np.maximum(np.sqrt(variances), least)
    low = np.maximum(fused - REACH * deviations, 0.0)
    step = (np.maximum(fused, 0.0) + REACH * deviations - low) / (POINTS - 1)
    grids = low[:, None] + step[:, None] * np.arange(POINTS)
    seen = np.zeros_like(grids)
    for layer, of_layer in zip(layers, nodes, strict=True):
        scale = np.maximum(np.sqrt(layer.variances), least[of_layer])[:, None]
        distance = np.abs(layer.sums[:, None] - grids[of_layer]) / scale
        seen[of_layer] -= 0.5 * distance**2 if layer.gaussian else sqrt(2.0) * distance
    # The prior should not move the total, or it would bias all long sums wherever it is wrong: what the layers say of
    # it counts twice.
    seen[0] -= 0.5 * ((grids[0] - fused[0]) / deviations[0]) ** 2
    seen = np.exp(seen - seen.max(axis=1, keepdims=True))
    shape = (tree.left, tree.right, tree.width_of_left)
    weights = np.full(LAWS, 1.0 / LAWS)
    below, means, spread = np.empty_like(seen), np.maximum(fused, 0.0), linear.copy()
    for _ in range(LEARNING_ROUNDS):
        explained = np.full(LAWS, IMAGINED / LAWS)
        mixture = weights @ DISTRIBUTIONS
        pass_up(*shape, weights, mixture, low, step, seen, below)
        pass_down(*shape, weights, mixture, DISTRIBUTIONS, low, step, seen, below, means, spread, explained)
        weights = explained / explained.sum()
    return Posterior(means, spread, linear)


def _least_deviations(tree: GroupTree, fused: Floats) -> Floats:
    size = np.abs(fused)
    for part in (tree.left, tree.right):
        whole = part != NONE
        size[part[whole]] = np.maximum(size[part[whole]], np.abs(fused[whole]))
    return np.maximum(LEAST_OF_NOISE, ROUNDING * size)


def _fused(tree: GroupTree, layers: Sequence[Measured], nodes: list[Ints]) -> tuple[Floats, Floats, Floats]:
    """The best linear estimate of each node's sum from all layers, its variance from what is measured below it, and
    from all.
    """
    precision, weighted = np.zeros(len(tree.first)), np.zeros(len(tree.first))
    for layer, of_layer in zip(layers, nodes, strict=True):
        # Never without bound, and so small that layers keep their weights beside one another.
        known = 1.0 / np.maximum(layer.variances, LEAST_OF_NOISE**4)
        precision[of_layer] += known
        weighted[of_layer] += known * layer.sums
    return _fuse(tree.left, tree.right, precision, weighted)


@kernel
def _fuse(left: Ints, right: Ints, precision: Floats, weighted: Floats) -> tuple[Floats, Floats, Floats]:
    """Up, a whole's own value and the sum of its parts are weighed; down, what that changes is spread over them."""
    sums, variances = np.empty(len(left)), np.empty(len(left))
    for node in range(len(left) - 1, -1, -1):
        below, estimate = 0.0, 0.0
        if left[node] != NONE:
            below = 1.0 / (variances[left[node]] + variances[right[node]])
            estimate = sums[left[node]] + sums[right[node]]
        variances[node] = 1.0 / (precision[node] + below)
        sums[node] = (weighted[node] + below * estimate) * variances[node]
    of_all = variances.copy()
    for node in range(len(left)):
        a, b = left[node], right[node]
        if a != NONE:
            change = sums[node] - sums[a] - sums[b]
            share = variances[a] / (variances[a] + variances[b])
            sums[a] += share * change
            sums[b] += (1.0 - share) * change
            # What the parts vary by against one another, and their shares of what the whole varies by.
            against = share * variances[b]
            of_all[a] = against + share**2 * of_all[node]
            of_all[b] = against + (1.0 - share) ** 2 * of_all[node]
    return sums, variances, of_all


# The sums of groups that were measured, none negative: what all layers say of them together.


@dataclass(frozen=True)
class GroupPosterior:
    """A tree over the groups, and what is known of the sum of each of its nodes."""

    tree: GroupTree
    posterior: Posterior

    def sums(self, starts: Ints, ends: Ints) -> Floats:
        """The means of groups that are nodes of it."""
        return np.asarray(self.posterior.means[self.tree.nodes_of(starts, ends)])

    def variances(self, starts: Ints, ends: Ints) -> tuple[Floats, Floats]:
        """Of such groups, and those that least squares would leave."""
        nodes = self.tree.nodes_of(starts, ends)
        return self.posterior.variances[nodes], self.posterior.linear_variances[nodes]


def posterior_of_groups(sensing: GroupSums, values: Ints, law: LayersLaw) -> GroupPosterior | None:
    """Of all groups but single cells of blocks that were measured cell by cell: of these blocks as they are.

    None if there are too many groups, or noise without bound: then what is linear has to do.
    """
    layers = [_ends_of(starts, sensing.n) for starts in sensing.starts]
    measured = [
        Measured(starts, ends, sums, np.full(len(starts), noise.variance), not isinstance(noise, DiscreteLaplaceLaw))
        for (starts, ends), sums, noise in zip(
            layers, sensing.split(values.astype(np.float64)), law.layers, strict=True
        )
    ]
    if sensing.in_parts_of_blocks:
        measured[:1] = _cells_of_blocks_summed(measured[0], *layers[1])
    leaves = np.unique(np.concatenate([layer.starts for layer in measured[: 1 + sensing.in_parts_of_blocks]]))
    if len(leaves) > MOST_GROUPS or not all(isfinite(noise.variance) for noise in law.layers):
        return None
    tree = GroupTree.over(leaves, sensing.n, sensing.starts[1:], halves=sensing.in_parts_of_blocks)
    return GroupPosterior(tree, posterior_sums(tree, measured))


def _ends_of(starts: Ints, n: int) -> tuple[Ints, Ints]:
    return starts, np.append(starts[1:], n)


def _cells_of_blocks_summed(parts: Measured, firsts: Ints, ends: Ints) -> list[Measured]:
    """The parts of blocks that are larger than cells; and of the other blocks, the sums of their cells."""
    at, in_cells = _blocks_in_cells(parts.starts, firsts, ends)
    others = ~_within(in_cells, at, len(parts.starts))
    blocks = Measured(
        firsts[in_cells],
        ends[in_cells],
        np.add.reduceat(parts.sums, at)[in_cells],
        np.add.reduceat(parts.variances, at)[in_cells],
        gaussian=True,
    )
    rest = Measured(
        parts.starts[others], parts.ends[others], parts.sums[others], parts.variances[others], parts.gaussian
    )
    return [rest, blocks]


def cells_of_whole_blocks(parts: Ints, firsts: Ints, n: int) -> Mask:
    """Which parts are cells of blocks that were measured cell by cell. Those on the way to the first cell are not."""
    at, in_cells = _blocks_in_cells(parts, *_ends_of(firsts, n))
    return _within(in_cells, at, len(parts))


def _blocks_in_cells(parts: Ints, firsts: Ints, ends: Ints) -> tuple[Ints, Mask]:
    """Which part each block begins with, and whether all of its parts are cells, several of them."""
    at = np.searchsorted(parts, firsts)
    counts = np.diff(at, append=len(parts))
    return at, (counts == ends - firsts) & (counts > 1)


def _within(blocks: Mask, at: Ints, parts: int) -> Mask:
    """The parts that are in these blocks, given which part each begins with."""
    return np.asarray(np.repeat(blocks, np.diff(at, append=parts)))
