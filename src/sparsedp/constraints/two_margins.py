"""Whole counts with the totals of two margins kept: controlled rounding by cycles (Cox 1987)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.constraints.margin import Margin
from sparsedp.errors import SparsedpError
from sparsedp.jit import kernel


def rounded_with_two_margins(table: Floats, first: Margin, second: Margin) -> Integers:
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


def _edges_of_nodes(left: Integers, right: Integers, nodes: int) -> tuple[Integers, Integers, Integers]:
    """Edges sorted by node, where each node's begin, and where each edge stands in its two nodes' lists."""
    ends = np.concatenate([left, right])
    order = np.argsort(ends, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=nodes))]).astype(np.int64)
    places = np.empty(len(ends), np.int64)
    places[order] = np.arange(len(ends))
    return order % max(len(left), 1), starts, places.reshape(2, -1)


@kernel
def _round_cycles(
    fractions: Floats, left: Integers, right: Integers, edges: Integers, starts: Integers, places: Integers
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
def _cancel(cycle: Integers, fractions: Floats, now: Floats) -> None:
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
    left: Integers,
    right: Integers,
    edges: Integers,
    starts: Integers,
    places: Integers,
    degree: Integers,
) -> None:
    """Take an edge off the lists of its nodes: the last of each list takes its place."""
    for side in range(2):
        node = left[edge] if side == 0 else right[edge]
        end = starts[node] + degree[node] - 1
        moved = edges[end]
        edges[places[side, edge]] = moved
        places[side, moved] = places[side, edge]
        degree[node] -= 1
