"""Privelet: the noise law of every level, and of every cell, is the one the proof gives."""

from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from goodness_of_fit import fit_p_value
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource

CELLS = 512
LEVELS = 9
SCALE = Fraction(1 + LEVELS)


def noise_by_level(runs: int) -> list[list[int]]:
    """The noise on the total and on the differences of each level, many runs together."""
    source = SeededSource(5)
    truth = np.arange(CELLS) % 11
    collected: list[list[int]] = [[] for _ in range(LEVELS + 1)]
    for _ in range(runs):
        synopsis = sdp.Privelet().measure(truth, epsilon=1, source=source)
        noise = synopsis.values - synopsis.sensing.apply(truth)
        collected[0].append(int(noise[0]))
        for level in range(LEVELS):
            collected[level + 1] += noise[2**level : 2 ** (level + 1)].tolist()
    return collected


def test_every_level_has_the_same_law_and_no_other() -> None:
    for noise in noise_by_level(runs=600):
        assert fit_p_value(np.array(noise), SCALE) > 1e-4
        assert fit_p_value(np.array(noise), SCALE * Fraction(13, 10)) < 1e-4


def test_a_cells_variance_is_the_documented_one() -> None:
    source = SeededSource(8)
    values = np.array(
        [sdp.Privelet().release(np.zeros(CELLS, int), epsilon=1, source=source).values for _ in range(800)]
    )
    coefficient = DiscreteLaplaceLaw(SCALE).variance
    expected = coefficient * (1 / CELLS**2 + sum(4.0**-level for level in range(1, LEVELS + 1)))
    assert values.var() == pytest.approx(expected, rel=0.03)
    assert values.mean() == pytest.approx(0, abs=0.1)
