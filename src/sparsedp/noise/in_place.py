"""Noise goes into arrays in place, modulo 2⁶⁴: which arrays can take it, and what a sum comes to there."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput

MODULUS = 2**64


def flat_view(values: Integers) -> Integers:
    """The same memory as one vector; an array that noise could not be added to in place is refused."""
    if not isinstance(values, np.ndarray) or values.dtype != np.int64:
        raise InvalidInput("values", "not an array of int64", "convert the exact integers to numpy's int64 first")
    if not values.flags.c_contiguous or not values.flags.writeable:
        raise InvalidInput("values", "not a contiguous writeable array", "make a copy of it first")
    return values.reshape(-1)


def wrapped(number: int) -> int:
    """The 64-bit signed integer that equals `number` modulo 2⁶⁴."""
    return (number + MODULUS // 2) % MODULUS - MODULUS // 2
