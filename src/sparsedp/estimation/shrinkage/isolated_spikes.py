"""Cells that stand out alone: found one by one, and taken off before the rest is shrunk.

A frame spreads a lone cell over all its levels, and each level sees a part of it only; against the cells around it, it
is seen whole. So every cell is compared with the middle one of those around it. Heights above that have a prior of
their own, learnt as those of the frame are. Where one is of `SPIKE_SEEN` deviations of the noise, with nothing of the
kind nearby, its posterior mean is taken off, and put back when the rest is shrunk. Piles, slopes and counts that
scatter everywhere are left to the frame.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from math import inf, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.estimation.shrinkage._chunks import chunks_of
from sparsedp.estimation.shrinkage.mixture_prior import (
    GATE,
    GRID,
    LEARNABLE_VARIANCE,
    POOLED_COUNT,
    VAGUE_WEIGHTS,
    Evidence,
    count,
    fit,
    noise_nodes,
    removed_share,
    tables,
    variance_shape,
)
from sparsedp.jit import kernel
from sparsedp.laws import IndependentLaw

Steps = list[tuple[int, ...]]
"""From one cell to others."""

SPIKE_SEEN = 4.0
"""In deviations of the noise: what a lone cell is above the cells around it, and no other cell nearby is."""

MIDDLE_VARIANCE = 0.15
"""Of the median of eight noisy cells, or six, relative to one: between that under Laplace noise and under Gaussian."""

FEWEST_FOR_SPIKES = 64
"""In fewer cells no prior can be learnt."""

ORDINARY_COUNT = 40.0
"""Cells imagined to be as those around them, beside those of any height."""

PILE = 1.5
"""Deviations by which the cells beside it may be above those further out: more is a pile, of which it is the top."""

MOST_SHARE = 0.25
"""If more of the cells that are apart from others seen seem to have a height of their own than this, none is lone."""


def beside_isolated_spikes(observed: Floats, law: IndependentLaw, smooth: Callable[[Floats], Floats]) -> Floats:
    """A row or a table of noisy counts, shrunk by `smooth`, but for the cells that stand out alone."""
    alone = _lone_cells(observed, law)
    return smooth(observed) if alone is None else np.asarray(smooth(observed - alone) + alone)


def _lone_cells(observed: Floats, law: IndependentLaw) -> Floats | None:
    """By how much they stand out, 0 elsewhere; None if there are none."""
    if observed.size < FEWEST_FOR_SPIKES or not LEARNABLE_VARIANCE < law.variance < inf:
        return None
    around, near, far = _neighbourhoods(observed.ndim)
    deviation = sqrt((1.0 + MIDDLE_VARIANCE) * law.variance)
    heights = (observed - _middles(observed, around)) / deviation
    seen = np.abs(heights) > SPIKE_SEEN
    apart = ~_beside(seen, near)
    places = np.argwhere(seen & apart & (heights > 0.0))
    rise = _mean(observed, places, near) - _median(observed, places, far)
    apart[tuple(places[rise >= PILE * deviation].T)] = False
    candidates = tuple(places[rise < PILE * deviation].T)
    if not candidates[0].size:
        return None
    variances, chances = noise_nodes(variance_shape(law))
    evidence = Evidence.of((variances + MIDDLE_VARIANCE) / (1.0 + MIDDLE_VARIANCE), chances)
    pseudo = POOLED_COUNT * VAGUE_WEIGHTS
    pseudo[0] += ORDINARY_COUNT
    weights = fit(_histogram(heights.reshape(-1), apart.reshape(-1)), evidence, VAGUE_WEIGHTS, pseudo, GATE)
    if 1.0 - weights[0] > MOST_SHARE:
        return None
    (table,) = tables(evidence, weights[None])
    alone = np.zeros_like(observed)
    alone[candidates] = deviation * np.maximum(_posterior_means(heights[candidates], table), 0.0)
    return alone


def _neighbourhoods(axes: int) -> tuple[Steps, Steps, Steps]:
    """Where the cells lie that one is compared with; where those among which it must be alone; and where those are that
    these must not be above.

    On one axis four on each side, two, and four further out; on two axes the eight around, and eight three cells off;
    on more the next and the third along each.
    """
    if axes == 1:
        steps: Steps = [(step,) for step in range(-4, 5) if step]
        return steps, steps[2:6], [(step,) for step in range(-8, 9) if abs(step) > 4]
    if axes == 2:
        ring: Steps = [step for step in product((-1, 0, 1), repeat=2) if any(step)]
    else:
        ring = [tuple(sign * (axis == other) for other in range(axes)) for axis in range(axes) for sign in (-1, 1)]
    return ring, ring, [tuple(3 * by for by in step) for step in ring]


def _mean(cells: Floats, places: Ints, steps: Steps) -> Floats:
    """Of the cells around each of some places."""
    return np.asarray(_around(cells, places, steps).mean(axis=1))


def _median(cells: Floats, places: Ints, steps: Steps) -> Floats:
    """Of the cells around each of some places."""
    return np.asarray(np.median(_around(cells, places, steps), axis=1))


def _around(cells: Floats, places: Ints, steps: Steps) -> Floats:
    """Those cells; beyond an end, those as far inside."""
    last = np.array(cells.shape) - 1
    there = (places[:, None, :] + np.array(steps)) % (2 * last)
    there = last - np.abs(last - there)
    found: Floats = cells[tuple(np.moveaxis(there, 2, 0))]
    return found


def _middles(cells: Floats, steps: Steps) -> Floats:
    """The median of the cells around each one; beyond an end, of those as far inside."""
    reach = int(np.abs(steps).max())
    padded = np.pad(cells, reach, mode="reflect")
    strides = np.array(padded.strides) // padded.itemsize
    offsets = np.array(steps, np.int64) @ strides
    found = np.zeros(padded.size)
    margin = int(np.abs(offsets).max())
    with chunks_of(padded.size) as chunks:
        find = _find_middles_of_eight if len(steps) == 8 else _find_middles
        chunks.run(partial(find, padded.reshape(-1), offsets, margin, found), padded.size)
    inside = tuple(slice(reach, reach + side) for side in cells.shape)
    return np.ascontiguousarray(found.reshape(padded.shape)[inside])


@kernel
def _find_middles(cells: Floats, offsets: Ints, margin: int, found: Floats, first: int, last: int) -> None:
    count = len(offsets)
    lower = count // 2 + 1  # the least ones, sorted: the middle is the last of them, or the mean of the last two
    around = np.empty(lower)
    for cell in range(max(first, margin), min(last, len(cells) - margin)):
        for i in range(count):
            value = cells[cell + offsets[i]]
            if i >= lower and value >= around[lower - 1]:
                continue
            place = min(i, lower - 1)
            while place > 0 and around[place - 1] > value:
                around[place] = around[place - 1]
                place -= 1
            around[place] = value
        found[cell] = 0.5 * (around[(count - 1) // 2] + around[count // 2])


@kernel
def _find_middles_of_eight(cells: Floats, offsets: Ints, margin: int, found: Floats, first: int, last: int) -> None:
    """The same for eight, many times as fast: without branches, by two sorted fours."""
    o, p, q, r, s, t, u, v = offsets
    for at in range(max(first, margin), min(last, len(cells) - margin)):
        a, b, c, d = _sorted_four(cells[at + o], cells[at + p], cells[at + q], cells[at + r])
        e, f, g, h = _sorted_four(cells[at + s], cells[at + t], cells[at + u], cells[at + v])
        lower = max(max(min(a, h), min(b, g)), max(min(c, f), min(d, e)))
        upper = min(min(max(a, h), max(b, g)), min(max(c, f), max(d, e)))
        found[at] = 0.5 * (lower + upper)


@kernel
def _sorted_four(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float]:
    a, b = (a, b) if a < b else (b, a)
    c, d = (c, d) if c < d else (d, c)
    a, c = (a, c) if a < c else (c, a)
    b, d = (b, d) if b < d else (d, b)
    b, c = (b, c) if b < c else (c, b)
    return a, b, c, d


def _beside(seen: Mask, steps: Steps) -> Mask:
    """Whether any of the cells around one is seen."""
    reach = int(np.abs(steps).max())
    padded = np.pad(seen, reach)
    beside = np.zeros_like(seen)
    for step in steps:
        beside |= padded[tuple(slice(reach + s, reach + s + n) for s, n in zip(step, seen.shape, strict=True))]
    return beside


@kernel
def _histogram(scores: Floats, counted: Mask) -> Floats:
    counts = np.zeros((1, len(GRID) + 1))
    for i in range(len(scores)):
        if counted[i]:
            count(scores[i], counts, 0)
    return counts[0, :-1].copy()


@kernel
def _posterior_means(scores: Floats, table: Floats) -> Floats:
    means = np.empty(len(scores))
    for i in range(len(scores)):
        means[i] = scores[i] * (1.0 - removed_share(table, scores[i]))
    return means
