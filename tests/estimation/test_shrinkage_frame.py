"""The frame: unit noise everywhere, independent neighbourhood, trends foreseen, and an inverse that is one."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from shrinkage_oracle import bend_weights, contrast_weights, window

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage._row_contrasts import (
    BLOCK,
    BOTH_SIDES,
    COUNTS_SEEN,
    NOWHERE,
    OCCUPIED,
    Classes,
    bend_spread,
    coefficients,
    leverage,
    mirrored_sums,
    trend_side,
    window_spread,
    windows,
)
from sparsedp.estimation.shrinkage.mixture_prior import CLASSES, gap_deviations, worth_of

SIZES = [2, 3, 5, 8, 21, 32, 77]


def sums_of(cells: Floats) -> Floats:
    return mirrored_sums(cells, 0.0, len(cells))


def level_of(cells: Floats, level: int) -> tuple[Floats, Floats, Classes]:
    """Contrasts, bends and classes at every gap, the noise having unit deviation."""
    n = len(cells)
    contrasts, bends, classes = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1, np.uint8)
    coefficients(sums_of(cells), n, 0.0, level, np.ones(4 * BLOCK), 0, n + 1, contrasts, bends, classes)
    return contrasts, bends, classes


def windows_of(cells: Floats, level: int) -> Floats:
    out = np.empty(len(cells) + 1)
    windows(sums_of(cells), level, np.ones(BLOCK), out)
    return out


def rows_of(transform: Callable[[Floats, int], Floats], n: int, level: int) -> Floats:
    """The transform's matrix: a row a gap."""
    return np.array([transform(cell, level) for cell in np.eye(n)]).T


def levels_of(n: int) -> range:
    return range(1, (2 * n).bit_length())


@pytest.mark.parametrize("n", SIZES)
def test_every_coefficient_has_unit_noise_and_the_weights_of_its_definition(n: int) -> None:
    for level in levels_of(n):
        own = rows_of(lambda cells, level: level_of(cells, level)[0], n, level)
        bent = rows_of(lambda cells, level: level_of(cells, level)[1], n, level)
        unit = 2.0 ** (level / 2)
        for gap in range(1, n):
            assert np.linalg.norm(own[gap]) == pytest.approx(1.0)
            plain = contrast_weights(n, level, gap)
            np.testing.assert_allclose(own[gap] * np.sqrt(leverage(gap, n, level)) / unit, plain, atol=1e-12)
            side, weights = trend_side(gap, n, level), bend_weights(n, level, gap)
            assert (side == NOWHERE) == (weights is None)
            if weights is not None:
                assert np.linalg.norm(bent[gap]) == pytest.approx(1.0)
                spread = np.sqrt(bend_spread(gap, n, level, side))
                np.testing.assert_allclose(bent[gap] * spread / unit, weights, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_the_coarsest_windows_have_unit_noise(n: int) -> None:
    level = levels_of(n)[-1]
    rows = rows_of(windows_of, n, level)
    half = 2 ** (level - 1)
    for gap in range(n + 1):
        spread = window_spread(gap, n, level)
        plain = window(n, gap - half, gap + half) - 1 / n
        np.testing.assert_allclose(rows[gap] * np.sqrt(spread), plain, atol=1e-9)
        assert spread == 0.0 or np.linalg.norm(rows[gap]) == pytest.approx(1.0)


def test_a_straight_line_has_no_bends_and_a_quartic_none_away_from_the_ends() -> None:
    n = 200
    t = np.arange(n) / n
    for level in (1, 2, 3, 4):
        line = level_of(3.0 - 7.0 * t, level)[1]
        np.testing.assert_allclose(line, 0.0, atol=1e-10)
        # Over a window, the mean of a quartic polynomial is one as well.
        quartic = level_of(1.0 + t - 4 * t**2 + 5 * t**3 - 2 * t**4, level)[1]
        inside = [gap for gap in range(1, n) if trend_side(gap, n, level) == BOTH_SIDES]
        assert len(inside) > 100
        np.testing.assert_allclose(quartic[inside], 0.0, atol=1e-10)
        assert np.abs(quartic).max() > 1e-4


def test_surroundings_do_not_depend_on_the_cells_of_the_contrast() -> None:
    n, level, gap = 60, 2, 30
    cells = np.random.default_rng(0).normal(0, 3, n)
    before = level_of(cells, level)[2]
    assert set(before) == set(range(CLASSES))
    cells[gap - 2 : gap + 2] = [900, -50, 80, 1e6]
    after = level_of(cells, level)[2]
    assert before[gap] == after[gap] != 0
    assert (before != after).any()


def test_surroundings_tell_jumps_from_roughness() -> None:
    n = 64
    jump = np.where(np.arange(n) < 32, 0.0, 50.0)
    kinds = level_of(jump, 3)[2]
    assert kinds[32] == OCCUPIED + 3  # the ring sees it, the neighbours are flat
    assert kinds[16] == 1
    rough = np.tile([50.0, 0.0], n // 2)
    assert level_of(rough, 1)[2][32] - OCCUPIED in (2, 4)


@pytest.mark.parametrize("centre", [0.0, -7.0, 3.0])
@pytest.mark.parametrize("level", [1, 3])
def test_surroundings_tell_counts_from_none_whatever_was_taken_off(level: int, centre: float) -> None:
    """Noise of deviation 1: the sum of the 2·2^level cells around is seen from 2.5 of its deviations on."""
    n, gap = 200, 100
    around = 2.0 * 2**level
    for seen, mean in ((False, 0.98 * COUNTS_SEEN / sqrt(around)), (True, 1.02 * COUNTS_SEEN / sqrt(around))):
        for sign in (-1.0, 1.0):
            contrasts, bends, classes = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1, np.uint8)
            sums = mirrored_sums(np.full(n, sign * mean), centre, n)
            coefficients(sums, n, centre, level, np.ones(4 * BLOCK), 0, n + 1, contrasts, bends, classes)
            near_an_end = 3 * 2 ** (level - 1)
            assert classes[gap] == classes[near_an_end] == (OCCUPIED + 1 if seen else 1)


@pytest.mark.parametrize("level", [1, 2, 3, 6])
def test_what_a_contrast_is_worth(level: int) -> None:
    detail = np.repeat([1.0, -1.0], 2 ** (level - 1)) / 2 ** (level / 2)
    assert worth_of(2.0**level) == pytest.approx(1 / float((np.correlate(detail, detail, "full") ** 2).sum()))


def test_runs_of_gaps_have_the_coefficients_of_the_whole() -> None:
    n, level = 3 * BLOCK, 5
    cells, deviations = np.random.default_rng(3).normal(0, 3, n), np.random.default_rng(4).uniform(1, 3, 2 * BLOCK)
    whole = level_of(cells, level)
    period = np.concatenate([deviations, deviations])[: n + 1]
    for start in (0, BLOCK, 2 * BLOCK, 3 * BLOCK):
        stop = min(start + BLOCK, n + 1)
        contrasts, bends, classes = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.uint8)
        coefficients(sums_of(cells), n, 0.0, level, deviations, start, stop, contrasts, bends, classes)
        run = slice(start, stop)
        np.testing.assert_allclose(contrasts[: stop - start] * period[run], whole[0][run], atol=1e-10)
        np.testing.assert_allclose(bends[: stop - start] * period[run], whole[1][run], atol=1e-10)
        assert ((classes[: stop - start] == 0) == (whole[2][run] == 0)).all()


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_shifted_details_carry_the_noise_of_finer_aligned_ones(level: int) -> None:
    n, variances = 64, np.array([9.0, 8.0, 5.0, 2.0, 2.0, 2.0, 2.0])
    variances[level:] = variances[level - 1]
    details = [np.full(n, 0.125)]
    spread = [variances[-1]]
    for finer in range(1, 7):
        for start in range(0, n, 2**finer):
            detail = np.zeros(n)
            detail[start : start + 2**finer] = np.repeat([1.0, -1.0], 2 ** (finer - 1)) / 2 ** (finer / 2)
            details.append(detail)
            spread.append(variances[finer - 1])
    covariance = np.array(details).T @ np.diag(spread) @ np.array(details)
    found = np.empty(n + 1)
    gap_deviations(level, variances, found)
    for gap in range(2 ** (level - 1), n + 1 - 2 ** (level - 1)):
        weights = contrast_weights(n, level, gap) * 2 ** (level / 2)
        assert found[gap] ** 2 == pytest.approx(float(weights @ covariance @ weights))
    assert level == 1 or found[8] < found[9]
