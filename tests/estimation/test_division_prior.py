"""How sums divide: tabulated Beta laws, and parts that are not equally wide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from sparsedp.estimation._tree_messages import (
    BETA_EXPONENTS,
    DISTRIBUTIONS,
    LAWS,
    STEPS,
    as_if_equally_wide,
    chance_up_to,
    place_of,
)

OPEN = st.floats(1e-6, 1 - 1e-6)


@pytest.mark.parametrize("law", range(1, LAWS))
def test_the_table_is_the_law(law: int) -> None:
    exact = beta(BETA_EXPONENTS[law - 1], BETA_EXPONENTS[law - 1]).cdf
    for share in (0.0, 1e-9, 1e-6, 1e-4, 0.01, 0.2, 0.3, 0.49, 0.5):
        assert chance_up_to(DISTRIBUTIONS[law], share) == pytest.approx(exact(share), abs=2e-3)
    assert chance_up_to(DISTRIBUTIONS[law], 0.7) == pytest.approx(0.5), "the lesser part has no more than half"


def test_half_exactly_has_no_density() -> None:
    assert not DISTRIBUTIONS[0].any()


@given(OPEN, st.floats(0.01, 0.99))
def test_the_odds_of_a_share_are_those_of_the_widths_times_the_others(share: float, width: float) -> None:
    found = as_if_equally_wide(share, width)
    # 1 − found may be as little as 10⁻⁸, of which sixteen digits below one leave eight.
    assert found / (1 - found) * width / (1 - width) == pytest.approx(share / (1 - share), rel=1e-6)


@pytest.mark.parametrize("share", [-1.0, 0.0, 1.0, 2.0])
def test_all_is_on_one_side_whatever_the_widths(share: float) -> None:
    assert as_if_equally_wide(share, 0.3) == (share >= 1.0)


def test_a_part_of_the_sum_like_its_part_of_the_width_is_even() -> None:
    assert as_if_equally_wide(0.2, 0.2) == pytest.approx(0.5)


@given(st.floats(0.0, 1.0))
def test_places_are_on_the_grid(share: float) -> None:
    before, beyond = place_of(share)
    assert 0 <= before < STEPS
    assert -1e-9 <= beyond <= 1.0 + 1e-9
