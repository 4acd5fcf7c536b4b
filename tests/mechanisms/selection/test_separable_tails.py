"""Tail scores over tables: the sensitivity holds for every unit neighbour, and the scores are the tails."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from sparsedp.arrays import Ints
from sparsedp.axes import Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.bases import basis_from
from sparsedp.bases.separable import Separable, basis_for
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.selection._proven_analyses import ERROR_SHARE, TAP, separable_analysis
from sparsedp.mechanisms.selection.tail_scores import tail_scores, tails_in

EXTREMES = np.array([-(2**63), 2**63 - 1, 0, 1, -1, 2**40, -(2**33), 7], dtype=np.int64)


def basis_over(*lengths: int) -> Separable:
    """Haar along every axis but those of negative length, which are categories."""
    axes = [
        Categories(f"c{place}", range(-length)) if length < 0 else Integers(f"w{place}", 0, length - 1)
        for place, length in enumerate(lengths)
    ]
    basis = basis_for(Domain(axes), "haar")
    assert isinstance(basis, Separable)
    return basis


SHAPES = [(1, 1), (2, 3), (4, 4), (-3, 5), (3, -2, 2), (1, 8), (-2, -2)]


def tables(n: int) -> list[Ints]:
    rng = np.random.default_rng(n)
    return [rng.integers(0, 5, n), rng.integers(-(10**6), 10**6, n), rng.choice(EXTREMES, n)]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_unit_neighbour_moves_a_score_by_more_than_the_sensitivity(shape: tuple[int, ...]) -> None:
    basis = basis_over(*shape)
    candidates = range(1, basis.n + 1)
    for counts in tables(basis.n):
        here = tail_scores(basis, counts, candidates, distance=1)
        for cell, change in product(range(basis.n), (-1, 1)):
            if not -(2**63) <= int(counts[cell]) + change < 2**63:
                continue
            neighbour = counts.copy()
            neighbour[cell] += change
            there = tail_scores(basis, neighbour, candidates, distance=1)
            assert (there.step, there.sensitivity) == (here.step, here.sensitivity)
            for one, other in zip(here.scores, there.scores, strict=True):
                assert abs(one - other) * here.step <= here.sensitivity


@pytest.mark.parametrize("shape", SHAPES)
def test_the_sensitivity_is_nearly_the_row_sum(shape: tuple[int, ...]) -> None:
    """One person in an empty table reaches it: nothing is charged that is not needed, but for the margin."""
    basis = basis_over(*shape)
    scores = tail_scores(basis, np.zeros(basis.n, dtype=np.int64), [1], distance=3)
    assert 3 * basis.row_sum_bound < scores.sensitivity < 3 * basis.row_sum_bound * (1 + 2 * ERROR_SHARE)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_scores_are_the_tails(shape: tuple[int, ...]) -> None:
    basis = basis_over(*shape)
    for counts in tables(basis.n)[:2]:
        magnitudes = np.sort(np.abs(basis.analyze(counts.astype(np.float64))))[::-1]
        candidates = range(1, basis.n + 1)
        found = tail_scores(basis, counts, candidates, distance=1)
        expected = [magnitudes[sparsity:].sum() for sparsity in candidates]
        rounding = float(basis.size * found.step / 2)
        np.testing.assert_allclose([float(s * found.step) for s in found.scores], expected, rtol=1e-9, atol=rounding)


def test_the_proven_error_is_above_the_true_one() -> None:
    """Against 200-bit arithmetic with the taps that the floats are, on counts as large as the cap."""
    basis = basis_over(16, -2, 8)
    analysis = separable_analysis(basis)
    counts = np.random.default_rng(5).integers(-analysis.cap, analysis.cap, basis.n).astype(np.float64)
    with mpmath.workprec(200):
        table = np.array([mpmath.mpf(int(count)) for count in counts], dtype=object).reshape(16, 2, 8)
        for axis in (0, 2):
            rows = np.moveaxis(table, axis, 0)
            exact = np.empty(rows.shape, dtype=object)
            while len(rows) > 1:
                half = len(rows) // 2
                exact[half : 2 * half] = (rows[0::2] - rows[1::2]) * mpmath.mpf(TAP)
                rows = (rows[0::2] + rows[1::2]) * mpmath.mpf(TAP)
            exact[:1] = rows
            table = np.moveaxis(exact, 0, axis)
        errors = [
            mpmath.mpf(float(one)) - other for one, other in zip(analysis.compute(counts), table.ravel(), strict=True)
        ]
        error = mpmath.sqrt(sum(one**2 for one in errors))
        assert 0 < error <= mpmath.mpf(float(analysis.relative_error)) * mpmath.mpf(float(np.linalg.norm(counts)))
    assert analysis.relative_error < Fraction(1, 10**14)


def test_the_row_sums_of_the_taps_are_below_the_bound() -> None:
    basis = basis_over(8, 4)
    analysis = separable_analysis(basis)
    columns = np.stack([analysis.compute(unit) for unit in np.eye(basis.n)])
    largest = max(sum(Fraction(float(abs(entry))) for entry in column) for column in columns)
    assert largest <= analysis.row_sum_bound * (1 + Fraction(1, 10**15))
    assert analysis.row_sum_bound < basis.row_sum_bound * (1 + Fraction(1, 10**14))


def test_other_bases_over_tables_have_no_proof() -> None:
    basis = Separable([basis_from("cosine", 4), basis_from("haar", 4)])
    with pytest.raises(
        InvalidInput, match=r"'cosine × haar', in which no .*; give sparsity= as a number, .* or basis=\"haar\""
    ):
        tails_in(basis)
