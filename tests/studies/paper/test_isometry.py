"""Restricted isometry, sampled and searched."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sparsedp.bases import basis_from
from studies.paper.experiment import Effort, Outcome, Outcomes, Verdict
from studies.paper.isometry import EXPERIMENT, claims
from studies.paper.isometry.measuring import (
    ENSEMBLES,
    FAMILIES,
    columns_of,
    deviation,
    measure,
    neighbour_supports,
    path_supports,
    random_supports,
    searched_deviation,
)
from studies.paper.running import timed


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, {}))


@pytest.mark.slow
def test_the_experiment_runs_whole(outcomes: Outcomes, tmp_path: Path) -> None:
    (picture,) = EXPERIMENT.draw(outcomes, tmp_path)
    assert picture.path.stat().st_size > 10_000
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [21, 11]
    for claim in EXPERIMENT.claims:
        assert claim.judge(outcomes).measured


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(part="rows"):
        assert measure(outcome.settings) == outcome.found


@pytest.mark.parametrize("ensemble", list(ENSEMBLES))
@pytest.mark.parametrize("basis", ["identity", "haar", "cosine"])
def test_columns_are_those_of_the_product(ensemble: str, basis: str) -> None:
    sensing = ENSEMBLES[ensemble](64, 24, 5)
    product = sensing.materialize() @ basis_from(basis, 64).materialize() / np.sqrt(24)
    np.testing.assert_allclose(columns_of(ensemble, basis, 64, 24, 5).T, product, atol=1e-12)


def test_without_the_permutation_the_order_is_the_identity() -> None:
    plain, mixed = (ENSEMBLES[name](64, 8, 1).materialize() for name in ("unshuffled", "hadamard"))
    # A row is a Walsh function times the signs: without a permutation, every ratio of two rows is a Walsh function.
    ratio = plain[0] * plain[1]
    assert not np.array_equal(plain, mixed)
    walsh = [np.array([(-1) ** bin(row & cell).count("1") for cell in range(64)]) for row in range(64)]
    assert any(np.array_equal(ratio, one) for one in walsh)
    assert not any(np.array_equal(mixed[0] * mixed[1], one) for one in walsh)


def test_the_search_finds_what_going_through_all_supports_finds() -> None:
    columns = columns_of("bernoulli", "identity", 16, 12, 3)
    every = np.array(list(combinations(range(16), 3)))
    true = deviation(columns, every)
    found = searched_deviation(columns, every[::40])
    assert deviation(columns, every[::40]) <= found <= true + 1e-12
    assert found > 0.9 * true


def test_a_deviation_is_that_of_the_singular_values() -> None:
    columns = columns_of("hadamard", "haar", 32, 8, 1)
    support = np.array([[1, 5, 9]])
    values = np.linalg.svd(columns[support[0]].T, compute_uv=False)
    assert deviation(columns, support) == pytest.approx(np.abs(values**2 - 1).max())


@pytest.mark.parametrize("name", list(FAMILIES))
def test_supports_have_distinct_columns(name: str) -> None:
    supports = FAMILIES[name](128, 16, 20, np.random.default_rng(1))
    assert supports.shape == (20, 16)
    assert all(len(set(support)) == 16 for support in supports.tolist())
    assert supports.min() >= 0
    assert supports.max() < 128


def test_families_are_what_their_names_say() -> None:
    chance = np.random.default_rng(2)
    assert (np.diff(neighbour_supports(64, 6, 10, chance), axis=1) == 1).all()
    assert neighbour_supports(64, 6, 10, chance).min() >= 32
    for support in path_supports(64, 7, 10, chance).tolist():
        assert all(place // 2 in support for place in support)
    assert len({tuple(support) for support in random_supports(64, 6, 10, chance).tolist()}) == 10


def _like(outcomes: Outcomes, **power: float) -> Outcomes:
    """δ as a power of C, n and S, times a factor for the basis."""
    scaled = []
    for one in outcomes:
        # A δ that is exactly the same everywhere would have no interval.
        exponents = {name: power.get(name, -1e-6) for name in ("constant", "cells", "sparsity")}
        delta = 2.0 * np.prod([float(one.settings[name]) ** exponent for name, exponent in exponents.items()])
        delta *= power.get(one.settings["basis"], 1.0)
        scaled.append(
            Outcome(one.settings, {**one.found, "random": [delta] * 2, "searched": [delta, delta * 1.01]}, 0.0)
        )
    return Outcomes(scaled)


def _scattered(outcomes: Outcomes) -> Outcomes:
    """Every other δ ten times as large: no law can be read off."""
    return Outcomes(
        Outcome(
            one.settings, {**one.found, "searched": [delta * 10 ** (place % 2) for delta in one.found["searched"]]}, 0.0
        )
        for place, one in enumerate(outcomes)
    )


@pytest.mark.slow
def test_judges_can_fail(outcomes: Outcomes) -> None:
    good = _like(outcomes, constant=-0.5)
    found = claims.judge_bernoulli(good)
    assert found.in_words == "holds only as far as a search finds, with C ≥ 24"
    assert "takes C ≥ 24" in found.measured
    assert claims.judge_bernoulli(_like(outcomes, constant=-0.5, cells=0.5)).verdict is Verdict.DOES_NOT_HOLD
    rising = _like(outcomes, constant=0.1)
    assert claims.judge_bernoulli(rising).verdict is Verdict.DOES_NOT_HOLD
    assert "takes more than any C, as δ₂S does not fall" in claims.judge_bernoulli(rising).measured
    assert claims.judge_bernoulli(_scattered(good)).verdict is Verdict.UNDECIDED
    assert claims.judge_any_basis(good).in_words == "holds only as far as a search finds"
    assert claims.judge_any_basis(_like(outcomes, constant=-0.5, cosine=3.0)).verdict is Verdict.DOES_NOT_HOLD
    assert claims.judge_at_the_rows_in_use(good).verdict is Verdict.DOES_NOT_HOLD  # 24·S·log₂(n/S) rows: more than n
    assert claims.judge_at_the_rows_in_use(rising).verdict is Verdict.DOES_NOT_HOLD
    assert "C ≥ 5, about 2 times the rows" in claims.judge_at_the_rows_in_use(_like(outcomes, constant=-1.0)).only
    assert claims.judge_at_the_rows_in_use(_scattered(good)).verdict is Verdict.UNDECIDED
    assert claims.judge_at_the_rows_in_use(_like(outcomes, constant=-3.0)).only == claims.SEARCHED


@pytest.mark.slow
def test_the_constant_needed_is_read_off_the_law(outcomes: Outcomes) -> None:
    haar = _like(outcomes, constant=-0.5).where(part="rows", ensemble="bernoulli", basis="haar")
    assert claims.constant_needed(haar, "random") == pytest.approx((2 / claims.ENOUGH) ** 2, rel=1e-4)
    level = _like(outcomes, constant=0.01).where(part="rows", ensemble="bernoulli", basis="haar")
    assert claims.constant_needed(level) == np.inf


@pytest.mark.slow
def test_the_caption_says_what_was_found(outcomes: Outcomes, tmp_path: Path) -> None:
    made_up = Outcomes(
        Outcome(one.settings, {**one.found, "random": [0.3], "searched": [1.0]}, 0.0) for one in outcomes
    )
    (picture,) = EXPERIMENT.draw(made_up, tmp_path)
    assert "see 30 % to 30 % of what the search finds" in picture.caption
    assert "have 1.00 times the δ₂S" in picture.caption
