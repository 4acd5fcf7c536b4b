"""Margins of a table and monotone lines: the nearest table that has them, without solvers of linear systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints, Mask, Numbers
from sparsedp.errors import SparsedpError
from sparsedp.jit import kernel

# A margin: the totals of a table over some of its axes.


@dataclass(frozen=True, eq=False)
class Margin:
    """`totals[i, …]` is the sum of all cells at place i, … of the `axes` (rising); no axes: the grand total."""

    axes: tuple[int, ...]
    totals: Ints

    def of(self, table: Numbers) -> Numbers:
        """The sums of `table` that this margin is about."""
        others = tuple(axis for axis in range(table.ndim) if axis not in self.axes)
        return np.asarray(table.sum(axis=others))

    def over(self, dimensions: int, figures: Numbers) -> Numbers:
        """`figures`, one for each total, in a shape that broadcasts to the table's."""
        shape = iter(figures.shape)
        return figures.reshape([next(shape) if axis in self.axes else 1 for axis in range(dimensions)])

    def shared_with(self, other: Margin) -> tuple[Ints, Ints]:
        """Both margins' totals over the axes they share; of one table they are equal."""
        shared = [axis for axis in self.axes if axis in other.axes]
        return _over(self, shared), _over(other, shared)

    def groups(self, shape: tuple[int, ...]) -> Ints:
        """For each cell the number of its total, the totals being counted from 0 in order."""
        numbers = np.arange(self.totals.size, dtype=np.int64).reshape(self.totals.shape)
        return np.ascontiguousarray(np.broadcast_to(self.over(len(shape), numbers), shape))

    def most_off(self, table: Floats) -> float:
        """The largest error of the table's sums, relative to the totals (absolute below 1)."""
        off = np.abs(self.of(table) - self.totals) / np.maximum(self.totals, 1)
        return float(off.max(initial=0.0))


def _over(margin: Margin, axes: list[int]) -> Ints:
    others = tuple(place for place, axis in enumerate(margin.axes) if axis not in axes)
    return np.asarray(margin.totals.sum(axis=others))


# Monotone lines: the nearest table that does not fall (or does not rise) along its axes.

_MOST_SWEEPS = 500
"""Over the axes, when there are several; the sweeps end earlier, as soon as they change nothing visible."""


def _as_lines(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """The shape in which the lines along `axis` run through the middle."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def monotone_lines(values: Floats, weights: Floats, free: Mask, axis: int, sign: int) -> tuple[Floats, Ints]:
    """The nearest non-negative table rising (sign 1) or falling (−1) along `axis`, and its blocks of equal cells.

    Nearest in Σ (x − values)² / weights, exactly. Cells that are not `free` are zero; they are the low end of their
    lines. Blocks are numbered from 0; those of cells that are not free are −1. A table that was non-negative keeps
    the (weighted) sum of every line.
    """
    lines = _as_lines(values.shape, axis)
    nearest, blocks = np.zeros(lines), np.full(lines, -1, np.int64)
    _pool(values.reshape(lines), weights.reshape(lines), free.reshape(lines), sign < 0, nearest, blocks)
    return nearest.reshape(values.shape), blocks.reshape(values.shape)


def nearest_monotone(values: Floats, weights: Floats, free: Mask, monotone: Mapping[int, int]) -> Floats:
    """The nearest non-negative table monotone along every one of the axes; `monotone` has their signs.

    Along one axis exactly (pool adjacent violators). Along several by Dykstra's alternating projections until a sweep
    moves no cell by more than 10⁻⁹ of the largest; what is left of a fall is then filled up, so that the table is
    monotone to the last digit.
    """
    axes = list(monotone.items())
    if len(axes) == 1:
        return monotone_lines(values, weights, free, *axes[0])[0]
    nearest = values.copy()
    corrections = [np.zeros(values.shape) for _ in axes]
    enough = 1e-9 * float(np.abs(values).max(initial=0.0))
    for _ in range(_MOST_SWEEPS):
        before = nearest
        for number, (axis, sign) in enumerate(axes):
            wanted = nearest + corrections[number]
            nearest, _ = monotone_lines(wanted, weights, free, axis, sign)
            corrections[number] = wanted - nearest
        if float(np.abs(nearest - before).max(initial=0.0)) <= enough:
            break
    return filled_up(nearest, monotone)


def filled_up(values: Floats, monotone: Mapping[int, int]) -> Floats:
    """Every cell raised to the largest that must not exceed it: the least monotone table above this one."""
    for axis, sign in monotone.items():
        forward = values if sign > 0 else np.flip(values, axis)
        raised = np.maximum.accumulate(forward, axis)
        values = np.ascontiguousarray(raised if sign > 0 else np.flip(raised, axis))
    return values


def forced_zeros(zeros: Mask, monotone: Mapping[int, int]) -> Mask:
    """The zeros, and every cell that must not exceed one of them."""
    for axis, sign in monotone.items():
        backward = zeros if sign < 0 else np.flip(zeros, axis)
        reached = np.logical_or.accumulate(backward, axis)
        zeros = reached if sign < 0 else np.flip(reached, axis)
    return np.ascontiguousarray(zeros)


@kernel
def _pool(values: Floats, weights: Floats, free: Mask, falling: bool, nearest: Floats, blocks: Ints) -> None:
    """Pool adjacent violators on every line, then lift what is below zero: that is the nearest with both.

    All lines in one call: scipy's `isotonic_regression`, a call a line, takes twenty times as long for a table.
    """
    before, length, after = values.shape
    means, masses, starts = np.empty(length), np.empty(length), np.empty(length + 1, np.int64)
    number = 0
    for b in range(before):
        for c in range(after):
            count = 0
            for step in range(length):
                i = length - 1 - step if falling else step
                if not free[b, i, c]:
                    continue
                start = step
                mean, mass = values[b, i, c], 1.0 / weights[b, i, c]
                while count and means[count - 1] > mean:
                    count -= 1
                    mean += (means[count] - mean) * (masses[count] / (masses[count] + mass))
                    mass += masses[count]
                    start = starts[count]
                means[count], masses[count], starts[count] = mean, mass, start
                count += 1
            starts[count] = length
            for block in range(count):
                level = max(means[block], 0.0)
                for step in range(starts[block], starts[block + 1]):
                    i = length - 1 - step if falling else step
                    nearest[b, i, c] = level
                    blocks[b, i, c] = number
                number += 1


# Whole counts with the totals of two margins kept: controlled rounding by cycles (Cox 1987).


def rounded_with_two_margins(table: Floats, first: Margin, second: Margin) -> Ints:
    """Every cell rounded up or down so that all totals of both margins are exact.

    The cells with a fraction are the edges of a graph between the totals of the one margin and those of the other.
    Totals are whole, so no node has a single edge, and there is a cycle. Raising every other edge of it and lowering
    the rest keeps all totals; it goes, in the direction that stays nearer to the table, until an edge is whole.
    With three margins the graph has no such cycles, and there may be no such rounding at all.
    """
    nearest = np.rint(table)
    table = np.where(np.abs(table - nearest) <= 1e-9 + 1e-14 * table, nearest, table)
    whole = np.floor(table).astype(np.int64)
    fractions = (table - whole).ravel()
    cells = np.flatnonzero(fractions)
    left = first.groups(table.shape).ravel()[cells]
    right = second.groups(table.shape).ravel()[cells] + first.totals.size
    nodes = first.totals.size + second.totals.size
    ups = _round_cycles(fractions[cells], left, right, *_edges_of_nodes(left, right, nodes))
    whole.ravel()[cells] += ups
    if any((margin.of(whole) != margin.totals).any() for margin in (first, second)):
        raise SparsedpError("The totals could not be met in whole numbers; ask for integers=False.")
    return whole


def _edges_of_nodes(left: Ints, right: Ints, nodes: int) -> tuple[Ints, Ints, Ints]:
    """Edges sorted by node, where each node's begin, and where each edge stands in its two nodes' lists."""
    ends = np.concatenate([left, right])
    order = np.argsort(ends, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=nodes))]).astype(np.int64)
    places = np.empty(len(ends), np.int64)
    places[order] = np.arange(len(ends))
    return order % max(len(left), 1), starts, places.reshape(2, -1)


@kernel
def _round_cycles(
    fractions: Floats, left: Ints, right: Ints, edges: Ints, starts: Ints, places: Ints
) -> npt.NDArray[np.int64]:
    count, nodes = len(fractions), len(starts) - 1
    now = fractions.copy()
    degree = np.empty(nodes, np.int64)
    for node in range(nodes):
        degree[node] = starts[node + 1] - starts[node]
    depth = np.full(nodes, -1, np.int64)
    path_nodes, path_edges = np.empty(nodes + 1, np.int64), np.empty(nodes + 1, np.int64)
    for root in range(nodes):
        while degree[root]:
            path_nodes[0], length = root, 0
            depth[root] = 0
            while length >= 0:
                node = path_nodes[length]
                last = path_edges[length - 1] if length else -1
                if degree[node] == 0 or (degree[node] == 1 and edges[starts[node]] == last):
                    # Rounding errors alone can make such an end: its edge is whole up to them.
                    depth[node] = -1
                    length -= 1
                    if last >= 0:
                        now[last] = np.rint(now[last])
                        _remove(last, left, right, edges, starts, places, degree)
                    continue
                edge = edges[starts[node]]
                if edge == last:
                    edge = edges[starts[node] + 1]
                other = right[edge] if left[edge] == node else left[edge]
                path_edges[length] = edge
                if depth[other] < 0:
                    length += 1
                    path_nodes[length], depth[other] = other, length
                    continue
                begin = depth[other]
                _cancel(path_edges[begin : length + 1], fractions, now)
                for i in range(begin, length + 1):
                    if i > begin:
                        depth[path_nodes[i]] = -1
                    if now[path_edges[i]] == 0.0 or now[path_edges[i]] == 1.0:
                        _remove(path_edges[i], left, right, edges, starts, places, degree)
                length = begin
    ups = np.empty(count, np.int64)
    for i in range(count):
        ups[i] = np.int64(now[i])
    return ups


@kernel
def _cancel(cycle: Ints, fractions: Floats, now: Floats) -> None:
    """Raise and lower the edges of a cycle in turn, as far as they go, in the direction that costs less."""
    first_up, first_down, pull = 1.0, 1.0, 0.0
    for i in range(len(cycle)):
        value = now[cycle[i]]
        room_up, room_down = (1.0 - value, value) if i % 2 == 0 else (value, 1.0 - value)
        first_up, first_down = min(first_up, room_up), min(first_down, room_down)
        pull += (fractions[cycle[i]] - value) * (1.0 if i % 2 == 0 else -1.0)
    # Σ (now ± step − fraction)² grows by len·step² ∓ 2·step·pull.
    cost_up = len(cycle) * first_up**2 - 2.0 * first_up * pull
    cost_down = len(cycle) * first_down**2 + 2.0 * first_down * pull
    step = first_up if cost_up <= cost_down else -first_down
    for i in range(len(cycle)):
        moved = now[cycle[i]] + (step if i % 2 == 0 else -step)
        now[cycle[i]] = 0.0 if moved < 1e-9 else (1.0 if moved > 1.0 - 1e-9 else moved)


@kernel
def _remove(
    edge: int,
    left: Ints,
    right: Ints,
    edges: Ints,
    starts: Ints,
    places: Ints,
    degree: Ints,
) -> None:
    """Take an edge off the lists of its nodes: the last of each list takes its place."""
    for side in range(2):
        node = left[edge] if side == 0 else right[edge]
        end = starts[node] + degree[node] - 1
        moved = edges[end]
        edges[places[side, edge]] = moved
        places[side, moved] = places[side, edge]
        degree[node] -= 1
