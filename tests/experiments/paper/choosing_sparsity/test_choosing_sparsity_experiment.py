"""Choosing S: a small version of the whole experiment, and the private choice against its exact law."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sparsedp.arrays import Integers
from sparsedp.experiments.paper.choosing_sparsity.definition import EXPERIMENT
from sparsedp.experiments.paper.choosing_sparsity.error_curve import grid
from sparsedp.experiments.paper.choosing_sparsity.measuring import DECODERS, measure
from sparsedp.experiments.paper.choosing_sparsity.private_choice import choice_of
from sparsedp.experiments.paper.choosing_sparsity.scores import Shares, paper_scores
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.running import timed
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.selection.sparsity_choice import SelectionConstants, constants_for
from sparsedp.noise.source import SeededSource

SHARES = Shares(Fraction(1), Fraction(1, 10))
STAND_INS = dict.fromkeys(PAPER_DATA, "stand-in")


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, STAND_INS))


@pytest.fixture(scope="module")
def counts() -> Integers:
    """A few steps and a peak, 700 cells: not a power of two."""
    steps = np.repeat([3, 40, 12, 0, 90, 25, 7], 100)
    steps[333] = 2000
    return steps.astype(np.int64)


def test_the_experiment_runs_and_its_claims_are_judged(outcomes: Outcomes, tmp_path: Path) -> None:
    (picture,) = EXPERIMENT.draw(outcomes, tmp_path)
    assert picture.path.name == "choosing-sparsity.png"
    assert picture.path.stat().st_size > 10_000
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [12, 3]
    for claim in EXPERIMENT.claims:
        assert claim.judge(outcomes).measured.startswith("On stand-ins: ")
    assert EXPERIMENT.expect(outcomes) == []
    assert json.loads(json.dumps([one.found for one in outcomes], allow_nan=False)) == [one.found for one in outcomes]


def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(data="social_network", decoder="cosamp"):
        assert measure(outcome.settings) == outcome.found


def test_the_literal_choice_picks_all_coefficients_and_no_samples(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(part="literal"):
        assert (outcome.found["likeliest"], outcome.found["rows"]) == (outcome.found["cells"], 0)
        assert outcome.found["probability"] > 0.999


@pytest.mark.parametrize("decoder", DECODERS)
def test_picks_are_those_of_the_mechanism(counts: Integers, decoder: str) -> None:
    choice = choice_of(counts, "haar", decoder, SHARES)
    for seed in range(4):
        synopsis = Compressive(recovery=decoder, seed=1).measure(counts, epsilon=1, source=SeededSource(seed))
        assert synopsis.plan.recovery.sparsity == choice.pick(SeededSource(seed))


def test_picks_are_distributed_by_the_exact_law_and_not_by_a_neighbouring_one(counts: Integers) -> None:
    choice = choice_of(counts, "haar", "cosamp", SHARES)
    source = SeededSource(5)
    picked = np.array([choice.pick(source) for _ in range(1000)])
    observed = np.array([(picked == one).sum() for one in choice.candidates])
    assert _fits(observed, choice.law)
    assert not _fits(observed, np.roll(choice.law, 1))


def _fits(observed: Integers, law: np.ndarray) -> bool:
    """Pearson's χ² at the level 0.001; the candidates that are expected less than 8 times count as one."""
    expected = law * observed.sum()
    often = expected >= 8
    found = np.append(observed[often], observed[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    return bool(stats.chisquare(found, wanted).pvalue > 0.001)


def test_the_papers_scores_give_the_law_of_the_mechanism_on_its_candidates(counts: Integers) -> None:
    choice = choice_of(counts, "haar", "cosamp", SHARES)
    literal = paper_scores(counts, "haar", constants_for("cosamp"), SHARES.measuring).law(SHARES.choosing)
    among = literal[np.array(choice.candidates) - 1]
    np.testing.assert_allclose(among / among.sum(), choice.law, rtol=1e-5)


def test_the_papers_scores_by_hand() -> None:
    # Haar coefficients of (3, 1, 0, 0): 2, 2, √2, 0.
    constants = SelectionConstants(Fraction(1), Fraction(1), Fraction(2))
    scores = paper_scores(np.array([3, 1, 0, 0]), "haar", constants, Fraction(1, 2))
    root = 2**0.5
    expected = [2 + root + 4, root / root + 4, 0 + 6 * np.log2(4 / 3), 0]
    np.testing.assert_allclose(scores.bounds, expected, atol=1e-12)
    # The row sum of 4 cells is 2⁻¹ + 2^(−1/2) + 2⁻¹.
    np.testing.assert_allclose(scores.sensitivities, (1 + 2**-0.5) / np.sqrt([1, 2, 3, 4]), rtol=1e-6)


def test_the_grid_covers_the_candidates() -> None:
    points = grid(65_536, steps=2, finer=4)
    assert points[:5] == [1, 2, 3, 4, 6]
    assert points[-1] == 65_536 // 16
    assert points == sorted(set(points))
    assert all(later <= 1.5 * one or later - one == 1 for one, later in pairwise(points))
    assert points.index(16) - points.index(8) == 7  # 8 of them a doubling, but for those that coincide
    assert grid(11_342, steps=1, least=8) == [8, 16, 32, 64, 128, 256, 512, 708]
