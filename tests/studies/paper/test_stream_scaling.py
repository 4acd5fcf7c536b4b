"""How the errors of streams grow: a small version of the experiment, its judges and its oracles."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sparsedp.bases import basis_from
from studies.paper.experiment import Effort, Judgement, Outcome, Outcomes, Verdict
from studies.paper.running import timed
from studies.paper.stream_scaling import EXPERIMENT, claims
from studies.paper.stream_scaling.claims import Points, points
from studies.paper.stream_scaling.measuring import measure, steps

HORIZONS = [2**power for power in range(10, 17)]


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, {}))


@pytest.mark.slow
def test_the_experiment_runs_and_its_claims_are_judged(outcomes: Outcomes, tmp_path: Path) -> None:
    assert EXPERIMENT.draw(outcomes, tmp_path)[0].path.stat().st_size > 1000
    tables = EXPERIMENT.tabulate(outcomes)
    assert [len(numbers.rows) for numbers in tables] == [22, 3, 6]
    assert all(len(row) == len(numbers.headings) for numbers in tables for row in numbers.rows)
    verdicts = {claim.sentence: claim.judge(outcomes).verdict for claim in EXPERIMENT.claims}
    assert len(verdicts) == 9
    assert Verdict.HOLDS in verdicts.values()
    assert EXPERIMENT.expect(outcomes) == []


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        if outcome.settings["part"] in ("time", "sparsity"):
            assert measure(outcome.settings) == outcome.found


# ---- oracles


@pytest.mark.parametrize("pieces", [2, 8, 64])
@pytest.mark.parametrize("ticks", [256, 1024])
def test_the_stream_is_as_sparse_as_it_is_said_to_be(pieces: int, ticks: int) -> None:
    coefficients = basis_from("haar", ticks).analyze(steps(ticks, pieces).astype(float))
    assert np.count_nonzero(np.abs(coefficients) > 1e-3) == pieces


@pytest.mark.slow
def test_the_errors_are_those_that_follow_from_the_noise(outcomes: Outcomes) -> None:
    """‖e‖² is k times the variance of a sample, and a difference of two totals has 4 noises on average."""
    for one in outcomes.where(part="horizon"):
        levels = math.log2(one.settings["horizon"])
        if one.settings["mechanism"] == "cmco paper":
            expected = math.sqrt(2) * (1 + levels) ** 1.5
            assert np.mean(one.found["noise"]) == pytest.approx(expected, rel=0.35)
        if one.settings["mechanism"] == "difference":
            expected = math.sqrt(8 * one.settings["horizon"]) * (1 + levels)
            assert np.mean(one.found["errors"]) == pytest.approx(expected, rel=0.2)
        if one.settings["mechanism"] == "plain":
            assert np.mean(one.found["errors"]) == pytest.approx(math.sqrt(1.84 * one.settings["horizon"]), rel=0.2)


def test_known_laws_are_found() -> None:
    rng = np.random.default_rng(1)
    x = tuple(float(2**power) for power in range(8, 21))
    root, logarithm = (
        Points(x, tuple(tuple(law(one) * np.exp(rng.normal(0, 0.01, 8))) for one in x))
        for law in (math.sqrt, lambda one: (1 + math.log2(one)) ** 2)
    )
    assert root.power.holds(0.5)
    assert root.nearer == "a power of T"
    assert logarithm.logarithmic.holds(2)
    assert logarithm.nearer == "a power of 1 + log T"
    np.testing.assert_allclose(root.fitted(), np.sqrt(x), rtol=0.02)
    np.testing.assert_allclose(logarithm.over(1 + np.log2(x)).centre, 1 + np.log2(x), rtol=0.02)


@pytest.mark.slow
def test_points_are_read_in_order(outcomes: Outcomes) -> None:
    read = points(outcomes, "epsilon", "cmco")
    assert read.x == (0.001, 0.01, 0.1, 1.0)
    assert list(read.errors[-1]) == outcomes.found("errors", part="epsilon", mechanism="cmco", epsilon="1")


# ---- judges

Law = Callable[[float], float]


def grown(part: str, mechanism: str, x: list[float], law: Law, key: str = "errors") -> list[Outcome]:
    """Outcomes that follow a law to within a percent."""
    setting = {"horizon": "horizon", "time": "ticks", "epsilon": "epsilon", "sparsity": "pieces"}[part]
    rng = np.random.default_rng(2)
    return [
        Outcome(
            {"part": part, "mechanism": mechanism, setting: value},
            {key: (law(value) * np.exp(rng.normal(0, 0.01, 5))).tolist()},
            0.0,
        )
        for value in x
    ]


def made_up(
    *,
    in_horizon: Law,
    in_time: Law,
    in_epsilon: Law,
    in_steps: Law = lambda s: 5.0,
    beside: Law = lambda x: 1.0,
) -> Outcomes:
    """CMCO with the noise of ε by these laws; everything else as it is known to be."""
    polylogarithmic: Law = lambda x: math.log2(x)  # noqa: E731
    horizons = [float(horizon) for horizon in HORIZONS]
    rows = []
    for mechanism, own in (("cmco", True), ("cmco paper", False)):
        rows += grown("horizon", mechanism, horizons, in_horizon if own else polylogarithmic)
        rows += grown("time", mechanism, horizons, in_time if own else lambda t: 7.0)
        rows += grown("epsilon", mechanism, [0.01, 0.1, 1.0], in_epsilon if own else lambda e: 1 / e)
        rows += grown("sparsity", mechanism, [2, 4, 8, 16], in_steps)
    rows += grown("horizon", "difference", horizons, lambda x: math.sqrt(x) * math.log2(x) * beside(x))
    rows += grown("horizon", "plain", horizons, math.sqrt)
    return Outcomes(rows)


def sixth(power: float) -> Law:
    return lambda x: 6.0 * x**power


def logarithms(power: float) -> Law:
    return lambda x: math.log2(x) ** power


@pytest.mark.parametrize("judge", [claims.judge_theorem, claims.judge_cmco_row])
def test_growth_like_a_root_is_not_taken_for_logarithms(judge: Callable[[Outcomes], Judgement]) -> None:
    usual = {"in_time": sixth(0), "in_epsilon": sixth(-1)}
    for power, said in ((1.5, False), (2.5, True)):
        as_claimed = judge(made_up(in_horizon=logarithms(power), **usual))
        assert as_claimed.verdict is Verdict.HOLDS  # Õ takes any power of a logarithm
        assert ("the exponent of 1 + log T exceeds 1.5" in as_claimed.measured) is said
    with_steps = judge(made_up(in_horizon=logarithms(1.5), in_steps=sixth(1), **usual))
    assert with_steps.in_words == "holds only for a sparsity that does not grow"
    like_a_root = made_up(in_horizon=sixth(0.5), in_time=sixth(0.5), in_epsilon=sixth(-0.5))
    assert judge(like_a_root).in_words == "holds only with the noise that guarantees kε"
    at_k_epsilon_too = Outcomes(
        [
            *(one for one in like_a_root if one.settings["mechanism"] == "cmco" or one.settings["part"] != "horizon"),
            *grown("horizon", "cmco paper", [float(horizon) for horizon in HORIZONS], sixth(0.5)),
        ]
    )
    assert judge(at_k_epsilon_too).verdict is Verdict.DOES_NOT_HOLD
    both = judge(made_up(in_horizon=sixth(0.5), in_time=sixth(0.5), in_epsilon=sixth(-0.5), in_steps=sixth(1)))
    assert both.only == f"{claims.PAPERS_NOISE} and {claims.FIXED_SPARSITY}"


def test_an_interval_with_both_answers_decides_nothing() -> None:
    def scattered(x: float) -> float:
        return 30.0 ** (round(math.log2(x)) % 2)

    usual = {"in_time": sixth(0), "in_epsilon": sixth(-1)}
    for judge in (claims.judge_theorem, claims.judge_cmco_row):
        for law in ({"in_horizon": scattered}, {"in_horizon": logarithms(1), "in_steps": scattered}):
            assert judge(made_up(**usual, **law)).verdict is Verdict.UNDECIDED
    unclear = claims.judge_theorem(made_up(in_horizon=scattered, **usual)).measured
    assert "too few points to tell whether the exponent of 1 + log T exceeds 1.5" in unclear
    horizons = [float(x) for x in HORIZONS]
    assert (
        claims.judge_differences(Outcomes(grown("time", "difference", horizons, scattered))).verdict
        is Verdict.UNDECIDED
    )
    inverse = grown("epsilon", "difference", [0.01, 0.1, 1.0], sixth(-1))
    row = Outcomes([*grown("horizon", "difference", horizons, lambda x: x * scattered(x)), *inverse])
    assert claims.judge_continual_row(row).verdict is Verdict.UNDECIDED
    totals = [
        Outcome(one.settings, {"total": one.found["errors"], "rare total": one.found["errors"]}, 0.0)
        for one in grown("horizon", "difference", horizons, scattered)
    ]
    assert claims.judge_totals(Outcomes(totals)).verdict is Verdict.UNDECIDED
    noises = [one for name in claims.STREAMS for one in grown("horizon", name, horizons, scattered, "noise")]
    noises += [one for name in claims.STREAMS for one in grown("sparsity", name, [2, 4, 8], sixth(0), "noise")]
    assert claims.judge_noise(Outcomes(noises)).verdict is Verdict.UNDECIDED
    costs = {"moments": HORIZONS, "observe_seconds": [1.0]}
    costs |= {key: [x * scattered(x) for x in HORIZONS] for key in ("release_seconds", "release_bytes")}
    assert claims.judge_costs(Outcomes([Outcome({"part": "cost"}, costs, 0.0)])).verdict is Verdict.UNDECIDED


def test_the_continual_mechanism_may_grow_like_a_root_and_no_faster() -> None:
    for power, verdict in ((0.5, Verdict.HOLDS), (0.7, Verdict.DOES_NOT_HOLD)):
        assert (
            claims.judge_differences(Outcomes(grown("time", "difference", [64, 128, 256], sixth(power)))).verdict
            is verdict
        )
        inverse = grown("epsilon", "difference", [0.01, 0.1, 1.0], sixth(-1))
        law: Law = lambda x, power=power: x**power * math.log2(x)  # type: ignore[misc]  # noqa: E731
        both = Outcomes([*grown("horizon", "difference", [float(x) for x in HORIZONS], law), *inverse])
        assert claims.judge_continual_row(both).verdict is verdict


def test_where_cmco_overtakes_is_found() -> None:
    usual = {"in_time": sixth(0), "in_epsilon": sixth(-1)}
    always = made_up(in_horizon=lambda x: 1.0, **usual)
    assert claims.judge_comparison(always).verdict is Verdict.HOLDS
    later = made_up(in_horizon=lambda x: 1.1 * 64 * 12, **usual)
    assert "from T = 8,192 on" in claims.judge_comparison(later).only
    never = made_up(in_horizon=lambda x: 1e9, **usual)
    assert claims.judge_comparison(never).only == claims.PAPERS_NOISE
    nobody = made_up(in_horizon=lambda x: 1e9, beside=lambda x: 1e-9, **usual)
    assert claims.judge_comparison(nobody).verdict is Verdict.DOES_NOT_HOLD


@pytest.mark.parametrize(("power", "verdict"), [(1.5, Verdict.HOLDS), (2.5, Verdict.DOES_NOT_HOLD)])
def test_totals_may_grow_like_the_bound(power: float, verdict: Verdict) -> None:
    x = [float(horizon) for horizon in HORIZONS]
    totals = grown("horizon", "difference", x, lambda T: math.log2(T) ** power, "total")
    rare = grown("horizon", "difference", x, lambda T: 3 * math.log2(T) ** power, "rare total")
    both = [Outcome(one.settings, {**one.found, **other.found}, 0.0) for one, other in zip(totals, rare, strict=True)]
    assert claims.judge_totals(Outcomes(both)).verdict is verdict


def test_noise_that_grows_with_the_rows_is_seen() -> None:
    def noises(in_steps: dict[str, float]) -> Outcomes:
        rows = []
        for name, power in in_steps.items():
            rows += grown("horizon", name, [float(x) for x in HORIZONS], lambda T: math.log2(T) ** 1.5, "noise")
            rows += grown("sparsity", name, [2, 4, 8, 16], sixth(power), "noise")
        return Outcomes(rows)

    assert claims.judge_noise(noises({"cmco": 0, "cmco paper": 0})).verdict is Verdict.HOLDS
    assert claims.judge_noise(noises({"cmco": 0.9, "cmco paper": 0})).verdict is Verdict.HOLDS_ONLY
    assert claims.judge_noise(noises({"cmco": 0.9, "cmco paper": 0.9})).verdict is Verdict.DOES_NOT_HOLD


@pytest.mark.slow
def test_costs_that_grow_faster_would_be_noticed(outcomes: Outcomes) -> None:
    (one,) = outcomes.where(part="cost")
    for judge, found in (
        (claims.judge_costs, {"release_seconds": [t**2 * 1e-9 for t in one.found["moments"]]}),
        (claims.judge_costs, {"release_bytes": [t**2 for t in one.found["moments"]]}),
        (claims.judge_storage, {"state": one.found["state"] + 1}),
    ):
        linear = {"release_seconds": [t * 1e-6 for t in one.found["moments"]], "release_bytes": one.found["moments"]}
        assert judge(Outcomes([Outcome(one.settings, {**one.found, **linear}, 0.0)])).verdict is Verdict.HOLDS
        changed = Outcomes([Outcome(one.settings, {**one.found, **linear, **found}, 0.0)])
        assert judge(changed).verdict is Verdict.DOES_NOT_HOLD
