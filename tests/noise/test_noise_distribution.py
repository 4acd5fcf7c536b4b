"""The noise that is drawn follows its law, agrees with the plain version and OpenDP's; 5 % off is noticed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from plain_discrete_laplace import plain_discrete_laplace

from goodness_of_fit import SCALES, fit_p_value, same_law_p_value
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.samplers import OpendpSampler
from sparsedp.noise.source import SeededSource, SystemSource

SIZE = 400_000
OPENDP_SIZE = 100_000
PLAIN_SIZE = 2000
ACCEPT = 1e-4
# OpenDP cannot be seeded, so chance decides anew in every run: once in a hundred thousand runs it may be unlucky.
ACCEPT_UNSEEDED = 1e-6
OFF_BY_5_PERCENT = [Fraction(100, 105), Fraction(105, 100)]


@pytest.mark.parametrize("scale", SCALES)
def test_samples_follow_the_exact_law(scale: Fraction) -> None:
    sample = discrete_laplace(scale, SIZE, SeededSource(21))
    assert fit_p_value(sample, scale) > ACCEPT
    law = DiscreteLaplaceLaw(scale)
    deviation = np.sqrt((law.fourth_moment - law.variance**2) / SIZE)
    assert abs(np.mean(sample.astype(float) ** 2) - law.variance) < 4 * deviation
    assert abs(sample.mean()) < 4 * np.sqrt(law.variance / SIZE)


@pytest.mark.parametrize("factor", OFF_BY_5_PERCENT)
@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_off_by_5_percent_is_rejected(scale: Fraction, factor: Fraction) -> None:
    sample = discrete_laplace(scale * factor, SIZE, SeededSource(22))
    assert fit_p_value(sample, scale) < ACCEPT


@pytest.mark.parametrize("scale", SCALES)
def test_samples_agree_with_the_plain_version(scale: Fraction) -> None:
    plain = np.array(plain_discrete_laplace(scale, PLAIN_SIZE, SeededSource(25)))
    assert same_law_p_value(discrete_laplace(scale, SIZE, SeededSource(26)), plain, scale) > ACCEPT
    off = discrete_laplace(scale * Fraction(5, 4), SIZE, SeededSource(27))
    assert same_law_p_value(off, plain, scale) < ACCEPT


@pytest.mark.parametrize("scale", SCALES)
def test_samples_agree_with_opendp(scale: Fraction) -> None:
    theirs = np.zeros(OPENDP_SIZE, dtype=np.int64)
    OpendpSampler().add_noise(theirs, scale, SystemSource())
    assert same_law_p_value(discrete_laplace(scale, SIZE, SeededSource(23)), theirs, scale) > ACCEPT_UNSEEDED
    for factor in OFF_BY_5_PERCENT:
        off = discrete_laplace(scale * factor, SIZE, SeededSource(24))
        assert same_law_p_value(off, theirs, scale) < ACCEPT_UNSEEDED
