"""Under ρ, and under (ε, δ): the noise that was drawn, and the matrix it was drawn for, give exactly what is stated."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from watching_source import WatchingSource

import sparsedp as sdp
from every_mechanism import OF_ONE_NOISE, fitted
from goodness_of_fit import uniform_if_true
from sparsedp.laws import DiscreteGaussianLaw
from sparsedp.mechanisms import compressive
from sparsedp.mechanisms.base import Mechanism
from sparsedp.mechanisms.selection.sparsity_choice import GAUSSIAN_CONSTANTS, choose_sparsity
from sparsedp.noise.source import SeededSource
from sparsedp.privacy.conversion import delta_of, rho_for
from sparsedp.privacy.guarantee import Expense

STEP = Fraction(1, 10**12)
EVERY_MECHANISM = pytest.mark.parametrize("mechanism", OF_ONE_NOISE.values(), ids=OF_ONE_NOISE.keys())
BOTH_KINDS = (sdp.Budget(epsilon=1), sdp.Budget(rho=1))
SIZES = (1, 2, 3, 7, 64, 100, 257)


def gaussian_law(synopsis: sdp.Synopsis) -> DiscreteGaussianLaw:
    assert isinstance(synopsis.law, DiscreteGaussianLaw)
    return synopsis.law


def measured_rho(synopsis: sdp.Synopsis) -> Fraction:
    """Δ₂²/(2σ²) from the realised Φ, column by column in Python's integers, and the recorded σ² of the noise."""
    matrix = synopsis.sensing.materialize()
    column = max(sum(entry**2 for entry in column) for column in matrix.T.tolist())
    distance = synopsis.guarantee.neighbours.distance
    return Fraction(distance**2 * column) / (2 * gaussian_law(synopsis).variance_parameter)


def is_calibrated(synopsis: sdp.Synopsis, rho: Fraction) -> bool:
    """Whether the measurement's ρ, plus what choosing cost, is the ρ that was to be spent."""
    *choosing, measuring = synopsis.guarantee.expenses
    chosen = sum((expense.budget.rho or Fraction(0) for expense in choosing), Fraction(0))
    exact = measured_rho(synopsis) == measuring.budget.rho
    return exact and chosen + measured_rho(synopsis) == rho == synopsis.guarantee.rho


@pytest.mark.parametrize("cells", SIZES)
@EVERY_MECHANISM
def test_the_stated_rho_is_the_real_one(mechanism: Mechanism, cells: int) -> None:
    rho = Fraction(3, 7)
    synopsis = fitted(mechanism, cells).measure(np.arange(cells), rho=rho, contribution=4, neighbours="replace_one")
    assert synopsis.guarantee.neighbours.distance == 8
    assert is_calibrated(synopsis, rho)
    assert synopsis.spent == synopsis.recover().spent == sdp.Budget(rho=rho)
    assert synopsis.private


@EVERY_MECHANISM
def test_epsilon_and_delta_spend_the_rho_that_gives_them(mechanism: Mechanism) -> None:
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**7)
    synopsis = mechanism.measure(np.arange(64), epsilon=epsilon, delta="1e-7")
    rho = rho_for(epsilon, delta)
    assert is_calibrated(synopsis, rho)
    assert delta_of(rho, epsilon) <= delta < delta_of(rho * Fraction(101, 100), epsilon)
    release = synopsis.recover()
    assert synopsis.spent == release.spent == sdp.Budget(epsilon=epsilon, delta=delta)
    for part in ("ε = 0.5, δ = 1e-7", str(sdp.Budget(rho=rho)), "zCDP"):
        assert part in repr(release)


@EVERY_MECHANISM
def test_a_budget_says_the_same_as_its_numbers(mechanism: Mechanism) -> None:
    for named in ({"epsilon": "0.5"}, {"rho": "1/9"}, {"epsilon": "0.5", "delta": "1e-7"}):
        by_name = mechanism.measure(np.arange(64), source=SeededSource(4), **named)  # type: ignore[arg-type]
        as_budget = mechanism.measure(np.arange(64), source=SeededSource(4), epsilon=sdp.Budget(**named))
        np.testing.assert_array_equal(by_name.values, as_budget.values)
        assert by_name.guarantee == as_budget.guarantee
        assert by_name.law == as_budget.law


@EVERY_MECHANISM
def test_one_step_off_fails(mechanism: Mechanism) -> None:
    synopsis, rho = mechanism.measure(np.arange(64), rho=1), Fraction(1)
    assert is_calibrated(synopsis, rho)
    exact = gaussian_law(synopsis).variance_parameter
    for variance in (exact + STEP, exact - STEP):
        assert not is_calibrated(dataclasses.replace(synopsis, law=DiscreteGaussianLaw(variance)), rho)
    *choosing, measuring = synopsis.guarantee.expenses
    assert measuring.budget.rho is not None
    off = Expense("measure", sdp.Budget(rho=measuring.budget.rho + STEP))
    guarantee = dataclasses.replace(synopsis.guarantee, expenses=(*choosing, off))
    assert not is_calibrated(dataclasses.replace(synopsis, guarantee=guarantee), rho)


@EVERY_MECHANISM
def test_the_noise_on_the_integers_has_the_recorded_variance(mechanism: Mechanism) -> None:
    """Accepts the recorded σ², rejects σ 25 % off either way, on what the mechanism itself put out."""
    source, jitter = SeededSource(22), np.random.default_rng(23)
    uniforms: dict[Fraction, list[float]] = {Fraction(1): [], Fraction(5, 4): [], Fraction(3, 4): []}
    in_units: list[float] = []
    while len(in_units) < 3000:
        synopsis = mechanism.measure(np.zeros(128, dtype=np.int64), rho="1/32", source=source)
        law = gaussian_law(synopsis)
        in_units += (synopsis.values**2 / synopsis.noise_variance).tolist()
        for factor, collected in uniforms.items():
            wrong = DiscreteGaussianLaw(law.variance_parameter * factor**2)
            collected += uniform_if_true(synopsis.values, wrong, jitter)
    for factor, collected in uniforms.items():
        p_value = stats.chisquare(np.histogram(collected, bins=10, range=(0, 1))[0]).pvalue
        assert (p_value > 1e-3) == (factor == 1)
    # The squares of Gaussian values, in units of their variance, have mean 1 and variance 2.
    assert abs(np.mean(in_units) - 1) < 4 * np.sqrt(2 / len(in_units))


def test_the_share_that_is_stated_is_the_share_that_selects(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}
    real = choose_sparsity

    def watched(*arguments: object, **named: object) -> object:
        seen.update(named)
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(compressive, "choose_sparsity", watched)
    synopsis = sdp.Compressive(selection_share="0.25").measure(np.arange(128), rho="0.8")
    selecting, measuring = synopsis.guarantee.expenses
    assert selecting.budget == sdp.Budget(rho="0.2")
    assert seen["measure"] == measuring.budget == sdp.Budget(rho="0.6")
    # An exponential mechanism of ε₀ is ε₀²/8-zCDP: ε₀ = √(8·0.2), from below, and hardly below.
    epsilon = seen["epsilon_select"]
    assert isinstance(epsilon, Fraction)
    assert epsilon**2 / 8 <= Fraction("0.2") < (epsilon + STEP) ** 2 / 8
    assert seen["constants"] == GAUSSIAN_CONSTANTS


@EVERY_MECHANISM
def test_the_budget_is_debited_before_any_noise_is_drawn(mechanism: Mechanism) -> None:
    ledger = sdp.Ledger(rho=1)
    source = WatchingSource(ledger)
    mechanism.measure(np.arange(64), rho="0.5", ledger=ledger, source=source)
    assert source.spent
    assert all(spent == sdp.Budget(rho="0.5") for spent in source.spent)
    with pytest.raises(sdp.BudgetExceeded):
        mechanism.measure(np.arange(64), rho="0.6", ledger=ledger, source=source)
    assert ledger.spent == sdp.Budget(rho="0.5")


def test_more_rows_under_gaussian_noise_and_the_same_ones_when_told() -> None:
    data = np.arange(512) % 5
    under_epsilon, under_rho = (sdp.Compressive(sparsity=5).measure(data, epsilon=budget) for budget in BOTH_KINDS)
    assert under_epsilon.sensing.rows < under_rho.sensing.rows
    mechanism = sdp.Compressive(sparsity=5, rows=80, seed=3)
    whole = mechanism.measure(data, rho=1, source=SeededSource(3))
    merged = mechanism.sense(np.where(data > 2, data, 0)) + mechanism.sense(np.where(data > 2, 0, data))
    np.testing.assert_array_equal(mechanism.perturb(merged, rho=1, source=SeededSource(3)).values, whole.values)


def test_opendp_draws_at_least_the_variance_that_is_needed() -> None:
    synopsis = sdp.Laplace().measure(np.zeros(4000, dtype=np.int64), rho="0.03", sampler="opendp")
    exact = gaussian_law(synopsis).variance_parameter
    assert Fraction(50, 3) <= exact < Fraction(50, 3) * (1 + STEP)
    assert np.mean(synopsis.values**2) == pytest.approx(synopsis.noise_variance, rel=0.1)
