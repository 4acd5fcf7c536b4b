"""Exponents that keep a bound, break it, or leave it open."""

import math

import pytest

from sparsedp.experiments.paper.claim import Verdict
from sparsedp.experiments.paper.deciding import Answer, at_most, every, judged, near
from sparsedp.experiments.paper.fits import Slope


@pytest.mark.parametrize(
    ("slope", "answer"),
    [
        (Slope(0.2, 0.1, 0.3), True),
        (Slope(0.45, 0.3, 0.6), True),  # holds both answers, but is narrow
        (Slope(-2.0, -9.0, 0.4), True),  # wide, but below with all of it
        (Slope(0.45, -24.0, 26.0), None),
        (Slope(0.55, 0.45, 0.65), None),
        (Slope(0.7, 0.6, 0.8), False),
        (Slope(0.4, math.nan, math.nan), None),  # two points have no interval
    ],
)
def test_a_bound_on_an_exponent(slope: Slope, answer: Answer) -> None:
    assert at_most(slope, 0.5) is answer


@pytest.mark.parametrize(
    ("slope", "answer"),
    [
        (Slope(1.02, 0.9, 1.1), True),
        (Slope(1.0, -1.0, 3.0), None),
        (Slope(1.2, 0.9, 1.4), None),
        (Slope(1.2, 1.1, 1.3), False),
        (Slope(0.5, 0.4, 0.6), False),
        (Slope(1.0, math.nan, math.nan), None),
    ],
)
def test_an_exponent_that_should_be_one(slope: Slope, answer: Answer) -> None:
    assert near(slope, 1.0, 0.05) is answer


def test_a_no_weighs_more_than_not_knowing() -> None:
    assert every(True, True) is True
    assert every(True, None) is None
    assert every(None, False, True) is False
    verdicts = [judged(answer, "").verdict for answer in (True, False, None)]
    assert verdicts == [Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED]
