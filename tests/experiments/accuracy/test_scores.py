"""Means, ratios and intervals, against plain formulas and against many repetitions."""

import math

import numpy as np
import pytest

from sparsedp.experiments.accuracy.scores import (
    Score,
    as_published,
    at_their_best,
    exactly,
    geometric_mean,
    score,
)


def test_a_score_is_the_mean_with_students_interval() -> None:
    errors = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]])
    cells = score(errors, "cells")
    assert cells.value == pytest.approx(2)
    # The standard error is 1/√3; relative to the mean it is half of that; t₀.₉₇₅ with 2 degrees of freedom is 4.303.
    assert cells.factor == pytest.approx(math.exp(4.3027 / 2 / math.sqrt(3)), rel=1e-4)
    assert cells.low < cells.value < cells.high
    ranges = score(errors, "ranges")
    assert [ranges.value, ranges.factor, ranges.margin] == pytest.approx([10, 1, 0])


def test_the_product_counts_the_correlation() -> None:
    together = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    opposed = together * [1, 0] + together[::-1] * [0, 1]
    assert score(together, "product").value == pytest.approx(score(opposed, "product").value) == pytest.approx(40)
    assert score(together, "product").variance == pytest.approx(4 * score(together, "cells").variance)
    assert score(opposed, "product").variance == pytest.approx(0)


def test_ratios_and_geometric_means() -> None:
    ratio = Score(math.log(6), 0.03, 9).over(Score(math.log(2), 0.01, 4))
    assert [ratio.value, ratio.variance, ratio.freedom] == pytest.approx([3, 0.04, 4])
    mean = geometric_mean([Score(math.log(2), 0.04, 4), Score(math.log(8), 0.04, 4)])
    assert [mean.value, mean.variance] == pytest.approx([4, 0.02])
    against_a_figure = Score(math.log(6), 0.03, 9).over(exactly(3))
    assert against_a_figure.freedom == 9
    assert against_a_figure.value == pytest.approx(2)


def test_intervals_cover() -> None:
    generator = np.random.default_rng(0)
    hits = 0
    for _ in range(1000):
        ours, theirs = generator.gamma(9, 2, size=(20, 2)), generator.gamma(9, 1, size=(20, 2))
        ratio = score(ours, "product").over(score(theirs, "product"))
        hits += ratio.low <= 4 <= ratio.high
    assert 930 <= hits <= 975


def test_others_are_judged_at_their_best_and_ours_as_published() -> None:
    clipping_helps = np.array([[5.0, 9.0, 4.0, 7.0], [5.0, 9.0, 4.0, 9.5]])
    assert at_their_best(clipping_helps).tolist() == [[4.0, 7.0], [4.0, 9.5]]
    assert as_published(clipping_helps).tolist() == [[5.0, 9.0], [5.0, 9.0]]
    clipping_hurts = clipping_helps[:, [0, 3, 2, 1]]
    assert at_their_best(clipping_hurts).tolist() == [[4.0, 7.0], [4.0, 9.5]]
