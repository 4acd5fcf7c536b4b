"""Some of very many things, spread evenly over them and yet in no step with anything that repeats among them."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Integers

GOLDEN = (sqrt(5.0) - 1.0) / 2.0
"""Its multiples, less their whole parts, fill the unit interval evenly."""


def spread_sample(n: int, most: int) -> Integers:
    """At most so many of the places 0 … n − 1, rising: all, or one out of each of `most` stretches of equal length (of
    short ones, some are the same).

    A stride would meet the same columns of a table in every line, and the same hour of every day.
    """
    if n <= most:
        return np.arange(n)
    stretches = np.arange(most, dtype=np.float64)
    places = ((stretches + stretches * GOLDEN % 1.0) * (n / most)).astype(np.int64)
    return places[np.diff(places, prepend=-1) > 0]
