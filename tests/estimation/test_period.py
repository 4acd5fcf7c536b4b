"""The period of noisy rows: found in cycles and combs, and in nothing else; as a plain loop would find it."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage import cycles as subject
from sparsedp.estimation.shrinkage.cycles import LEAST_CELLS, mean_squares_apart, period_of
from sparsedp.laws import DiscreteLaplaceLaw

LAW = DiscreteLaplaceLaw(Fraction(10))
PLACES = np.arange(4096)


def noisy(rates: Floats, seed: int) -> Floats:
    random = np.random.default_rng(seed)
    return np.asarray(random.poisson(rates) + random.laplace(0.0, 10.0, np.shape(rates)))


REPEATING = {
    "days of hours": (24, 15.0 * (1.0 + np.sin(2 * np.pi * PLACES / 24))),
    "every third": (3, np.where(PLACES % 3 == 0, 60.0, 1.0)),
    "up and down": (2, np.where(PLACES % 2 == 0, 30.0, 5.0)),
    "multiples of something, in narrower cells": (
        17,
        np.where(np.isin(PLACES, (PLACES * 17.05).astype(int)), 80.0, 0.1),
    ),
    "weeks of hours": (168, 40.0 * (PLACES // 24 % 7 < 5) * (PLACES % 24 > 8)),
}


@pytest.mark.parametrize("name", REPEATING)
@pytest.mark.parametrize("seed", range(4))
def test_a_period_is_found(name: str, seed: int) -> None:
    period, rates = REPEATING[name]
    found = period_of(noisy(rates, seed)[None], LAW)
    assert found is not None
    assert found % period == 0
    assert found <= 2 * period


OTHERS = {
    "nothing": np.zeros(4096),
    "even": np.full(4096, 50.0),
    "smooth": 100.0 * (1.0 + np.sin(PLACES / 300.0)),
    "steps": np.repeat(np.random.default_rng(1).integers(0, 200, 32), 128),
    "rough": np.random.default_rng(2).integers(0, 200, 4096),
    "few huge cells": np.where(np.isin(PLACES, np.random.default_rng(3).integers(0, 4096, 20)), 1e5, 1.0),
    "two alike": np.where(np.isin(PLACES, [1000, 1100]), 1e6, 1.0),
    "falling": 1000.0 / (1.0 + PLACES),
    "waves of other heights": 400.0
    * (1.0 + np.sin(2 * np.pi * PLACES / 128) * np.repeat(np.random.default_rng(4).random(32), 128)),
    "two waves": 300.0 * (2.0 + np.sin(2 * np.pi * PLACES / 150) + np.sin(2 * np.pi * PLACES / 190)),
    "waves of other lengths": 300.0 * (1.0 + np.sin(PLACES**1.3 / 80)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_none_is_found_where_there_is_none(name: str) -> None:
    assert not any(period_of(noisy(OTHERS[name], seed)[None], LAW) for seed in range(12))


def test_rows_are_looked_at_together() -> None:
    """One of them would not tell."""
    rates = 8.0 * (1.0 + np.sin(2 * np.pi * np.arange(512) / 16))
    rows = np.stack([noisy(rates, seed) for seed in range(32)])
    assert period_of(rows, LAW) == 16
    assert sum(period_of(row[None], LAW) == 16 for row in rows) < 8


def test_cells_that_were_not_measured_tell_nothing() -> None:
    """Neither that they repeat themselves, nor that they do not."""
    measured = PLACES // 512 % 2 == 0
    period, rates = REPEATING["every third"]
    row = np.where(measured, noisy(rates, 1), 20.0)
    assert period_of(row[None], LAW, measured[None]) == period
    assert period_of(np.where(measured, noisy(OTHERS["rough"], 1), 100.0 * rates)[None], LAW, measured[None]) is None


def test_a_year_of_days_has_weeks() -> None:
    days = np.arange(365)
    rates: Floats = np.where(days % 7 < 5, 100.0, 40.0)
    assert [period_of(noisy(rates, seed)[None], LAW) for seed in range(4)] == [7] * 4


@pytest.mark.parametrize("n", [20_000, 32_767, 100_000])
def test_long_rows_are_looked_at_to_their_ends(n: int) -> None:
    places = np.arange(n)
    rates: Floats = np.where((places > n // 2) & (places % 12 < 5), 60.0, 0.0)
    assert period_of(noisy(rates, 1)[None], LAW) == 12


def test_long_rows_are_looked_at_here_and_there() -> None:
    rates: Floats = np.where(np.arange(1 << 17) % 60 < 30, 30.0, 0.0)
    assert period_of(noisy(rates, 1)[None], LAW) == 60


@pytest.mark.parametrize("law", [DiscreteLaplaceLaw(Fraction(1, 100)), DiscreteLaplaceLaw(Fraction(10) ** 400)])
def test_no_noise_and_noise_without_bound_have_none(law: DiscreteLaplaceLaw) -> None:
    assert period_of(REPEATING["every third"][1][None], law) is None


def test_short_and_very_long_rows_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = REPEATING["every third"][1]
    assert period_of(noisy(rates[: LEAST_CELLS - 1], 1)[None], LAW) is None
    assert period_of(noisy(rates, 1)[None], LAW, np.zeros((1, 4096), np.bool_)) is None
    monkeypatch.setattr(subject, "LONGEST", 4096)
    assert period_of(noisy(rates, 1)[None], LAW) is None


@given(st.integers(1, 3), st.integers(200, 400), st.integers(0, 2**32 - 1), st.booleans())
def test_mean_squares_are_those_of_a_plain_loop(rows: int, n: int, seed: int, some: bool) -> None:
    random = np.random.default_rng(seed)
    known = (random.random((rows, n)) < (0.8 if some else 1.1)).astype(np.float64)
    cells = random.normal(0.0, 5.0, (rows, n)) * known
    found = mean_squares_apart(cells, known, 40)
    for apart in range(41):
        both = known[:, : n - apart] * known[:, apart:]
        if both.sum() <= 0.5 * LEAST_CELLS:
            assert found[apart] == inf
            continue
        squares = both * (cells[:, : n - apart] - cells[:, apart:]) ** 2
        assert found[apart] == pytest.approx(squares.sum() / both.sum(), rel=1e-9, abs=1e-9)
