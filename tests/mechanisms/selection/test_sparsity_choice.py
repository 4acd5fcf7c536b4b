"""The choice of S: public candidates, exponents that no neighbour moves by more than ε/2, and sensible picks."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil, log2

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.bases import basis_from
from sparsedp.decoders.registry import DECODERS
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.mechanisms.selection.sparsity_choice import (
    FORMS,
    PublicTerms,
    SelectionConstants,
    SparsityChoice,
    choose_sparsity,
    constants_for,
    log2_ratio,
    rows_for,
    sparsity_candidates,
)
from sparsedp.mechanisms.selection.tail_scores import tail_scores
from sparsedp.mechanisms.terms import root_below
from sparsedp.noise.exponential import draw_index
from sparsedp.noise.source import SeededSource
from sparsedp.privacy.budget import Budget

Integers = npt.NDArray[np.int64]

CONSTANTS = SelectionConstants()
SELECT, MEASURE = Fraction(1, 10), Budget(epsilon="0.9")


def choose(counts: Integers, seed: int, **changes: object) -> SparsityChoice:
    settings: dict[str, object] = {
        "epsilon_select": SELECT,
        "measure": MEASURE,
        "distance": 1,
        "form": "scaled",
        "constants": CONSTANTS,
        "choose": partial(draw_index, source=SeededSource(seed)),
    }
    return choose_sparsity(counts, basis_from("haar", len(counts)), **{**settings, **changes})  # type: ignore[arg-type]


@given(st.integers(1, 2**31), st.integers(1, 2**31))
def test_the_rational_logarithm_is_below_the_true_one_and_near(a: int, b: int) -> None:
    numerator, denominator = max(a, b), min(a, b)
    assert float(log2_ratio(numerator, denominator)) == pytest.approx(log2(numerator / denominator), abs=1e-11)


def test_the_logarithm_of_powers_of_two_is_exact() -> None:
    assert [log2_ratio(2**i, 1) for i in range(32)] == list(range(32))
    assert log2_ratio(96, 3) == 5
    assert log2_ratio(7, 7) == 0


@pytest.mark.parametrize("constant", [Fraction(3, 4), Fraction(1), Fraction(2), Fraction(4)])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 15, 16, 31, 32, 48, 1000, 4096, 8760, 65536, 2**20, 2**24, 2**31])
def test_candidates_grow_in_sparsity_and_rows_and_stay_within_bounds(n: int, constant: Fraction) -> None:
    candidates = sparsity_candidates(n, constant)
    rows = [rows_for(n, sparsity, constant) for sparsity in candidates]
    assert candidates[0] == 1
    assert all(a < b for a, b in pairwise(candidates))
    assert all(a < b for a, b in pairwise(rows))
    assert rows[0] >= 1
    assert rows[-1] <= n
    assert candidates[-1] <= max(1, n // 16)
    assert len(candidates) <= 600
    assert all(b - a <= max(1, a // 32) for a, b in pairwise(candidates))
    if n >= 32 and constant <= 2:
        assert candidates[-1] >= n // 16 * 0.95
        assert rows == [ceil(float(constant) * s * log2(n / s) - 1e-6) for s in candidates]


def test_rows_for_a_sparsity_near_the_cells_are_enough_and_not_too_many() -> None:
    assert rows_for(64, 64, Fraction(1)) == 64
    assert rows_for(64, 1, Fraction(100)) == 64
    assert rows_for(1, 1, Fraction(1)) == 1


def test_candidates_do_not_depend_on_the_counts() -> None:
    rng = np.random.default_rng(0)
    n = 500
    inputs = [np.zeros(n, dtype=np.int64), rng.integers(0, 10, n), rng.integers(-(2**62), 2**62, n)]
    seen = {choose(counts, seed).candidates for seed, counts in enumerate(inputs)}
    assert seen == {sparsity_candidates(n, CONSTANTS.rows_constant)}


def exponent_moves(name: str, form: str, counts: Integers, distance: int, shrink: Fraction = Fraction(1)) -> Fraction:
    """The largest change of an exponent over neighbours that move one cell by `distance`, in units of ε/2.

    `shrink` makes the sensitivity wrong on purpose.
    """
    n = len(counts)
    basis = basis_from(name, n)
    candidates = tuple(range(1, n + 1))
    terms = PublicTerms(n, candidates, SELECT, MEASURE, distance, CONSTANTS)

    def exponents(cells: Integers) -> list[Fraction]:
        tails = tail_scores(basis, cells, candidates, distance=distance)
        return FORMS[form](replace(tails, sensitivity=tails.sensitivity * shrink), terms)

    here = exponents(counts)
    most = Fraction(0)
    for cell in range(n):
        for change in (-distance, distance):
            neighbour = counts.copy()
            neighbour[cell] += change
            most = max(most, *(abs(a - b) for a, b in zip(here, exponents(neighbour), strict=True)))
    return most / (SELECT / 2)


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("name", ["identity", "haar", "cosine", "db2", "sym4"])
@pytest.mark.parametrize("n", [1, 2, 5, 8, 13, 16])
def test_no_neighbour_moves_an_exponent_by_more_than_half_epsilon(name: str, form: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for counts in (rng.integers(0, 4, n), rng.integers(-(10**9), 10**9, n)):
        for distance in (1, 3):
            assert exponent_moves(name, form, counts, distance) <= 1


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("name", ["identity", "haar", "cosine", "db2", "sym4"])
def test_a_halved_sensitivity_is_caught(name: str, form: str) -> None:
    # A spike's coefficients all grow with it, random ones mostly stay in the tail of S = 1, where both forms agree.
    spike, spread_out = 1000 * np.eye(16, dtype=np.int64)[0], np.random.default_rng(1).integers(-1000, 1000, 16)
    assert max(exponent_moves(name, form, counts, 1, Fraction(1, 2)) for counts in (spike, spread_out)) > 1


@given(st.fractions(min_value=0, max_value=10**9, max_denominator=10**6))
def test_roots_are_rounded_down(number: Fraction) -> None:
    root = root_below(number)
    assert root**2 <= number < (root + Fraction(1, 2**47)) ** 2


def test_the_scaled_form_minimises_root_s_times_u() -> None:
    counts = np.random.default_rng(1).poisson(50, 1024) * (np.arange(1024) < 100)
    basis = basis_from("haar", 1024)
    candidates = sparsity_candidates(1024, CONSTANTS.rows_constant)
    terms = PublicTerms(1024, candidates, SELECT, MEASURE, 1, CONSTANTS)
    tails = tail_scores(basis, counts, candidates, distance=1)
    magnitudes = np.sort(np.abs(basis.analyze(counts.astype(np.float64))))[::-1]
    sparsities = np.array(candidates)
    tail = np.array([magnitudes[s:].sum() for s in candidates])
    noise = float(CONSTANTS.noise_weight) * sparsities * np.log2(1024 / sparsities) / 0.9
    u = float(CONSTANTS.tail_weight) * tail / np.sqrt(sparsities) + noise
    own = float(CONSTANTS.tail_weight) * float(tails.sensitivity) / np.sqrt(sparsities)
    for form, divisor in (("scaled", own), ("plain", own[0])):
        exact = [float(exponent) for exponent in FORMS[form](tails, terms)]
        assert np.allclose(exact, float(SELECT) * u / (2 * divisor), rtol=1e-9)


def test_under_rho_the_noise_term_is_that_of_gaussian_noise() -> None:
    """C₄·√(S·log₂(n/S))·c/√(2ρ), so that half the rows' noise is half of its square; the private part is the same."""
    candidates, rho = (1, 2, 8, 64), Fraction(3, 7)
    gaussian = PublicTerms(1024, candidates, SELECT, Budget(rho=rho), 3, CONSTANTS)
    for sparsity in candidates:
        expected = float(CONSTANTS.noise_weight) * 3 * np.sqrt(sparsity * log2(1024 / sparsity) / (2 * float(rho)))
        assert float(gaussian.noise(sparsity)) == pytest.approx(expected, rel=1e-9)
    tails = tail_scores(basis_from("haar", 1024), np.arange(1024), candidates, distance=3)
    laplace = replace(gaussian, measure=MEASURE)
    for form in FORMS:
        public = [FORMS[form](replace(tails, scores=(0, 0, 0, 0)), terms) for terms in (gaussian, laplace)]
        private = [
            [exponent - part for exponent, part in zip(FORMS[form](tails, terms), parts, strict=True)]
            for terms, parts in zip((gaussian, laplace), public, strict=True)
        ]
        assert private[0] == private[1]
        assert public[0] != public[1]


def test_every_decoder_has_constants_for_both_noises() -> None:
    for decoder in DECODERS:
        assert constants_for(decoder, gaussian=True).rows_constant == 4
        assert constants_for(decoder).rows_constant <= 2


def test_choices_follow_the_signal() -> None:
    # Few large steps against many: with plenty of counts the second needs the larger S.
    n, total = 4096, 10**5
    few = np.repeat(np.random.default_rng(0).integers(0, 2 * total // n, 4), n // 4)
    many = np.repeat(np.random.default_rng(1).integers(0, 20 * total // n, 64), n // 64)
    for form in FORMS:
        picked = [[choose(counts, seed, form=form).sparsity for seed in range(15)] for counts in (few, many)]
        assert np.median(picked[0]) < np.median(picked[1])


def test_the_result_keeps_nothing_private_but_the_choice() -> None:
    counts = np.random.default_rng(2).integers(0, 100, 512)
    chosen = choose(counts, seed=5)
    assert {field.name for field in fields(chosen)} == {"sparsity", "rows", "candidates"}
    assert chosen.sparsity in chosen.candidates
    assert chosen.rows == rows_for(512, chosen.sparsity, CONSTANTS.rows_constant)
    tails = tail_scores(basis_from("haar", 512), counts, [1, 2], distance=1)
    assert str(tails.scores[0]) not in repr(tails)


def test_tiny_inputs_have_one_candidate() -> None:
    for n in (1, 2, 3, 15):
        assert choose(np.ones(n, dtype=np.int64), seed=n).sparsity == 1


def test_bad_settings_are_refused() -> None:
    counts = np.ones(64, dtype=np.int64)
    with pytest.raises(UnknownName, match="scaled"):
        choose(counts, 0, form="scalled")
    with pytest.raises(InvalidInput, match="epsilon_select"):
        choose(counts, 0, epsilon_select=Fraction(0))
    with pytest.raises(InvalidInput, match="distance"):
        choose(counts, 0, distance=0)
    with pytest.raises(InvalidInput, match="noise_weight"):
        SelectionConstants(noise_weight=Fraction(0))
