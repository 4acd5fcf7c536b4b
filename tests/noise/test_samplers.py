"""The registry of samplers: one law, effective scales that never fall short, clear refusals."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from sparsedp.noise.samplers import SAMPLERS, OpendpSampler
from sparsedp.noise.source import SeededSource, SystemSource


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_every_sampler_adds_noise_of_its_effective_scale(name: str) -> None:
    sampler, size = SAMPLERS[name], 20_000
    assert sampler.name == name
    sampler.check(SystemSource())
    scale = sampler.effective_scale(Fraction(10, 3))
    values = np.full((100, 200), 1000, dtype=np.int64)
    sampler.add_noise(values, Fraction(10, 3), SystemSource())
    law = DiscreteLaplaceLaw(scale)
    noise = (values - 1000).astype(float)
    assert abs(noise.mean()) < 6 * np.sqrt(law.variance / size)
    assert abs((noise**2).mean() - law.variance) < 6 * np.sqrt(law.fourth_moment / size)


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_every_sampler_adds_gaussian_noise_of_its_effective_variance(name: str) -> None:
    sampler, size = SAMPLERS[name], 20_000
    law = DiscreteGaussianLaw(sampler.effective_variance(Fraction(100, 7)))
    values = np.full((100, 200), 1000, dtype=np.int64)
    sampler.add_gaussian(values, Fraction(100, 7), SystemSource())
    noise = (values - 1000).astype(float)
    assert abs(noise.mean()) < 6 * np.sqrt(law.variance / size)
    assert abs((noise**2).mean() - law.variance) < 6 * np.sqrt(law.fourth_moment / size)
    assert abs((noise**2).mean() - 1.2 * law.variance) > 6 * np.sqrt(law.fourth_moment / size)


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_noise_is_added_modulo_64_bits(name: str) -> None:
    """Sums of neighbours on either side of 2⁶³ have the same noise: clamped, each would stay on its own side."""
    for edge in (2**63 - 1, -(2**63)):
        for add in (SAMPLERS[name].add_noise, SAMPLERS[name].add_gaussian):
            values = np.full(200, edge, dtype=np.int64)
            add(values, Fraction(10**6), SystemSource())
            assert 40 < int((values > 0).sum()) < 160
            assert len(set(values.tolist())) > 100


@given(st.fractions(min_value=Fraction(1, 10**20), max_value=10**30))
def test_opendp_rounds_the_deviation_up_to_the_next_float(variance: Fraction) -> None:
    effective = OpendpSampler().effective_variance(variance)
    deviation = float(np.sqrt(float(effective)))
    assert Fraction(deviation) ** 2 == effective >= variance
    assert Fraction(nextafter(deviation, 0)) ** 2 < variance
    assert SAMPLERS["sparsedp"].effective_variance(variance) == variance


@given(st.fractions(min_value=Fraction(1, 10**20), max_value=10**30))
def test_opendp_rounds_the_scale_up_to_the_next_float(scale: Fraction) -> None:
    effective = OpendpSampler().effective_scale(scale)
    assert effective == Fraction(float(effective)) >= scale
    assert Fraction(nextafter(float(effective), 0)) < scale
    assert SAMPLERS["sparsedp"].effective_scale(scale) == scale


def test_opendp_takes_no_seeded_source() -> None:
    values = np.zeros(3, dtype=np.int64)
    for attempt in (
        OpendpSampler().check,
        lambda source: OpendpSampler().add_noise(values, Fraction(5), source),
        lambda source: OpendpSampler().add_gaussian(values, Fraction(5), source),
    ):
        with pytest.raises(InvalidInput, match="seeded"):
            attempt(SeededSource(1))
    assert not values.any()
    SAMPLERS["sparsedp"].check(SeededSource(1))


def test_opendp_missing_is_said_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(InvalidInput, match=r"sparsedp\[opendp\]"):
        OpendpSampler().check(SystemSource())


def test_a_scale_above_every_float_is_left_to_our_sampler() -> None:
    with pytest.raises(InvalidInput, match="sparsedp"):
        OpendpSampler().effective_scale(Fraction(10**400))
    assert SAMPLERS["sparsedp"].effective_scale(Fraction(10**400)) == 10**400


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_a_scale_must_be_positive(name: str) -> None:
    with pytest.raises(InvalidInput, match="scale"):
        SAMPLERS[name].effective_scale(Fraction(0))
    for variance in (Fraction(0), Fraction(2**110 + 1)):
        with pytest.raises(InvalidInput, match="variance"):
            SAMPLERS[name].effective_variance(variance)
