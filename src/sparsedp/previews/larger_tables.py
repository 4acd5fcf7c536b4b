"""Tables too large to simulate many times: two smaller ones of the same form are, and their errors extended."""

from __future__ import annotations

from fractions import Fraction
from math import log, prod

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Axis, Categories, Integers
from sparsedp.domain import Domain

AS_THEY_ARE = 2**16
"""Tables of up to so many cells are simulated as they are."""
STAND_INS = (2**10, 2**15)
"""The sizes that stand in for a larger table: far enough apart to see how the error grows."""
LEAST_GROWTH, MOST_GROWTH = np.array([-0.5, 0.0, 0.0]), np.array([0.5, 1.0, 1.0])
"""Exponents of the number of cells, for a cell, a box and the total; plain noise has 0, ½ and ½."""


def stand_ins(domain: Domain) -> list[Domain]:
    """The domain itself, or two smaller ones with the same axes, the longest of them shortened."""
    return [domain] if domain.size <= AS_THEY_ARE else [_shortened(domain, size) for size in STAND_INS]


def _shortened(domain: Domain, size: int) -> Domain:
    lengths = list(domain.shape)
    while prod(lengths) > size:
        longest = lengths.index(max(lengths))
        lengths[longest] = -(-lengths[longest] // 2)
    return Domain(_axis(axis, length) for axis, length in zip(domain.axes, lengths, strict=True))


def _axis(axis: Axis, length: int) -> Axis:
    if axis.ordered:
        return Integers(axis.name, 0, length - 1)
    return Categories(axis.name, range(length))


def extended(errors: dict[Fraction, list[Floats]], sizes: list[int], cells: int) -> dict[Fraction, Floats]:
    """The errors at `cells` cells for every budget, on the power law through those at the two smaller sizes.

    The mean count of a cell is the same at all sizes, and so is the form: a hump or a block is as large a part of the
    table. The exponents are the same for all budgets, for single ones scatter, and within what any mechanism does.
    """
    if len(sizes) == 1:
        return {factor: alone for factor, (alone,) in errors.items()}
    pairs = [np.where(small * large > 0, (small, large), 1.0) for small, large in errors.values()]
    logs = np.mean([np.log(large / small) for small, large in pairs], axis=0)
    growth = np.clip(logs / log(sizes[1] / sizes[0]), LEAST_GROWTH, MOST_GROWTH)
    return {factor: large * (cells / sizes[1]) ** growth for factor, (_, large) in errors.items()}
