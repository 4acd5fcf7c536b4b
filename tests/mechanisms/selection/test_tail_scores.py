"""Tail scores: against slow oracles, their proven errors, and their sensitivity on every unit neighbour."""

from __future__ import annotations

import threading
from fractions import Fraction
from math import isqrt

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import pywt
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.bases import basis_from
from sparsedp.bases.base import Basis
from sparsedp.bases.wavelet import Wavelet, orthogonal_wavelets
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.selection._proven_analyses import (
    ERROR_SHARE,
    Roots,
    absolute_norm,
    compounded_error,
    cosine_analysis,
    cosine_coefficients,
    cosine_relative_error,
    filter_bank_relative_error,
    filter_taps,
    fourier,
    level_norm,
    row_sum_rounding,
    wavelet_analysis,
)
from sparsedp.mechanisms.selection.tail_scores import LargestFirst, haar_magnitudes, split_of_largest, tail_scores

Integers = npt.NDArray[np.int64]

BASES = ["identity", "haar", "cosine", "db2", "sym4"]
LENGTHS = [*range(1, 18), 32]
EXTREMES = [-(2**63), 2**63 - 1, 0, 1, -1, 2**40, -(2**33), 7]


def signals(n: int) -> list[Integers]:
    """Small, large and extreme counts: sparse, dense, and beyond every cap."""
    rng = np.random.default_rng(n)
    return [
        rng.integers(0, 5, n) * rng.integers(0, 2, n),
        rng.integers(-(10**6), 10**6, n),
        rng.choice(np.array(EXTREMES, dtype=np.int64), n),
    ]


def unit_neighbours(counts: Integers) -> list[Integers]:
    """All vectors one unit away in one cell, both ways, where 64 bits hold them."""
    found = []
    for cell in range(len(counts)):
        for change in (-1, 1):
            if -(2**63) <= int(counts[cell]) + change < 2**63:
                neighbour = counts.copy()
                neighbour[cell] += change
                found.append(neighbour)
    return found


def largest_move(basis: Basis, counts: Integers, candidates: range) -> tuple[Fraction, Fraction]:
    """The largest change of any score over all unit neighbours, and the sensitivity that is promised."""
    here = tail_scores(basis, counts, candidates, distance=1)
    most = Fraction(0)
    for neighbour in unit_neighbours(counts):
        there = tail_scores(basis, neighbour, candidates, distance=1)
        assert (there.step, there.sensitivity) == (here.step, here.sensitivity)
        most = max(most, *(abs(a - b) * here.step for a, b in zip(here.scores, there.scores, strict=True)))
    return most, here.sensitivity


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("n", LENGTHS)
def test_no_unit_neighbour_moves_a_score_by_more_than_the_sensitivity(name: str, n: int) -> None:
    basis = basis_from(name, n)
    for counts in signals(n):
        most, sensitivity = largest_move(basis, counts, range(1, n + 1))
        assert most <= sensitivity


@pytest.mark.parametrize("name", BASES)
def test_the_sensitivity_is_nearly_reached(name: str) -> None:
    # So the check above can fail: a spike's coefficients all grow with it, and random ones mostly stay in the tail.
    basis = basis_from(name, 16)
    moves = []
    for counts in (1000 * np.eye(16, dtype=np.int64)[0], np.random.default_rng(1).integers(-1000, 1000, 16)):
        most, sensitivity = largest_move(basis, counts, range(1, 3))
        moves.append(most / sensitivity)
    assert max(moves) > Fraction(3, 4)


@pytest.mark.parametrize("name", BASES)
def test_sensitivity_grows_with_the_distance(name: str) -> None:
    basis = basis_from(name, 12)
    counts = np.arange(12)
    one, three = (tail_scores(basis, counts, [1, 2], distance=d) for d in (1, 3))
    assert one.scores == three.scores
    row_sum = (three.sensitivity - one.sensitivity) / 2
    assert basis.row_sum_bound <= row_sum <= basis.row_sum_bound * (1 + Fraction(1, 10**9))
    assert one.sensitivity >= basis.row_sum_bound
    assert one.sensitivity <= basis.row_sum_bound * Fraction(104, 100)


def exact_tails(matrix: mpmath.matrix, counts: Integers) -> list[mpmath.mpf]:
    """Tails for S = 1 … n from the basis as a matrix of many digits."""
    vector = mpmath.matrix([int(count) for count in counts])
    magnitudes = sorted((abs(value) for value in matrix * vector), reverse=True)
    return [mpmath.fsum(magnitudes[sparsity:]) for sparsity in range(1, len(counts) + 1)]


def cosine_matrix(n: int) -> mpmath.matrix:
    matrix = mpmath.matrix(n, n)
    for k in range(n):
        scale = mpmath.sqrt(mpmath.mpf(1 if k == 0 else 2) / n)
        for j in range(n):
            matrix[k, j] = scale * mpmath.cospi(mpmath.mpf((2 * j + 1) * k) / (2 * n))
    return matrix


def haar_matrix(n: int) -> mpmath.matrix:
    levels = (n - 1).bit_length()
    rows = [[mpmath.mpf(2) ** (mpmath.mpf(-levels) / 2)] * n]
    for level in range(1, levels + 1):
        for start in range(0, 2**levels, 2**level):
            scale = mpmath.mpf(2) ** (mpmath.mpf(-level) / 2)
            middle, stop = start + 2 ** (level - 1), start + 2**level
            rows.append([scale if start <= j < middle else -scale if middle <= j < stop else 0 for j in range(n)])
    return mpmath.matrix(rows)


@pytest.mark.parametrize("name", ["identity", "haar", "cosine"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 16])
def test_scores_are_the_tails_to_within_the_widening(name: str, n: int) -> None:
    basis = basis_from(name, n)
    with mpmath.workprec(300):
        matrix = {"identity": mpmath.eye, "haar": haar_matrix, "cosine": cosine_matrix}[name](n)
        for counts in signals(n)[:2]:
            tails = tail_scores(basis, counts, range(1, n + 1), distance=1)
            widening = tails.sensitivity - basis.row_sum_bound
            if name == "identity":
                assert widening == 0
            for score, exact in zip(tails.scores, exact_tails(matrix, counts), strict=True):
                value = mpmath.mpf(score) * mpmath.mpf(tails.step.numerator) / tails.step.denominator
                assert abs(value - exact) <= mpmath.mpf(widening.numerator) / widening.denominator
                if name == "haar":
                    assert 0 <= exact - value <= mpmath.mpf(2) ** -20


@given(
    st.lists(st.integers(0, 2**61), max_size=12),
    st.lists(st.integers(0, 2**61), max_size=12),
)
def test_the_largest_of_integers_and_multiples_of_root_two(wholes: list[int], roots: list[int]) -> None:
    first, second = (np.array(sorted(part, reverse=True), dtype=np.int64) for part in (wholes, roots))
    # a < b√2 exactly as a² < 2b²: a slow merge by squares is the oracle.
    merged = sorted([(a * a, 0) for a in wholes] + [(2 * b * b, 1) for b in roots], reverse=True)
    for count in range(len(merged) + 1):
        taken = split_of_largest(first, second, count)
        squares = [int(a) ** 2 for a in first[:taken]] + [2 * int(b) ** 2 for b in second[: count - taken]]
        assert sorted(squares, reverse=True) == [square for square, _ in merged[:count]]


def test_a_comparison_that_floats_get_wrong_is_exact() -> None:
    # Neighbouring convergents of √2: equal to 16 digits.
    a, b = 1, 1
    while b < 2**58:
        a, b = a + 2 * b, a + b
    assert np.isclose(float(a), np.sqrt(2.0) * b, rtol=1e-15)
    assert (a * a > 2 * b * b) == (split_of_largest(np.array([a]), np.array([b]), 1) == 1)
    assert split_of_largest(np.array([isqrt(2 * b * b)]), np.array([b]), 1) == 0
    assert split_of_largest(np.array([isqrt(2 * b * b) + 1]), np.array([b]), 1) == 1


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=40), st.integers(1, 45))
def test_sums_of_the_rest_do_not_overflow(values: list[int], most: int) -> None:
    largest = LargestFirst(np.array(values, dtype=np.int64), most)
    falling = sorted(values, reverse=True)
    for count in range(min(most, len(values)) + 1):
        assert largest.sum_of_rest(count) == sum(falling[count:])


@pytest.mark.parametrize("levels", [0, 1, 2, 5, 10])
def test_haar_magnitudes_at_the_cap_stay_within_64_bits(levels: int) -> None:
    cap = 2 ** (61 - levels)
    for counts in (np.full(2**levels, cap), np.tile([cap, -cap], 2**levels)[: 2**levels]):
        whole, root = haar_magnitudes(counts.astype(np.int64), levels)
        # Parseval in exact integers: Σ A² + 2 Σ B² = 2^(2⌈L/2⌉) Σ D².
        energy = sum(int(a) ** 2 for a in whole) + 2 * sum(int(b) ** 2 for b in root)
        assert energy == 2 ** (2 * ((levels + 1) // 2)) * 2**levels * cap**2
        assert all(int(value) >= 0 for value in (*whole, *root))


@pytest.mark.parametrize("order", [1, 2, 3, 12, 64, 1000, 4 * 97])
def test_roots_are_within_five_roundoffs(order: int) -> None:
    real, imaginary = Roots(order).powers(np.arange(order))
    with mpmath.workprec(200):
        for j in range(order):
            exact = mpmath.expjpi(-mpmath.mpf(2 * j) / order)
            assert abs(mpmath.mpc(real[j], imaginary[j]) - exact) <= 5 * mpmath.mpf(2) ** -53


@pytest.mark.parametrize("stages", [0, 1, 2, 3, 6])
def test_the_transform_is_within_its_proven_error(stages: int) -> None:
    size = 2**stages
    rng = np.random.default_rng(stages)
    real, imaginary = rng.normal(size=size), rng.normal(size=size)
    got = fourier(real.copy(), imaginary.copy())
    with mpmath.workprec(200):
        error = norm = mpmath.mpf(0)
        for k in range(size):
            exact = mpmath.fsum(
                mpmath.mpc(real[j], imaginary[j]) * mpmath.expjpi(-mpmath.mpf(2 * j * k) / size) for j in range(size)
            )
            error += abs(mpmath.mpc(got[0][k], got[1][k]) - exact) ** 2
            norm += abs(exact) ** 2
        bound = compounded_error(stages)
        assert mpmath.sqrt(error) <= mpmath.sqrt(norm) * bound.numerator / bound.denominator


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 16, 31, 64])
def test_cosine_coefficients_are_within_their_proven_error(n: int) -> None:
    basis = basis_from("cosine", n)
    cap = cosine_analysis(basis).cap
    rng = np.random.default_rng(n)
    bound = cosine_relative_error(n)
    with mpmath.workprec(300):
        matrix = cosine_matrix(n)
        for counts in (rng.integers(-cap, cap, n), np.full(n, cap), cap * (-1) ** np.arange(n)):
            exact = matrix * mpmath.matrix([int(count) for count in counts])
            got = cosine_coefficients(counts.astype(np.float64))
            error = mpmath.norm(exact - mpmath.matrix([mpmath.mpf(value) for value in got]))
            assert error <= mpmath.norm(exact) * bound.numerator / bound.denominator


@pytest.mark.parametrize("n", [1, 2, 17, 8760, 2**16, 2**20, 2**20 + 1, 2**24])
def test_the_cosine_widening_is_a_few_percent(n: int) -> None:
    analysis = cosine_analysis(basis_from("cosine", n))
    assert analysis.tail_error(analysis.cap) <= ERROR_SHARE * analysis.row_sum_bound
    assert analysis.tail_error(4 * analysis.cap) > ERROR_SHARE * analysis.row_sum_bound
    assert analysis.size * Fraction(2) ** -analysis.grid_bits <= analysis.row_sum_bound / 100
    assert analysis.cap >= 2**14


def exact_filter_bank(basis: Wavelet, counts: Integers) -> list[Fraction]:
    """The filter bank from its definition, in rationals: detail and smooth are Σⱼ taps[j]·cells[2i + F/2 − j]."""
    low, high = filter_taps(basis.name)
    smooth = [Fraction(int(count)) for count in counts] + [Fraction(0)] * (basis.size - basis.n)
    details: list[Fraction] = []
    for _ in range(basis.levels):
        size, shift = len(smooth), len(low) // 2
        at = [[smooth[(2 * i + shift - j) % size] for j in range(len(low))] for i in range(size // 2)]
        details = [sum(map(Fraction.__mul__, high, cells), Fraction(0)) for cells in at] + details
        smooth = [sum(map(Fraction.__mul__, low, cells), Fraction(0)) for cells in at]
    return smooth + details


@pytest.mark.parametrize(("name", "n"), [("db2", 6), ("db2", 31), ("db2", 64), ("sym4", 16), ("sym4", 57), ("db5", 40)])
def test_wavelet_coefficients_are_within_their_proven_error(name: str, n: int) -> None:
    basis = Wavelet(name, n)
    assert basis.levels > 0
    analysis = wavelet_analysis(basis)
    cap = analysis.cap
    rng = np.random.default_rng(n)
    for counts in (rng.integers(-cap, cap, n), np.full(n, cap), cap * (-1) ** np.arange(n)):
        exact = exact_filter_bank(basis, counts)
        got = analysis.compute(counts.astype(np.float64))
        squares = sum(((Fraction(a) - b) ** 2 for a, b in zip(got.tolist(), exact, strict=True)), Fraction(0))
        energy = sum(int(count) ** 2 for count in counts)
        assert squares <= analysis.relative_error**2 * energy
        assert np.allclose(got, basis.analyze(counts.astype(np.float64)), rtol=1e-9, atol=1e-9 * cap)


@pytest.mark.parametrize(("name", "n"), [("db2", 31), ("sym4", 57), ("coif2", 50)])
def test_the_row_sum_covers_every_exact_column(name: str, n: int) -> None:
    basis = Wavelet(name, n)
    columns = [sum(map(abs, exact_filter_bank(basis, unit)), Fraction(0)) for unit in np.eye(n, dtype=np.int64)]
    row_sum = wavelet_analysis(basis).row_sum_bound
    assert max(columns) <= row_sum <= max(columns) * Fraction(11, 10)


def test_every_wavelet_has_small_constants() -> None:
    for name in orthogonal_wavelets():
        taps = filter_taps(name)
        levels = int(np.log2(2**31 / (len(taps[0]) - 1)))
        assert abs(level_norm(taps) - 1) < Fraction(1, 10**8)
        assert 1 <= absolute_norm(taps) < 6
        assert filter_bank_relative_error(taps, levels) < Fraction(1, 10**12)
        assert 0 < row_sum_rounding(taps, levels) < Fraction(1, 10**4)
        # The row sums are computed from the synthesis filters: the same floats, backwards.
        wavelet = pywt.Wavelet(name)
        assert (wavelet.dec_lo, wavelet.dec_hi) == (wavelet.rec_lo[::-1], wavelet.rec_hi[::-1])


@pytest.mark.parametrize("name", BASES)
def test_scores_match_the_basis_in_floats(name: str) -> None:
    for n in (100, 256, 1000):
        counts = np.random.default_rng(n).integers(0, 1000, n)
        basis = basis_from(name, n)
        magnitudes = np.sort(np.abs(basis.analyze(counts.astype(np.float64))))[::-1]
        candidates = [1, 2, 3, 10, 50, n]
        tails = tail_scores(basis, counts, candidates, distance=1)
        floats = [magnitudes[sparsity:].sum() for sparsity in candidates]
        assert np.allclose([float(score * tails.step) for score in tails.scores], floats, rtol=1e-9, atol=1e-6)


def test_a_wrong_length_and_a_sparsity_beyond_the_cells_are_refused() -> None:
    basis = basis_from("haar", 8)
    with pytest.raises(InvalidInput, match="counts"):
        tail_scores(basis, np.zeros(9, dtype=np.int64), [1], distance=1)
    with pytest.raises(InvalidInput, match="sparsity"):
        tail_scores(basis, np.zeros(8, dtype=np.int64), [9], distance=1)
    with pytest.raises(InvalidInput, match="distance"):
        tail_scores(basis, np.zeros(8, dtype=np.int64), [1], distance=0)


def test_roots_do_not_depend_on_what_other_threads_do_to_mpmath() -> None:
    alone = Roots(1000)
    done = threading.Event()

    def meddle() -> None:
        while not done.is_set():
            with mpmath.workdps(3):
                mpmath.cospi(0.1)

    meddler = threading.Thread(target=meddle)
    meddler.start()
    try:
        beside = [Roots(1000) for _ in range(10)]
    finally:
        done.set()
        meddler.join()
    exponents = np.arange(1000)
    for roots in beside:
        np.testing.assert_array_equal(roots.powers(exponents), alone.powers(exponents))
