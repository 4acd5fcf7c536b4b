"""Errors of tables, in parts of blocks and in cells, are of their own size: a model that says a third of it, or three
times as much, in variance, is found out.
"""

from math import prod

import numpy as np
import pytest

from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums

LEAST, MOST = 0.37, 1.1
"""A third apart, so that no score is between them if it is made three times as large, or a third."""
TABLES = {
    "a faint square": ((48, 48), 10_000, True),
    "days and hours": ((120, 24), 30_000, True),
    "a cube": ((16, 16, 16), 10_000, True),
    "a dense square": ((48, 48), 3_000_000, False),
}


def hills(shape: tuple[int, ...], records: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Two of them, and little around."""
    places = np.stack(np.meshgrid(*(np.linspace(0, 1, side) for side in shape), indexing="ij"))
    height = np.full(shape, 0.02)
    for middle, width in ((0.3, 0.1), (0.7, 0.18)):
        height += np.exp(-((places - middle) ** 2).sum(axis=0) / (2 * width**2))
    return np.asarray(np.random.default_rng(5).poisson(height / height.sum() * records), np.int64)


def scores(name: str, releases: int) -> tuple[float, float]:
    """The mean squares of the errors of cells, and of boxes, in standard errors. Boxes of one release share its errors,
    so that their mean over 24 of them scatters by a tenth, over 6 by a fifth.
    """
    shape, records, in_parts = TABLES[name]
    counts, random = hills(shape, records), np.random.default_rng(6)
    cells, boxes = [], []
    for seed in range(releases):
        synopsis = Adaptive("ranges").measure(counts, epsilon="0.1", source=SeededSource(seed))
        assert isinstance(synopsis.sensing, GroupSums)
        assert synopsis.sensing.in_parts_of_blocks == in_parts
        release = synopsis.recover()
        errors, said = release.values - counts, release.stderr
        assert said is not None
        cells.append(float(((errors / said) ** 2).mean()))
        for _ in range(10):
            box = tuple(slice(*np.sort(random.choice(side + 1, 2, replace=False))) for side in shape)
            weights = np.zeros(shape)
            weights[box] = 1.0
            found = release.interval(weights, 0.95, "expected")
            if prod(weights[box].shape) > 1 and found.low < found.high:
                boxes.append((errors[box].sum() * 3.92 / (found.high - found.low)) ** 2)
    return float(np.mean(cells)), float(np.mean(boxes))


@pytest.mark.parametrize(
    ("name", "releases"),
    [
        ("days and hours", 6),
        ("a cube", 6),
        ("a dense square", 24),
        *(pytest.param(name, 24, marks=pytest.mark.slow) for name in ("a faint square", "days and hours", "a cube")),
    ],
)
def test_errors_of_tables_are_of_their_own_size(name: str, releases: int) -> None:
    cells, boxes = scores(name, releases)
    for score in (cells, boxes):
        assert LEAST < score < MOST
