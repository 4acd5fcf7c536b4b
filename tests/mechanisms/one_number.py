"""A look at one number, without its noise."""

from collections.abc import Callable

import numpy as np

from sparsedp.arrays import Ints

Measure = Callable[[Ints, float, Callable[[Ints], None]], float]


def looked_at(measure: Measure, row: list[int] | Ints, deviation: float, noise: int = 0) -> tuple[float, int]:
    """The answer, and the exact sum that the noise was added to."""
    seen: list[int] = []

    def add(values: Ints) -> None:
        assert values.shape == (1,)
        assert values.dtype == np.int64
        seen.append(int(values[0]))
        values += noise

    answer = measure(np.asarray(row, np.int64), deviation, add)
    assert len(seen) == 1, "noise is added once, to one number"
    return answer, seen[0]
