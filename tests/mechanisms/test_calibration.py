"""For every mechanism: the noise that was drawn, and the matrix it was drawn for, give exactly the ε that is stated."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from watching_source import WatchingSource

import sparsedp as sdp
from every_mechanism import OF_ONE_NOISE, fitted
from goodness_of_fit import uniform_if_true
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.mechanisms import compressive
from sparsedp.mechanisms.base import Mechanism
from sparsedp.mechanisms.selection.sparsity_choice import choose_sparsity
from sparsedp.noise.source import SeededSource
from sparsedp.privacy.guarantee import Expense

STEP = Fraction(1, 10**12)
EVERY_MECHANISM = pytest.mark.parametrize("mechanism", OF_ONE_NOISE.values(), ids=OF_ONE_NOISE.keys())
SIZES = (1, 2, 3, 7, 64, 100, 257)


def measured_epsilon(synopsis: sdp.Synopsis) -> Fraction:
    """Δ₁/s from the realised Φ, column by column in Python's integers, and the recorded scale of the noise."""
    matrix = synopsis.sensing.materialize()
    column = max(sum(abs(entry) for entry in column) for column in matrix.T.tolist())
    return Fraction(synopsis.guarantee.neighbours.distance * column) / synopsis.noise_scale


def is_calibrated(synopsis: sdp.Synopsis) -> bool:
    """Whether the measurement's ε, plus what choosing cost, is what the synopsis says was spent."""
    *choosing, measuring = synopsis.guarantee.expenses
    chosen = sum((expense.budget.epsilon or Fraction(0) for expense in choosing), Fraction(0))
    exact = measured_epsilon(synopsis) == measuring.budget.epsilon
    return exact and chosen + measured_epsilon(synopsis) == synopsis.spent.epsilon


@pytest.mark.parametrize("cells", SIZES)
@EVERY_MECHANISM
def test_the_stated_epsilon_is_the_real_one(mechanism: Mechanism, cells: int) -> None:
    epsilon, mechanism = Fraction(3, 7), fitted(mechanism, cells)
    synopsis = mechanism.measure(np.arange(cells), epsilon=epsilon, contribution=4, neighbours="replace_one")
    assert synopsis.spent == sdp.Budget(epsilon=epsilon)
    assert synopsis.guarantee.neighbours.distance == 8
    assert is_calibrated(synopsis)
    assert synopsis.recover().spent == sdp.Budget(epsilon=epsilon)


@EVERY_MECHANISM
def test_one_step_off_fails(mechanism: Mechanism) -> None:
    synopsis = mechanism.measure(np.arange(64), epsilon=1)
    assert is_calibrated(synopsis)
    for scale in (synopsis.noise_scale + STEP, synopsis.noise_scale - STEP):
        assert not is_calibrated(dataclasses.replace(synopsis, law=DiscreteLaplaceLaw(scale)))
    *choosing, measuring = synopsis.guarantee.expenses
    assert measuring.budget.epsilon is not None
    off = Expense("measure", sdp.Budget(epsilon=measuring.budget.epsilon + STEP))
    guarantee = dataclasses.replace(synopsis.guarantee, expenses=(*choosing, off))
    assert not is_calibrated(dataclasses.replace(synopsis, guarantee=guarantee))


@EVERY_MECHANISM
def test_the_noise_on_the_integers_has_the_recorded_scale(mechanism: Mechanism) -> None:
    """Accepts the recorded scale, rejects it 25 % off either way, on what the mechanism itself put out."""
    source, jitter = SeededSource(20), np.random.default_rng(21)
    uniforms: dict[Fraction, list[float]] = {Fraction(1): [], Fraction(5, 4): [], Fraction(3, 4): []}
    while len(uniforms[Fraction(1)]) < 3000:
        synopsis = mechanism.measure(np.zeros(128, dtype=np.int64), epsilon=1, source=source)
        for factor, collected in uniforms.items():
            law = DiscreteLaplaceLaw(synopsis.noise_scale * factor)
            collected += uniform_if_true(synopsis.values, law, jitter)
    for factor, collected in uniforms.items():
        p_value = stats.chisquare(np.histogram(collected, bins=10, range=(0, 1))[0]).pvalue
        assert (p_value > 1e-3) == (factor == 1)


def test_the_share_that_is_stated_is_the_share_that_selects(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}
    real = choose_sparsity

    def watched(*arguments: object, **named: object) -> object:
        seen.update(named)
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(compressive, "choose_sparsity", watched)
    synopsis = sdp.Compressive(selection_share="0.25").measure(np.arange(128), epsilon="0.8")
    assert seen["epsilon_select"] == synopsis.guarantee.expenses[0].budget.epsilon == Fraction(1, 5)
    assert seen["measure"] == synopsis.guarantee.expenses[1].budget == sdp.Budget(epsilon="0.6")


@EVERY_MECHANISM
def test_the_budget_is_debited_before_any_noise_is_drawn(mechanism: Mechanism) -> None:
    ledger = sdp.Ledger(epsilon=1)
    source = WatchingSource(ledger)
    mechanism.measure(np.arange(64), epsilon="0.5", ledger=ledger, source=source)
    assert source.spent
    assert all(spent == sdp.Budget(epsilon="0.5") for spent in source.spent)
    with pytest.raises(sdp.BudgetExceeded):
        mechanism.measure(np.arange(64), epsilon="0.6", ledger=ledger, source=source)
    assert ledger.spent == sdp.Budget(epsilon="0.5")


def test_opendp_draws_at_least_the_scale_that_is_needed() -> None:
    synopsis = sdp.Laplace().measure(np.zeros(4000, dtype=np.int64), epsilon="0.3", sampler="opendp")
    assert synopsis.noise_scale >= Fraction(10, 3)
    assert synopsis.noise_scale == Fraction(float(synopsis.noise_scale))
    assert isinstance(synopsis.law, DiscreteLaplaceLaw)
    assert np.std(synopsis.values) == pytest.approx(np.sqrt(synopsis.law.variance), rel=0.15)
