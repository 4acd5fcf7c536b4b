"""Random tables, and constraints that they obey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.constraints import Constraints

Mask = npt.NDArray[np.bool_]


@dataclass
class KnownTable:
    """A table of counts, what is public of it, and a noisy estimate of it."""

    counts: Ints
    constraints: Constraints
    estimate: Floats
    variance: Floats | None


def known_table(
    seed: int,
    shape: Sequence[int],
    *,
    total: bool = False,
    margins: Sequence[tuple[int, ...]] = (),
    monotone: dict[int, str] | None = None,
    zeros: bool = False,
    integers: bool = False,
    weighted: bool = False,
    noise: float = 5.0,
) -> KnownTable:
    generator = np.random.default_rng(seed)
    counts = generator.poisson(np.exp(generator.normal(0.0, 1.5, shape)))
    for axis, direction in (monotone or {}).items():
        counts.sort(axis)
        if direction == "decreasing":
            counts = np.flip(counts, axis)
    counts = np.ascontiguousarray(counts)
    mask = None
    if zeros and monotone:
        # A corner from which every line rises can be zero without breaking an order.
        corner = np.indices(shape).astype(float)
        height = sum(
            (corner[axis] if direction == "increasing" else shape[axis] - 1 - corner[axis])
            for axis, direction in monotone.items()
        )
        mask = np.asarray(height < generator.integers(0, max(shape)))
    elif zeros:
        mask = generator.random(shape) < 0.4
    if mask is not None:
        counts = np.where(mask, 0, counts)
    constraints = Constraints(
        total=int(counts.sum()) if total else None,
        totals={axes: sums_over(counts, axes) for axes in margins} or None,
        zeros=mask,
        monotone=dict(monotone.items()) if monotone else None,
        integers=integers,
    )
    estimate = counts + generator.laplace(0.0, noise, shape)
    variance = np.exp(generator.normal(0.0, 1.0, shape)) if weighted else None
    return KnownTable(counts, constraints, estimate, variance)


def sums_over(counts: Ints, axes: tuple[int, ...]) -> Ints:
    return np.asarray(counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in axes)))


def assert_obeys(table: Floats, constraints: Constraints) -> None:
    assert table.min() >= 0.0
    if constraints.zeros is not None:
        assert not table[np.asarray(constraints.zeros)].any()
    if constraints.total is not None:
        assert abs(float(table.sum()) - constraints.total) <= 1e-9 * max(constraints.total, 1)
    for axes, wanted in (constraints.totals or {}).items():
        assert isinstance(axes, tuple)
        assert all(isinstance(axis, int) for axis in axes)
        sums = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes))
        np.testing.assert_allclose(sums, np.asarray(wanted), rtol=1e-9, atol=1e-9)
        if constraints.integers:
            np.testing.assert_array_equal(sums, np.asarray(wanted))
    for axis, direction in (constraints.monotone or {}).items():
        assert isinstance(axis, int)
        steps = np.diff(table, axis=axis)
        assert ((steps if direction == "increasing" else -steps) >= 0.0).all()
    if constraints.integers:
        np.testing.assert_array_equal(table, np.round(table))
        if constraints.total is not None:
            assert int(table.sum()) == constraints.total
