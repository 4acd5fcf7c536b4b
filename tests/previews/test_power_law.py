"""The line through errors at a few budgets: exact where they are exact, near plain noise where they are few."""

import pytest

from sparsedp.previews._simulation import PowerLaw

FACTORS = (0.5, 1.0, 2.0, 4.0)


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.3])
def test_many_draws_are_believed(slope: float) -> None:
    law = PowerLaw.through((factor, 7 * factor**-slope, 1e6) for factor in FACTORS)
    assert law is not None
    assert law.slope == pytest.approx(slope, abs=1e-4)
    assert law.at(2) == pytest.approx(7 * 2**-slope, rel=1e-3)
    assert law.halving_factor == pytest.approx(2 ** (1 / slope), rel=1e-3)


def test_few_draws_lean_towards_plain_noise() -> None:
    law = PowerLaw.through((factor, 7.0, 1.0) for factor in FACTORS)
    assert law is not None
    assert 0.5 < law.slope < 1


def test_an_error_that_does_not_fall_is_never_halved() -> None:
    law = PowerLaw.through((factor, 7.0, 1e9) for factor in FACTORS)
    assert law is not None
    assert law.halving_factor > 1e9


def test_no_errors_have_no_law() -> None:
    assert PowerLaw.through((factor, 0.0, 10.0) for factor in FACTORS) is None
