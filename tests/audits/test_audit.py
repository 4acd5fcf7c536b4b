"""The audit passes what is right, and catches what is planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.audits import Audit
from sparsedp.audits._cases import CALENDAR, DAYS, GROUPED, every_case, records_cases, stream_cases
from sparsedp.audits._evidence import bound_delta, bound_epsilon, bound_rho, lower_bound
from sparsedp.audits._findings import Finding
from sparsedp.audits._looks import ClampedCase, LookedCase
from sparsedp.audits._mechanisms import Case, SumsCase, audit_mechanism
from sparsedp.audits._records import audit_records
from sparsedp.audits._streams import StreamCase, _Views, audit_stream, least_shift
from sparsedp.audits._transcripts import AuditSource, Recorder
from sparsedp.axes.domain import Domain
from sparsedp.constraints import Constraints
from sparsedp.ingest import _count, contributions
from sparsedp.ingest.bounding import DOUBLES, Reservoir
from sparsedp.ingest.clamps import ClampLook
from sparsedp.ingest.contributions import Look
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.mechanisms import _marginals
from sparsedp.mechanisms._marginals import MarginalTranscript
from sparsedp.mechanisms.terms import CalibratedNoise, Terms
from sparsedp.noise import samplers
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.source import RandomSource
from sparsedp.plan import Plan
from sparsedp.publishing import order
from sparsedp.publishing.order import Order
from sparsedp.streams import _counters
from sparsedp.streams._counters import AddNoise, CounterState
from sparsedp.synopsis import Synopsis

QUICK: dict[str, Any] = {"replays": 40, "runs": 0, "jobs": 1}


def failed(audit: Audit) -> set[str]:
    return {finding.check for finding in audit.faults}


# ---- what is right passes


BUDGETS: list[dict[str, Any]] = [{"epsilon": 1}, {"rho": "1/2"}]
NAMES = [*sdp.MECHANISMS, "adaptive:cells", "adaptive:ranges"]
AUDITED = [*product(NAMES, BUDGETS), ("adaptive", {"epsilon": 1, "delta": "1e-6"})]


@pytest.mark.parametrize(("name", "budget"), AUDITED, ids=str)
def test_every_mechanism_passes(name: str, budget: dict[str, Any]) -> None:
    found = sdp.audit(name, **budget, domain=64 if name == "compressive" else 256, **QUICK)
    assert found.passed, found
    assert [finding.check for finding in found.findings] == ["replay", "loss", "noise"]


@pytest.mark.parametrize("name", ["laplace", "adaptive", "hierarchical"])
def test_the_loss_is_reached(name: str) -> None:
    (loss,) = (each for each in sdp.audit(name, epsilon=1, domain=16, **QUICK).findings if each.check == "loss")
    assert loss.worst == 1


@pytest.mark.parametrize("case", list(stream_cases(0)), ids=lambda case: case.what)
def test_every_stream_passes(case: StreamCase) -> None:
    checks = {finding.check: finding for finding in audit_stream(case)}
    assert checks.keys() == {"replay", "view"}
    assert all(finding.fault is None for finding in checks.values())
    assert checks["view"].worst == pytest.approx(checks["view"].allowed) or "difference" in case.what


def test_nothing_is_left_out() -> None:
    cases = every_case(10, 100)
    audited = {type(case.mechanism) for case in cases if isinstance(case, Case)}
    assert audited == set(sdp.MECHANISMS.values())
    streams = {type(case.stream()) for case in cases if isinstance(case, StreamCase)}
    assert streams == set(sdp.Stream.__subclasses__())
    assert sum(1 for _ in records_cases()) > 5


def test_an_attack_on_real_releases_passes() -> None:
    found = sdp.audit("laplace", epsilon=1, domain=16, replays=60, runs=4000, jobs=1)
    assert found.passed, found
    measured = found.findings[-1]
    assert measured.check == "measured"
    assert 0.5 < (measured.worst or 0) <= 1


def test_streams_and_records_by_name() -> None:
    found = sdp.audit("continual_difference", epsilon="0.5", runs=200, jobs=1)
    assert found.passed, found
    assert {finding.budget for finding in found.findings} == {"ε = 0.5"}


TABLES = [
    ("adaptive", GROUPED),
    ("adaptive:marginals", GROUPED),
    ("adaptive:county.state*k,age", GROUPED),
    ("adaptive", CALENDAR),
    ("adaptive:day.weekday*ward,day", CALENDAR),
    ("adaptive", DAYS),
]


@pytest.mark.parametrize("budget", [*BUDGETS, {"epsilon": 1, "delta": "1e-6"}], ids=str)
@pytest.mark.parametrize(("name", "domain"), TABLES, ids=str)
def test_marginals_and_rhythms_pass(name: str, domain: list[str], budget: dict[str, Any]) -> None:
    found = sdp.audit(name, **budget, domain=domain, contribution=3, neighbours="replace_one", **QUICK)
    assert found.passed, found


def test_replacement_in_one_cell_is_refused_and_not_looked_for_without_end() -> None:
    with pytest.raises(sdp.errors.InvalidInput, match="nothing changes when a person is replaced"):
        sdp.audit("laplace", epsilon=1, domain=1, neighbours="replace_one", **QUICK)
    assert sdp.audit("laplace", epsilon=1, domain=1, **QUICK).passed


# ---- what is planted is caught


SCORED: dict[str, Any] = {"domain": GROUPED, "contribution": 3, "replays": 100, "runs": 0, "jobs": 1}


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_scores_that_count_one_layer_or_one_record(budget: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Terms.noise

    def of_one_layer(terms: Terms, one: int, two: int, *rest: Any) -> CalibratedNoise:
        scored = rest[1:] and rest[1] == _marginals.SCORED
        return honest(terms, 3 if scored else one, 9 if scored else two, *rest)

    def of_one_record(terms: Terms, one: int, two: int, *rest: Any) -> CalibratedNoise:
        scored = rest[1:] and rest[1] == _marginals.SCORED
        return honest(terms, one // 3 if scored else one, two // 9 if scored else two, *rest)

    for planted in (of_one_layer, of_one_record):
        monkeypatch.setattr(Terms, "noise", planted)
        assert failed(sdp.audit("adaptive", **budget, **SCORED)) == {"loss"}


def test_a_decision_that_looks_at_an_exact_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours have nearly the same, so that only other data tell."""
    honest = MarginalTranscript.total

    def exact(self: MarginalTranscript) -> float:
        honest(self)
        return float(self._cells.sum())

    monkeypatch.setattr(MarginalTranscript, "total", exact)
    assert failed(sdp.audit("adaptive:marginals", epsilon=1, **SCORED)) == {"replay"}


def test_a_score_that_is_not_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = MarginalTranscript.scores

    def free(self: MarginalTranscript, *given: Any) -> Any:
        found = honest(self, *given)
        self.tests.clear()
        return found

    monkeypatch.setattr(MarginalTranscript, "scores", free)
    assert failed(sdp.audit("adaptive", rho="1/2", **SCORED)) == {"loss"}


def test_a_scale_off_by_a_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    """In what is asked of the sampler: the release states the right law."""
    honest = CalibratedNoise.add_to

    def less(self: CalibratedNoise, values: Ints) -> None:
        law = self.law
        assert isinstance(law, DiscreteLaplaceLaw)
        honest(replace(self, law=replace(law, scale=law.scale * Fraction(9, 10))), values)

    assert sdp.audit("laplace", epsilon=1, domain=16, **QUICK).passed
    monkeypatch.setattr(CalibratedNoise, "add_to", less)
    for name in ("laplace", "adaptive", "privelet"):
        assert failed(sdp.audit(name, epsilon=1, domain=16, **QUICK)) == {"loss"}


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "1/2"}], ids=str)
def test_a_sampler_that_draws_a_tenth_less(budget: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(honest: Callable[..., None], factor: Fraction) -> Callable[..., None]:
        return lambda values, width, source: honest(values, width * factor, source)

    for name, factor in (("add_discrete_laplace", Fraction(9, 10)), ("add_discrete_gaussian", Fraction(81, 100))):
        monkeypatch.setattr(samplers, name, narrow(getattr(samplers, name), factor))
    assert failed(sdp.audit("laplace", **budget, domain=256, **QUICK)) == {"noise"}


@dataclass(frozen=True)
class Peeking(sdp.Laplace):
    """Looks at the total first, with noise, and forgets that this costs something."""

    name: ClassVar[str] = "peeking"

    def _measured(self, cells: Ints, plan: Plan | None, terms: Terms, domain: Domain | None, **rest: Any) -> Synopsis:
        total = np.array([cells.sum()])
        terms.noise(terms.neighbours.distance, terms.neighbours.distance**2, Fraction(1, 20)).add_to(total)
        return super()._measured(cells, plan, terms, domain, **rest)


@dataclass(frozen=True)
class Branching(sdp.Laplace):
    """Measures less where there is nothing to see, and has no noise to see it by."""

    name: ClassVar[str] = "branching"

    def _measured(self, cells: Ints, plan: Plan | None, terms: Terms, domain: Domain | None, **rest: Any) -> Synopsis:
        crowded = bool(cells.max() > 3)
        other = sdp.Hierarchical()._plan_in_advance(cells.size, terms, domain) if crowded else plan
        return super()._measured(cells, other, terms, domain, **rest)


@dataclass(frozen=True)
class Telling(sdp.Laplace):
    """Publishes something beside the noisy answers."""

    name: ClassVar[str] = "telling"

    def _measured(
        self,
        cells: Ints,
        plan: Plan | None,
        terms: Terms,
        domain: Domain | None,
        *,
        negative: bool,
        constraints: Constraints | None,
    ) -> Synopsis:
        found = super()._measured(cells, plan, terms, domain, negative=negative, constraints=constraints)
        return replace(found, plan=replace(found.plan, nonnegative=bool(cells.sum() % 2)))


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "1/2"}], ids=str)
def test_a_look_that_is_not_counted(budget: dict[str, Any]) -> None:
    assert failed(sdp.audit(Peeking(), **budget, domain=16, **QUICK)) == {"loss"}


def test_a_branch_without_noise() -> None:
    assert failed(sdp.audit(Branching(), epsilon=1, domain=16, **QUICK)) == {"replay"}
    assert failed(sdp.audit(Telling(), epsilon=1, domain=16, **QUICK)) == {"replay"}


def test_half_the_noise_is_seen_in_real_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(values: Ints, scale: Fraction, source: RandomSource) -> None:
        honest(values, scale / 2, source)

    honest = add_discrete_laplace
    monkeypatch.setattr(samplers, "add_discrete_laplace", narrow)
    assert failed(sdp.audit("laplace", epsilon=1, domain=4, replays=60, runs=6000, jobs=1)) == {"noise", "measured"}


def test_a_bound_of_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def loose(cells: int, most: int, key: tuple[int, int], **settings: Any) -> Reservoir:
        return Reservoir(cells, most + 1, key, **settings)

    case = next(iter(records_cases()))
    findings = audit_records(replace(case, tables=1))
    assert [finding.fault for finding in findings] == [None, None]
    monkeypatch.setattr(_count, "Reservoir", loose)
    bound, sampling = audit_records(replace(case, tables=1))
    assert bound.fault == "One person changes the counts by 2, where 1 is promised."
    assert sampling.fault is not None


def test_a_bound_of_one_too_many_on_the_counts_beside_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(reservoir: Reservoir) -> Ints | None:
        return None if honest(reservoir) is None else 2 * honest(reservoir)

    honest: Any = Reservoir.records.fget  # type: ignore[attr-defined]
    case = next(case for case in records_cases() if case.request.with_counts)
    assert audit_records(replace(case, tables=1))[0].fault is None
    monkeypatch.setattr(Reservoir, "records", property(twice))
    bound = audit_records(replace(case, tables=1))[0]
    assert bound.fault == "One person changes the counts beside the sums by 6, where 3 is promised."


def test_counts_beside_sums_that_cost_more_than_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(terms: Terms) -> tuple[Terms, ...]:
        sums, counts = honest(terms)
        return replace(sums, budget=terms.budget), counts

    case = SumsCase(sdp.Laplace(), sdp.Budget(epsilon=1), 4, contribution=3, replays=60, runs=0)
    assert not [finding for finding in audit_mechanism(case) if finding.fault]
    honest: Any = Terms.parts.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Terms, "parts", property(whole))
    assert "loss" in {finding.check for finding in audit_mechanism(case) if finding.fault}


class TwoBins(Reservoir):
    """Counts a person in the bin of what they keep as well."""

    @property
    def people(self) -> Ints:
        return super().people + np.roll(super().people, 1)


def test_a_person_in_two_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_count, "Reservoir", TwoBins)
    bound, _ = audit_records(replace(next(iter(records_cases())), tables=1))
    assert bound.fault == "One person changes the numbers of people by 2, where 1 is promised."


def looked_at(**settings: Any) -> list[Finding]:
    case = LookedCase(sdp.Laplace(), sdp.Budget(epsilon=1), 40, replays=40, runs=0, **settings)
    return audit_mechanism(case)


@pytest.mark.parametrize("settings", [{}, {"bound": 5}, {"neighbours": "replace_one"}], ids=str)
def test_a_look_at_how_many_records_people_have(settings: dict[str, Any]) -> None:
    assert [finding.fault for finding in looked_at(**settings)] == [None, None, None]


@pytest.mark.parametrize("settings", [{}, {"bound": 5}], ids=str)
def test_a_look_with_less_noise_than_was_paid_for(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def loud(self: Look, people: Ints, bins: Any) -> tuple[int, ...]:
        noisy = people.copy()
        assert isinstance(self.noise.law, DiscreteLaplaceLaw)
        replace(self.noise, law=DiscreteLaplaceLaw(self.noise.law.scale * Fraction(9, 10))).add_to(noisy)
        return tuple(noisy.tolist())

    monkeypatch.setattr(Look, "_noisy", loud)
    _, lost, _ = looked_at(**settings)
    assert lost.fault is not None
    assert "cost more than ε = 1" in lost.fault


def test_a_bound_chosen_by_the_true_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Look._noisy
    seen: list[Ints] = []

    def keeping(self: Look, people: Ints, bins: Any) -> tuple[int, ...]:
        seen.append(people.copy())
        return honest(self, people, bins)

    monkeypatch.setattr(Look, "_noisy", keeping)
    monkeypatch.setattr(contributions, "best_bound", lambda *_: 1 + int(seen[-1].sum() % 8))
    replayed, *_ = looked_at()
    assert replayed.fault is not None


def clamped(**settings: Any) -> list[Finding]:
    case = ClampedCase(sdp.Laplace(), sdp.Budget(epsilon=1), 2 * DOUBLES, 3, replays=60, runs=0, **settings)
    return audit_mechanism(case)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_clamp_that_is_chosen_costs_what_it_says(relation: str) -> None:
    assert [finding.fault for finding in clamped(neighbours=relation)] == [None, None, None]


def test_a_look_at_values_for_one_record_where_people_have_three(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_narrow(terms: Terms, records: int, share: Fraction) -> ClampLook:
        return honest(terms, 1, share)

    honest = ClampLook.of
    monkeypatch.setattr(order, "ClampLook", SimpleNamespace(of=too_narrow))
    _, lost, _ = clamped()
    assert lost.fault is not None


def test_sums_for_another_clamp_than_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted within what was chosen, but with the noise of bounds of one step."""

    def to_one_step(whole: Order, lowest: int, highest: int) -> Order:
        chosen = honest(whole, lowest, highest)
        narrow = replace(chosen.terms.neighbours, contribution=chosen.request.max_contributions)
        return replace(chosen, terms=replace(chosen.terms, neighbours=narrow))

    honest = Order.clamped_to
    monkeypatch.setattr(Order, "clamped_to", to_one_step)
    findings = clamped()
    assert any(finding.fault for finding in findings)


class Keeping(CounterState):
    """A counter that cannot forget."""

    __slots__ = ("kept",)

    def __init__(self, counters: int, levels: int, every: int = 1) -> None:
        super().__init__(counters, levels, every)
        self.kept: list[Ints] = []

    def advance(self, values: Ints, add_noise: AddNoise) -> Ints:
        found = super().advance(values, add_noise)
        self.kept.append(self.above.copy())
        return found


def the_counter() -> StreamCase:
    return next(case for case in stream_cases(0) if case.what == "continual_counter, 8 ticks")


def test_a_counter_that_keeps_the_noise_of_ended_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(finding.fault is None for finding in audit_stream(the_counter()))
    monkeypatch.setattr(_counters, "CounterState", Keeping)
    (fault,) = (finding for finding in audit_stream(the_counter()) if finding.fault is not None)
    assert fault.check == "view"
    assert (fault.worst or 0) > 1.2


def test_a_counter_with_a_tenth_less_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_counters, "_effective", lambda terms, scale: scale * Fraction(9, 10))
    for case in list(stream_cases(0))[::2]:
        faults = {finding.check for finding in audit_stream(case) if finding.fault is not None}
        assert faults == {"view"} or "difference" in case.what


# ---- the tools


@pytest.mark.parametrize("event", range(8))
def test_the_least_shift_is_what_the_counter_s_proof_says(event: int) -> None:
    """Eight ticks, noise of scale 4: the count's own noise and the segments before the event, or those after it."""
    views = _Views(the_counter())
    for moment in views.moments():
        _, by_count, by_noise = views.matrices(moment)
        found = least_shift(by_noise, by_count[:, event], views.scales) * 4
        before, after = 1 + event.bit_count(), max((8 - event).bit_count(), 2 if event == 0 else 1)
        expected = min(before, after) if moment is None else before if moment >= event else after
        assert found == pytest.approx(expected)


def test_what_noise_cannot_explain_costs_everything() -> None:
    assert least_shift(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, 1.0]), [Fraction(1), Fraction(1)]) == np.inf
    assert least_shift(np.array([[1.0, 1.0]]), np.array([2.0]), [Fraction(1), Fraction(4)]) == pytest.approx(0.5)


def test_known_losses_are_measured_from_below() -> None:
    chance = np.random.default_rng(3)
    lies = chance.random((2, 40_000)) < 1 / (1 + np.exp(2))
    answers = lies[0].astype(float), 1 - lies[1].astype(float)
    assert 1.7 < lower_bound(*answers, bound_epsilon) <= 2  # randomised response at ε = 2
    normal = chance.normal(0, 1, 40_000), chance.normal(1, 1, 40_000)
    assert 0.25 < lower_bound(*normal, bound_rho) <= 0.5  # a shift by one deviation is ½-zCDP
    # Of coins that never agree, as near as 40,000 of them tell: the orders are far apart, and none overflows.
    assert 5 < lower_bound(np.zeros(40_000), np.ones(40_000), bound_rho) < 20
    # (ε, δ) of the same shift at ε = 1: δ = Φ(−½) − e·Φ(−3/2).
    assert 0.09 < lower_bound(*normal, bound_delta(Fraction(1))) <= 0.1270
    assert lower_bound(normal[0][:20_000], normal[0][20_000:], bound_epsilon) <= 0


def test_bad_arguments_are_refused_in_a_sentence() -> None:
    for arguments, words in [
        ({"mechanism": "laplcae", "epsilon": 1}, "laplcae"),
        ({"mechanism": 3, "epsilon": 1}, "of type int"),
        ({"epsilon": 1}, "given without a mechanism"),
        ({"mechanism": "laplace", "epsilon": -1}, "epsilon"),
        ({"mechanism": "laplace", "epsilon": 1, "replays": 0}, "replays"),
        ({"mechanism": "laplace", "epsilon": 1, "runs": 7}, "runs"),
        ({"mechanism": "laplace", "epsilon": 1, "domain": 0}, "domain"),
        ({"mechanism": "laplace", "epsilon": 1, "domain": 2**20}, "1,048,576 cells"),
        ({"mechanism": "laplace", "epsilon": 1, "contribution": 0}, "contribution"),
        ({"mechanism": "laplace", "epsilon": 1, "neighbours": "some"}, "neighbours"),
        ({"mechanism": "continual_counter", "rho": 1}, "rho"),
    ]:
        with pytest.raises(sdp.InvalidInput, match=words):
            sdp.audit(**arguments)  # type: ignore[arg-type]


def test_what_is_made_for_an_audit_protects_nobody_and_says_so() -> None:
    """A sampler that stands in for the true one is not taken beside the system's own randomness."""
    recorder = Recorder()
    with pytest.raises(sdp.InvalidInput, match="sampler"):
        sdp.Laplace().measure([1, 2], epsilon=1, sampler=recorder)  # type: ignore[arg-type]
    source = AuditSource()
    found = sdp.Laplace().measure([1, 2], epsilon=1, sampler=recorder, source=source)  # type: ignore[arg-type]
    assert not found.private
