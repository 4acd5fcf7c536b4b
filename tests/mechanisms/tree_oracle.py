"""The private tree written out plainly: every tree there is, its exact probability, and the worst that a path does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.mechanisms._private_tree import KNOTS, chances
from sparsedp.noise.coins import ONE


@dataclass(frozen=True)
class Node:
    """The aligned group of `size` cells that begins at `start`, at a depth of the tree."""

    start: int
    size: int
    depth: int


@dataclass(frozen=True)
class PlainTree:
    """One possible outcome: the nodes that were halved, those that were looked at and left, and the leaves' starts."""

    halved: tuple[Node, ...]
    left: tuple[Node, ...]
    starts: tuple[int, ...]


def root_of(n: int) -> Node:
    size = 1
    while size < n:
        size *= 2
    return Node(0, size, 0)


def halves(node: Node, n: int) -> list[Node]:
    both = [Node(node.start + part * node.size // 2, node.size // 2, node.depth + 1) for part in (0, 1)]
    return [half for half in both if half.start < n]


def every_tree(node: Node, n: int, least: int = 1) -> list[PlainTree]:
    """All outcomes below a node."""
    if node.size <= least:
        return [PlainTree((), (), (node.start,))]
    found = [PlainTree((), (node,), (node.start,))]
    for parts in product(*(every_tree(half, n, least) for half in halves(node, n))):
        halved = (node, *(each for part in parts for each in part.halved))
        left = tuple(each for part in parts for each in part.left)
        found.append(PlainTree(halved, left, tuple(start for part in parts for start in part.starts)))
    return found


def plain_halves(cells: Sequence[int], size: int) -> int:
    """The largest difference between halves of an aligned group of 2^k cells, of all within these `size`, by recursion.

    Where the cells end in the second half, it is compared with as many at the end of the first.
    """
    if size == 1 or len(cells) < 2:
        return 0
    first, second = cells[: size // 2], cells[size // 2 :]
    own = abs(sum(second) - sum(first[len(first) - len(second) :])) if second else 0
    return max(own, plain_halves(first, size // 2), plain_halves(second, size // 2))


def plain_excess(cells: Sequence[int], slack: int) -> int:
    """By how much pairs of sorted cells are apart beyond the slack, in blocks of 16."""
    total = 0
    for start in range(0, len(cells), 16):
        block = sorted(cells[start : start + 16])
        total += sum(max(block[-1 - place] - block[place] - slack, 0) for place in range(len(block) // 2))
    return total


def plain_unevenness(cells: Sequence[int], size: int, slack: int) -> int:
    return max(plain_halves(cells, size), plain_excess(cells, slack))


KNOT_PLACES = np.arange(len(chances())) / KNOTS
KNOT_CHANCES = np.array(chances()) / ONE


def log_halved(score: Ints, decay: float) -> Floats:
    """The log of the chance that a node with this score is halved."""
    return np.log(np.interp(score / decay, KNOT_PLACES, KNOT_CHANCES))


def log_left(score: Ints, decay: float) -> Floats:
    """The log of the chance that it is left whole."""
    return np.log1p(-np.interp(score / decay, KNOT_PLACES, KNOT_CHANCES))


def score_of(deviation: Ints, depth: int, decay: int) -> Ints:
    score: Ints = np.maximum(deviation - depth * decay, 0)
    return score


def log_probabilities(tables: Ints, decay: int, least: int = 1, slack: int = 0) -> Floats:
    """Of every tree (rows) under every table of counts (columns), exactly up to floats."""
    n = tables.shape[1]
    logs: dict[tuple[Node, bool], Floats] = {}

    def log_of(node: Node, halved: bool) -> Floats:
        if (node, halved) not in logs:
            cells = tables[:, node.start : node.start + node.size].tolist()
            uneven = np.array([plain_unevenness(each, node.size, slack) for each in cells])
            score = score_of(uneven, node.depth, decay)
            logs[node, halved] = (log_halved if halved else log_left)(score, decay)
        return logs[node, halved]

    rows = []
    for tree in every_tree(root_of(n), n, least):
        row = np.zeros(len(tables))
        for node in tree.halved:
            row += log_of(node, halved=True)
        for node in tree.left:
            row += log_of(node, halved=False)
        rows.append(row)
    return np.array(rows)


def every_table(n: int, most: int) -> Ints:
    """All tables of n counts from 0 to `most`, the first cell varying slowest."""
    return np.array(list(product(range(most + 1), repeat=n)), dtype=np.int64)


def worst_path(decay: int, depth: int, fall: int | None = None) -> float:
    """The largest log-ratio of a path of `depth` nodes over all deviations that the rules allow, times the decay.

    Two sequences of whole numbers ≥ 0, neither rising, never more than 1 apart (either may be above); the path ends in
    a leaf anywhere, or in one of the least size, which has no coin. Dynamic programme from the lowest node up. `fall`:
    by what the score falls at each depth, if that is not the decay.
    """
    fall = decay if fall is None else fall
    top = depth * decay + 8 * decay + 5
    c = np.arange(top + 1)
    gains = {apart: np.zeros(top + 1) for apart in (-1, 0, 1)}
    for level in reversed(range(depth)):
        best = {apart: np.maximum.accumulate(gain) for apart, gain in gains.items()}
        for apart in gains:
            other = c + apart
            below = np.full(top + 1, -np.inf)
            for next_apart, gain in best.items():
                most = np.minimum(c, other - next_apart)
                below = np.maximum(below, np.where(most >= 0, gain[np.maximum(most, 0)], -np.inf))
            one, two = (score_of(deviations, level, fall) for deviations in (c, other))
            left = log_left(one, decay) - log_left(two, decay)
            halved = log_halved(one, decay) - log_halved(two, decay) + below
            gains[apart] = np.where(other >= 0, np.maximum(left, halved), -np.inf)
    return float(max(gain.max() for gain in gains.values())) * decay


def grown_tree(
    row: Sequence[int], slack: int, decay: int, coin: Callable[[Node, int], bool], least: int = 1
) -> tuple[list[int], int]:
    """The leaves' starts by plain recursion, and how many nodes were looked at."""
    looked = 0

    def grow(node: Node) -> list[int]:
        nonlocal looked
        if node.size <= least:
            return [node.start]
        looked += 1
        uneven = plain_unevenness(row[node.start : node.start + node.size], node.size, slack)
        if not coin(node, max(uneven - node.depth * decay, 0)):
            return [node.start]
        return [start for half in halves(node, len(row)) for start in grow(half)]

    return grow(root_of(len(row))), looked
