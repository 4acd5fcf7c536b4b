"""The sums of groups that were measured, none negative: what all layers say of them together (`recovery/cascade/`)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from sparsedp.arrays import Floats, Integers, Mask
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.recovery.cascade.group_tree import GroupTree
from sparsedp.recovery.cascade.posterior import MOST_GROUPS, Measured, Posterior, posterior_sums
from sparsedp.sensing.group_sums import GroupSums


@dataclass(frozen=True)
class GroupPosterior:
    """A tree over the groups, and what is known of the sum of each of its nodes."""

    tree: GroupTree
    posterior: Posterior

    def sums(self, starts: Integers, ends: Integers) -> Floats:
        """The means of groups that are nodes of it."""
        return np.asarray(self.posterior.means[self.tree.nodes_of(starts, ends)])

    def variances(self, starts: Integers, ends: Integers) -> tuple[Floats, Floats]:
        """Of such groups, and those that least squares would leave."""
        nodes = self.tree.nodes_of(starts, ends)
        return self.posterior.variances[nodes], self.posterior.linear_variances[nodes]


def posterior_of_groups(sensing: GroupSums, values: Integers, law: LayersLaw) -> GroupPosterior | None:
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
    coarser = sensing.starts[1:]
    tree = GroupTree.over(leaves, sensing.n, coarser, halves=sensing.in_parts_of_blocks)
    return GroupPosterior(tree, posterior_sums(tree, measured, coarser[0] if coarser else None))


def _ends_of(starts: Integers, n: int) -> tuple[Integers, Integers]:
    return starts, np.append(starts[1:], n)


def _cells_of_blocks_summed(parts: Measured, firsts: Integers, ends: Integers) -> list[Measured]:
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


def cells_of_whole_blocks(parts: Integers, firsts: Integers, n: int) -> Mask:
    """Which parts are cells of blocks that were measured cell by cell. Those on the way to the first cell are not."""
    at, in_cells = _blocks_in_cells(parts, *_ends_of(firsts, n))
    return _within(in_cells, at, len(parts))


def _blocks_in_cells(parts: Integers, firsts: Integers, ends: Integers) -> tuple[Integers, Mask]:
    """Which part each block begins with, and whether all of its parts are cells, several of them."""
    at = np.searchsorted(parts, firsts)
    counts = np.diff(at, append=len(parts))
    return at, (counts == ends - firsts) & (counts > 1)


def _within(blocks: Mask, at: Integers, parts: int) -> Mask:
    """The parts that are in these blocks, given which part each begins with."""
    return np.asarray(np.repeat(blocks, np.diff(at, append=parts)))
