"""Monotone lines: the nearest table that does not fall (or does not rise) along its axes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from sparsedp.arrays import Floats, Integers, Mask
from sparsedp.jit import kernel

MOST_SWEEPS = 500
"""Over the axes, when there are several; the sweeps end earlier, as soon as they change nothing visible."""


def as_lines(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """The shape in which the lines along `axis` run through the middle."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def monotone_lines(values: Floats, weights: Floats, free: Mask, axis: int, sign: int) -> tuple[Floats, Integers]:
    """The nearest non-negative table rising (sign 1) or falling (−1) along `axis`, and its blocks of equal cells.

    Nearest in Σ (x − values)² / weights, exactly. Cells that are not `free` are zero; they are the low end of their
    lines. Blocks are numbered from 0; those of cells that are not free are −1. A table that was non-negative keeps
    the (weighted) sum of every line.
    """
    lines = as_lines(values.shape, axis)
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
    for _ in range(MOST_SWEEPS):
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
def _pool(values: Floats, weights: Floats, free: Mask, falling: bool, nearest: Floats, blocks: Integers) -> None:
    """Pool adjacent violators on every line, then lift what is below zero: that is the nearest with both."""
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
