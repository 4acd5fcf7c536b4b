"""Rows that repeat themselves: laid out by cycles and back, means of other cycles, nearer than by neighbours alone."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.estimation import estimator
from sparsedp.estimation.shrinkage.cycles import BOX, beside_other_cycles, in_cycles, mean_of_other_cycles
from sparsedp.estimation.shrinkage.value_prior import towards_value_prior
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums

LAW = DiscreteLaplaceLaw(Fraction(10))
HOURS = np.arange(4096)
DAYS = 25.0 * (1.0 + np.sin(2 * np.pi * HOURS / 24)) * (1.0 + 0.5 * np.sin(HOURS / 500))


@given(st.integers(2, 60), st.integers(60, 300))
def test_every_cell_is_at_its_place_in_its_cycle(period: int, n: int) -> None:
    row = np.arange(float(n))
    table = in_cycles(row, period)
    assert table.shape[1] == period
    assert table.size - n < period
    assert (table.reshape(-1)[:n] == row).all()
    assert (table.reshape(-1)[n:] == np.arange(n, table.size) - period).all(), "filled up with the cycle before"


@given(st.integers(2, 30), st.integers(61, 200), st.integers(1, 2))
def test_means_are_of_the_same_place_in_other_cycles(period: int, n: int, reach: int) -> None:
    random = np.random.default_rng(n)
    rows, measured = random.normal(size=(2, n)), random.random((2, n)) < 0.7
    found, of_all = mean_of_other_cycles(rows, period, reach, measured), mean_of_other_cycles(rows, period, reach)
    for cell in range(n):
        others = [cell + step * period for step in range(-reach, reach + 1) if step and 0 <= cell + step * period < n]
        np.testing.assert_allclose(of_all[:, cell], rows[:, others].mean(axis=1), atol=1e-12)
        for row in range(2):
            known = rows[row, others][measured[row, others]]
            expected = known.mean() if len(known) else rows[measured].mean()
            assert found[row, cell] == pytest.approx(expected, abs=1e-12)


def test_sums_of_boxes_stay() -> None:
    row = DAYS + np.random.default_rng(1).laplace(0.0, 10.0, 4096)
    found = beside_other_cycles(row, row, LAW, 24)
    assert not np.allclose(found, row)
    np.testing.assert_allclose(found.reshape(-1, BOX).sum(axis=1), row.reshape(-1, BOX).sum(axis=1))


COMB = np.where(np.isin(HOURS, (HOURS * 8.53).astype(int)), 60.0, 0.0) * np.exp(-(((HOURS - 2000) / 1000) ** 2))


@pytest.mark.parametrize("workload", ["any", "cells"])
@pytest.mark.parametrize(("name", "most"), [("days", 0.85), ("comb", 0.9)])
def test_rows_that_repeat_themselves_come_out_nearer(
    workload: str, name: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = np.random.default_rng(5).poisson(DAYS if name == "days" else COMB)
    made = [sdp.Adaptive(workload).measure(counts, epsilon="0.1", source=SeededSource(seed)) for seed in range(4)]
    with_cycles = [np.linalg.norm(synopsis.recover().values - counts) for synopsis in made]
    monkeypatch.setattr(estimator, "period_of", lambda *_: None)
    without = [np.linalg.norm(synopsis.recover().values - counts) for synopsis in made]
    assert sum(with_cycles) < most * sum(without)


def test_what_is_empty_in_all_other_cycles_is_believed_to_be() -> None:
    """Beside teeth of a comb: nothing there is far from the values of their neighbourhood, and only cycles tell."""
    counts = np.where(HOURS % 16 == 0, np.random.default_rng(3).integers(0, 300, 4096), 0)
    row = counts + np.random.default_rng(4).laplace(0.0, 10.0, 4096)
    between = HOURS % 16 != 0
    off = {
        period: np.linalg.norm((towards_value_prior(row[None], row[None], LAW, None, period)[0] - counts)[between])
        for period in (None, 16, 13)
    }
    assert off[16] < 0.95 * off[None]
    assert off[13] > 0.96 * off[None], "another period teaches little"


def test_cycles_are_used_where_other_places_were_measured_in_groups() -> None:
    """Half of the row repeats itself; the other half is two levels, in turn, which were not measured by cells."""
    levels = np.repeat(np.tile([0.0, 1000.0], 16), 64)
    counts = np.append(np.random.default_rng(1).poisson(DAYS[:2048]), levels).astype(np.int64)
    measured = HOURS < 2048
    off = {}
    for period in (None, 24):
        off[period] = 0.0
        for seed in range(3):
            row = np.where(measured, counts + np.random.default_rng(seed).laplace(0.0, 10.0, 4096), counts)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(estimator, "period_of", lambda *_, found=period: found)
                found = estimator._shrunk_cells(
                    row, GroupSums(4096, [1]), LAW, None, value_prior=True, measured=measured
                )
            off[period] += float(np.linalg.norm((found - counts)[measured]))
    assert off[24] < 0.85 * off[None]


def test_rows_that_do_not_are_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(5).poisson(100.0 * np.exp(-HOURS / 800.0))
    synopsis = sdp.Adaptive("cells").measure(counts, epsilon="0.1", source=SeededSource(1))
    found = synopsis.recover().values
    monkeypatch.setattr(estimator, "period_of", lambda *_: None)
    assert (found == synopsis.recover().values).all()
