"""Nominal 95 % intervals hold the truth about so often, and the check would notice if they did not."""

from math import sqrt

import pytest

from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from studies.coverage import Coverage, measure_coverage
from studies.inputs import INPUTS

CASES = [
    ("hourly_departures", 10**4, "ranges"),
    pytest.param("sine", 10**6, "any", marks=pytest.mark.slow),
    pytest.param("steps", 10**5, "cells", marks=pytest.mark.slow),
    pytest.param("blobs", 10**6, "any", marks=pytest.mark.slow),
]


def coverage(name: str, total: int, workload: str, scale: float = 1.0) -> Coverage:
    shape, source = INPUTS[name].shape(), SeededSource(7)
    return measure_coverage(
        shape, total, Adaptive(workload), epsilon="0.1", runs=12, judged=4, scale=scale, source=source
    )


@pytest.mark.parametrize(("name", "total", "workload"), CASES)
def test_intervals_hold_the_truth_and_would_not_with_half_the_variance(name: str, total: int, workload: str) -> None:
    found = coverage(name, total, workload)
    assert found.cells >= 0.93
    assert found.ranges >= 0.9
    assert found.cell_width < 1.6
    assert coverage(name, total, workload, sqrt(0.5)).cells < 0.93


def test_large_cells_are_counted_one_by_one() -> None:
    one, other = Coverage(0.9, 0.8, 1.0, 2.0, 0.5, 10.0), Coverage(1.0, 1.0, 3.0, 4.0, 1.0, 30.0)
    mean = Coverage.mean([one, other])
    assert mean.large == pytest.approx(0.875)
    assert mean.cells == pytest.approx(0.95)
    assert mean.cell_width == pytest.approx(2.0)


def test_more_cannot_be_judged_than_is_run() -> None:
    with pytest.raises(InvalidInput, match="judged"):
        measure_coverage(INPUTS["sine"].shape(), 1000, Adaptive(), epsilon="0.1", runs=2, judged=3)
