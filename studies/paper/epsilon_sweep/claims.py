"""What the paper says about its comparison, judged, and what must come out on its own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from math import log2, sqrt

import numpy as np

from studies.paper.data import PAPER_DATA
from studies.paper.deciding import Answer, every, judged, listed, of_files, percent, times, told
from studies.paper.epsilon_sweep.advantage import (
    Ratio,
    Sweep,
    judge_cannot_compete,
    judge_much_more_accurate,
    judge_order_of_magnitude,
    some,
)
from studies.paper.epsilon_sweep.measuring import FLOOR, JUDGED, RIVALS, SMALL
from studies.paper.experiment import Claim, Expectation, Judgement, Outcomes, Verdict

# ---- many cases, of which some may hold, some not, and some be left open by the runs


def sorted_out(
    answers: Mapping[str, Answer], measured: str, only: Callable[[Sequence[str]], str] = lambda cases: listed(cases)
) -> Judgement:
    """Holds if it does in every case, and does not if in none; only in some if it surely does not in some other."""
    given = set(answers.values())
    if given == {True}:
        return Judgement(Verdict.HOLDS, measured)
    if given == {False}:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if {True, False} <= given:
        return Judgement(Verdict.HOLDS_ONLY, measured, only([case for case, answer in answers.items() if answer]))
    parts = [
        f"{words} for {listed([case for case, answer in answers.items() if answer is given_one])}"
        for words, given_one in (("surely so", True), ("surely not", False), ("not decided", None))
        if given_one in given
    ]
    return Judgement(Verdict.UNDECIDED, f"{measured} By the 95 % intervals {', '.join(parts)}.")


# ---- how the advantage over Laplace changes with ε

SLIGHTLY = 1.5
NOTHING = 1.1
"""From the largest ε to the smallest, growth by less is none."""
RIVAL = "laplace"


def advantages(sweep: Sweep, data: str) -> list[Ratio]:
    """Laplace's error over Compressive's at every ε, the largest ε first."""
    return [sweep.ratio(data, epsilon, RIVAL) for epsilon in sweep.epsilons]


def falls(ratios: list[Ratio]) -> bool:
    """Whether it becomes smaller for sure at some smaller ε."""
    pairs = list(combinations(ratios, 2))
    return any(later.compared_with(one, pairs=len(pairs)) < 0 for one, later in pairs)


def levels_off(sweep: Sweep, data: str) -> str:
    """The largest ε at which the ratio is already what it is at the smallest, as far as the runs tell."""
    ratios = advantages(sweep, data)
    return next(e for e, ratio in zip(sweep.epsilons, ratios, strict=True) if ratio.compared_with(ratios[-1]) == 0)


def judge_grows_as_epsilon_falls(outcomes: Outcomes) -> Judgement:
    """The ratio must never fall, and go on growing to the smallest ε."""
    sweep = Sweep(outcomes)
    parts = [f"{name} {', '.join(map(str, advantages(sweep, name)))}" for name in PAPER_DATA]
    until = min((levels_off(sweep, name) for name in PAPER_DATA), key=float)
    measured = (
        f"Laplace's error over that of Compressive with CoSaMP at ε = {', '.join(sweep.epsilons)}: {'; '.join(parts)}."
    )
    if until != sweep.epsilons[-1]:
        measured += f" From ε = {until} on no change is seen; S is above 1 in {_above_one(sweep, until)} of the runs."
    measured += (
        f" (Growth by less than {NOTHING} from the first ε to the last is none; it has ended where the rest of it is "
        f"surely below {SLIGHTLY}.)"
    )
    measured = told(outcomes, PAPER_DATA, measured)
    ratios = {name: advantages(sweep, name) for name in PAPER_DATA}
    if any(falls(one) or one[-1].over(one[0]).above(NOTHING) is False for one in ratios.values()):
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if any(one[-1].compared_with(one[0]) <= 0 for one in ratios.values()):
        return Judgement(Verdict.UNDECIDED, measured)
    if until == sweep.epsilons[-1]:
        return Judgement(Verdict.HOLDS, measured)
    place = sweep.epsilons.index(until)
    if any(one[-1].over(one[place]).above(SLIGHTLY) is not False for one in ratios.values()):
        return Judgement(Verdict.UNDECIDED, measured)
    return Judgement(Verdict.HOLDS_ONLY, measured, f"down to ε = {until}")


def _above_one(sweep: Sweep, until: str) -> str:
    """How often more than one coefficient was chosen."""
    few = [epsilon for epsilon in sweep.epsilons if float(epsilon) <= float(until)]
    chosen = [s for name in PAPER_DATA for epsilon in few for s in sweep.runs(name, JUDGED, epsilon, "sparsities")]
    return percent(float(np.mean(np.array(chosen) > 1)))


def judge_exception(outcomes: Outcomes) -> Judgement:
    """Laplace is nearer at ε = 1, and at no other."""
    sweep = Sweep(outcomes)
    leads = {
        epsilon: {name: sweep.ratio(name, epsilon, RIVAL).above(1) for name in PAPER_DATA} for epsilon in sweep.epsilons
    }
    nearer = {epsilon: [name for name, ahead in of.items() if ahead is False] for epsilon, of in leads.items()}
    ahead = ", ".join(f"{times(1 / sweep.ratio(name, '1', RIVAL).value)} times ({name})" for name in PAPER_DATA)
    others = {epsilon: names for epsilon, names in nearer.items() if names and epsilon != "1"}
    also = "; ".join(f"at ε = {epsilon} on {listed(names)}" for epsilon, names in others.items())
    measured = f"At ε = 1 the error of Compressive with CoSaMP over Laplace's is {ahead}." + (
        f" Laplace is also nearer {also}, beyond the 95 % intervals." if also else ""
    )
    measured = told(outcomes, PAPER_DATA, measured)
    if any(leads["1"].values()):
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if None in leads["1"].values():
        return Judgement(Verdict.UNDECIDED, measured)
    if others:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"with other exceptions: {also}")
    open_ones = any(None in of.values() for epsilon, of in leads.items() if epsilon != "1")
    return Judgement(Verdict.UNDECIDED if open_ones else Verdict.HOLDS, measured)


def judge_slightly_worse(outcomes: Outcomes) -> Judgement:
    """At ε = 1, worse, and by at most half."""
    sweep = Sweep(outcomes)
    behind = {name: sweep.ratio(name, "1", RIVAL).inverse for name in PAPER_DATA}
    shown = listed([f"{factor.with_ends} ({name})" for name, factor in behind.items()])
    measured = told(
        outcomes,
        PAPER_DATA,
        f"at ε = 1 Compressive with CoSaMP has so many times Laplace's error: {shown}. (“Slightly”: up to {SLIGHTLY}.)",
    )
    answers = {}
    for name, factor in behind.items():
        more = factor.above(SLIGHTLY)
        answers[name] = every(factor.above(1), None if more is None else not more)
    return sorted_out(answers, measured, lambda names: f"on {listed(names)}")


# ---- how it changes with the number of cells

NOT_MUCH = 2


def judge_small_data(outcomes: Outcomes) -> Judgement:
    """√n against S·log(n/S) of the S that were chosen, from the least to the most."""
    parts, close = [], []
    for name in PAPER_DATA:
        cells = int(outcomes.found("cells", part="facts", data=name))
        chosen = outcomes.found("sparsities", part="errors", data=name, mechanism=JUDGED, epsilon="1")
        ends = [sparsity * log2(cells / sparsity) for sparsity in (min(chosen), max(chosen))]
        parts.append(f"{sqrt(cells):.0f} against {ends[0]:.0f}–{ends[1]:.0f} ({name}, S = {min(chosen)}–{max(chosen)})")
        small = [sqrt(cells) <= NOT_MUCH * needed for needed in ends]
        close.append(small[0] if small[0] == small[1] else None)
    measured = (
        f"√n against S·log₂(n/S) for the S that were chosen at ε = 1: {listed(parts)}. (“Not much larger”: up to "
        f"{NOT_MUCH} times.)"
    )
    return judged(every(*close), told(outcomes, PAPER_DATA, measured))


def grows(ratios: list[Ratio]) -> Answer:
    """Whether each is larger than the one before."""
    orders = [later.compared_with(one) for one, later in pairwise(ratios)]
    return every(*(None if order == 0 else order > 0 for order in orders))


def judge_lead_shrinks_with_cells(outcomes: Outcomes) -> Judgement:
    """At ε = 1 Laplace's lead must be smaller on every larger data set."""
    sweep = Sweep(outcomes)
    names = sweep.by_size(PAPER_DATA)
    ratios = [sweep.ratio(name, "1", RIVAL) for name in names]
    shown = listed(
        [
            f"{ratio.inverse.with_ends} ({name}, n = {sweep.fact(name, 'cells'):,.0f})"
            for name, ratio in zip(names, ratios, strict=True)
        ]
    )
    measured = told(outcomes, PAPER_DATA, f"at ε = 1 the error of Compressive with CoSaMP over Laplace's is {shown}.")
    return judged(grows(ratios), measured)


def judge_advantage_grows_with_cells(outcomes: Outcomes) -> Judgement:
    """At every other ε the advantage must be larger on every larger data set."""
    sweep = Sweep(outcomes)
    names = sweep.by_size(PAPER_DATA)
    parts, answers = [], {}
    for epsilon in sweep.epsilons:
        if epsilon != "1":
            ratios = [sweep.ratio(name, epsilon, RIVAL) for name in names]
            parts.append(f"{', '.join(ratio.with_ends for ratio in ratios)} at ε = {epsilon}")
            answers[epsilon] = grows(ratios)
    measured = f"Laplace's error over that of Compressive with CoSaMP on {', '.join(names)}: {'; '.join(parts)}."
    return sorted_out(answers, told(outcomes, PAPER_DATA, measured), lambda budgets: f"for ε = {listed(budgets)}")


# ---- universal mechanisms, and the data that they are for

FOR_RANGES = ("hierarchical", "privelet")
RANGES = "range_errors"
CLOSE = 0.1
"""‖D − D*‖₂ over ‖D‖₂ of something very close."""
NEARLY_ALL = 0.95
SPARSE = 16
"""Sparse: at most n/16 coefficients hold 99 % of the energy."""


def judge_universal(outcomes: Outcomes) -> Judgement:
    """Any release of all cells can be asked anything; how well it answers, shows at sums over ranges."""
    sweep = Sweep(outcomes)
    cases = _cases(sweep)
    ahead = [sweep.ahead(*case, [*FOR_RANGES, "laplace"], kind=RANGES) for case in cases]
    useful = [sweep.ahead(*case, [FLOOR], kind=RANGES) for case in cases]
    behind = sum(sweep.ahead(*case, ["hierarchical"], kind=RANGES) is False for case in cases)
    factors = [f"{sweep.ratio(name, '1', 'hierarchical', kind=RANGES).inverse} ({name})" for name in PAPER_DATA]
    measured = (
        "Any query can be asked of any release of all cells, Laplace's too. Sums over 2,000 random ranges: at ε = 1 "
        f"Compressive with CoSaMP has so many times the error of HRMS: {listed(factors)}. It is ahead of Laplace, HRMS "
        f"and Privelet in {ahead.count(True)} of {len(cases)} cases (data × ε), behind HRMS in {behind}, and nearer "
        f"than zeros in {useful.count(True)}."
    )
    measured = told(outcomes, PAPER_DATA, measured)
    supports, best = some(*useful), every(*ahead)
    if not supports or best is None:
        return judged(supports if supports is False else None, measured)
    if best:
        return Judgement(Verdict.HOLDS, measured)
    only = "in that any query can be asked; sums over ranges are answered "
    return Judgement(Verdict.HOLDS_ONLY, measured, only + f"worse than by HRMS in {behind} of {len(cases)} cases")


def judge_arbitrary(outcomes: Outcomes) -> Judgement:
    """Single cells and sums over ranges must both be answered better than by zeros."""
    sweep = Sweep(outcomes)
    kinds = {"single cells": "errors", "sums over ranges": RANGES}
    answers = {
        f"{name} at ε = {epsilon}": every(*(sweep.ahead(name, epsilon, [FLOOR], kind=kind) for kind in kinds.values()))
        for name in PAPER_DATA
        for epsilon in sweep.epsilons
    }
    counts = [
        f"{what} in {sum(sweep.ahead(name, epsilon, [FLOOR], kind=kind) is True for name, epsilon in _cases(sweep))}"
        for what, kind in kinds.items()
    ]
    measured = (
        "Anything can be asked of all cells. Two kinds of query were: Compressive with CoSaMP answers "
        f"{listed(counts)} of {len(answers)} cases (data × ε) better than zeros do."
    )
    return sorted_out(answers, told(outcomes, PAPER_DATA, measured), lambda cases: f"on {listed(cases)}")


def _cases(sweep: Sweep) -> list[tuple[str, str]]:
    return [(name, epsilon) for name in PAPER_DATA for epsilon in sweep.epsilons]


def judge_very_close(outcomes: Outcomes) -> Judgement:
    """The relative error of the whole release."""
    sweep = Sweep(outcomes)
    relative = {case: sweep.ratio(*case, FLOOR).inverse for case in _cases(sweep)}
    parts = [f"{name} {', '.join(str(relative[name, epsilon]) for epsilon in sweep.epsilons)}" for name in PAPER_DATA]
    measured = (
        f"‖D − D*‖₂ of Compressive with CoSaMP over ‖D‖₂ at ε = {', '.join(sweep.epsilons)}: {'; '.join(parts)}. "
        f"From 1 on, zeros are as close. (“Very close”: up to {percent(CLOSE)}.)"
    )
    answers = {
        f"{name} at ε = {epsilon}": sweep.ratio(name, epsilon, FLOOR).above(1 / CLOSE) for name, epsilon in relative
    }
    return sorted_out(answers, told(outcomes, PAPER_DATA, measured), lambda cases: f"on {listed(cases)}")


def judge_ranges_only(outcomes: Outcomes) -> Judgement:
    """HRMS and Privelet asked for single cells: worse than Laplace everywhere."""
    sweep = Sweep(outcomes)
    factors = {rival: [sweep.ratio(*case, rival, "laplace") for case in _cases(sweep)] for rival in FOR_RANGES}
    shown = listed(
        [
            f"{times(min(one.value for one in of))}–{times(max(one.value for one in of))} ({rival})"
            for rival, of in factors.items()
        ]
    )
    measured = f"asked for all single cells, they have so many times Laplace's error: {shown}, over all ε."
    worse = every(*(one.above(1) for of in factors.values() for one in of))
    return judged(worse, told(outcomes, PAPER_DATA, measured))


def judge_adjacent(outcomes: Outcomes) -> Judgement:
    """Nearly every step from one cell to the next must be one record at most."""
    sweep = Sweep(outcomes)
    small = {name: sweep.fact(name, "steps_of_at_most_one") for name in PAPER_DATA}
    parts = [
        f"{name} {percent(share)} (the mean count is {sweep.fact(name, 'mean_count'):.2g})"
        for name, share in small.items()
    ]
    measured = f"pairs of adjacent cells that differ by at most one record: {listed(parts)}. (“Very close”: "
    measured = told(outcomes, PAPER_DATA, measured + f"{percent(NEARLY_ALL)} of them at least.)")
    answers: dict[str, Answer] = {name: share >= NEARLY_ALL for name, share in small.items()}
    return sorted_out(answers, measured, lambda names: f"on {listed(names)}")


def judge_sparse_data(outcomes: Outcomes) -> Judgement:
    """How few coefficients hold 99 % of the energy, in the better of the two bases."""
    parts, sparse = [], []
    names = outcomes.values("data")
    for name in names:
        found = outcomes.only(part="facts", data=name).found
        basis, few = min(found["coefficients"].items(), key=lambda one: one[1])
        parts.append(f"{name} {few:,} of {found['cells']:,} ({basis})")
        sparse.append(few <= found["cells"] / SPARSE)
    measured = f"99 % of ‖D‖₂² are in so many coefficients: {listed(parts)}. (“Sparse”: n/{SPARSE} at most.)"
    measured = told(outcomes, names, measured)
    return Judgement(Verdict.HOLDS if all(sparse) else Verdict.DOES_NOT_HOLD, measured)


# ---- whether the experiments justify all of what is said about accuracy

ACCURACY = {
    "“much more accurate”": judge_much_more_accurate,
    "“up to an order of magnitude”": judge_order_of_magnitude,
    "“cannot compete”": judge_cannot_compete,
    "larger as ε falls": judge_grows_as_epsilon_falls,
    "Laplace's lead smaller as n grows": judge_lead_shrinks_with_cells,
    "larger as n grows": judge_advantage_grows_with_cells,
}
"""What is said of the accuracy of the static mechanism."""


def judge_experiments_justify(outcomes: Outcomes) -> Judgement:
    """All of them hold, or none does, or some do under a condition."""
    verdicts = {what: judge(outcomes) for what, judge in ACCURACY.items()}
    shown = "; ".join(f"{what}: {judgement.in_words}" for what, judgement in verdicts.items())
    measured = told(outcomes, PAPER_DATA, f"what it says of accuracy in the static case came out here as: {shown}.")
    given = {judgement.verdict for judgement in verdicts.values()}
    if len(given) == 1 and given != {Verdict.HOLDS_ONLY}:
        return Judgement(given.pop(), measured)
    if given <= {Verdict.HOLDS, Verdict.UNDECIDED} or given == {Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED}:
        return Judgement(Verdict.UNDECIDED, measured)
    good, some = (
        [what for what, judgement in verdicts.items() if judgement.verdict is verdict]
        for verdict in (Verdict.HOLDS, Verdict.HOLDS_ONLY)
    )
    parts = [listed(good)] if good else []
    parts += [f"under its condition for {listed(some)}"] if some else []
    return Judgement(Verdict.HOLDS_ONLY, measured, f"for {'; '.join(parts)}".replace("for under", "under"))


# ---- the sentences

CLAIMS = (
    Claim(
        "Abstract",
        "Extensive experiments using real datasets justify our accuracy claims.",
        judge_experiments_justify,
    ),
    Claim(
        "Section 1",
        "The compressive sensing mechanism allows us to use less noise than previous synopsis proposals under certain "
        "conditions, and provides much more accurate statistical query results after decoding.",
        judge_much_more_accurate,
    ),
    Claim(
        "Section 1",
        "Unlike previous methods that focus on specific classes of queries, the compressive sensing mechanism is "
        "universal, supporting all possible queries on the decoded noisy data.",
        judge_universal,
    ),
    Claim(
        "Section 1",
        "We show that the compressive mechanism improves the accuracy of the result statistics by up to an order of "
        "magnitude, in both theoretical analysis as well as empirical studies.",
        judge_order_of_magnitude,
    ),
    Claim(
        "Section 2.1",
        "In contrast, our compressive sensing mechanism can handle arbitrary statistical queries.",
        judge_arbitrary,
    ),
    Claim(
        "Section 2.1",
        "However, neither the Haar wavelet transform nor tree structure can be generalized to answer other queries in "
        "a private and accurate way.",
        judge_ranges_only,
    ),
    Claim(
        "Section 4",
        "Since D* must be very close to D, utility can be guaranteed for any query.",
        judge_very_close,
    ),
    Claim(
        "Section 5.3",
        "In fact, many natural data sets have a sparse representation, and that is one reason why compressed sensing "
        "has been so widely used since its invention.",
        judge_sparse_data,
    ),
    Claim(
        "Section 7.1.2",
        "Overall, the Laplacian and HRMS mechanisms cannot compete with the compressive mechanism […]",
        judge_cannot_compete,
    ),
    Claim(
        "Section 7.1.2",
        "[…] and as ε becomes smaller, the compressive mechanism's advantage becomes larger.",
        judge_grows_as_epsilon_falls,
    ),
    Claim(
        "Section 7.1.2",
        "The exception is that for ε = 1, the Laplacian mechanism is better than the compressive mechanism.",
        judge_exception,
    ),
    Claim(
        "Section 7.1.2",
        "This is because our data set is small, and thus √n is not much larger than S log(n/S).",
        judge_small_data,
    ),
    Claim(
        "Section 7.1.2",
        "Combined with the reconstruction errors, the compressive mechanism is slightly worse than the Laplacian "
        "mechanism.",
        judge_slightly_worse,
    ),
    Claim(
        "Section 7.1.2",
        "As n becomes larger, from 11342 in Figure 4(a), 2¹⁵ = 32768 in Figure 4(b), to 2¹⁶ = 65536 in Figure 4(c), "
        "the advantage of the Laplacian mechanism for the case ε = 1 becomes smaller and smaller.",
        judge_lead_shrinks_with_cells,
    ),
    Claim(
        "Section 7.1.2",
        "For other choices of ε, the advantage of the compressive mechanism becomes larger and larger as n increases.",
        judge_advantage_grows_with_cells,
    ),
    Claim(
        "Section 7.2",
        "This is an appropriate choice because the three data sets of Hay, Rastogi, Miklau and Suciu have the property "
        "that every two adjacent elements in a file are very close to each other.",
        judge_adjacent,
    ),
)


def expect(outcomes: Outcomes) -> list[Expectation]:
    """Three things on the paper's files, all of Compressive with the paper's CoSaMP and i.i.d. signs.

    `SMALL` is the ε from which on it must be ahead of both.
    """
    if not of_files(outcomes, PAPER_DATA):
        return []
    sweep = Sweep(outcomes)
    lead = 1 / sweep.ratio("social_network", "1", RIVAL).value
    small = [epsilon for epsilon in sweep.epsilons if float(epsilon) <= SMALL]
    least = {
        name: min(sweep.ratio(name, epsilon, rival).value for rival in RIVALS for epsilon in small)
        for name in PAPER_DATA
    }
    ratios = {name: advantages(sweep, name) for name in PAPER_DATA}
    return [
        Expectation(
            "Laplace ahead of Compressive (CoSaMP) at ε = 1 on social_network",
            f"Laplace's error is {times(lead)} times smaller",
            lead > 1,
        ),
        Expectation(
            f"Compressive (CoSaMP) ahead of Laplace and of HRMS for ε ≤ {SMALL} on all three",
            "the least ratio of errors is " + ", ".join(f"{times(ratio)} ({name})" for name, ratio in least.items()),
            all(ratio > 1 for ratio in least.values()),
        ),
        Expectation(
            "the advantage of Compressive (CoSaMP) over Laplace grows as ε falls on all three: it is larger at the "
            "smallest ε than at ε = 1, and at no ε less than at a larger one (beyond the 95 % intervals of all pairs)",
            "; ".join(f"{name} {', '.join(map(str, of))}" for name, of in ratios.items()),
            all(not falls(of) and of[-1].compared_with(of[0]) > 0 for of in ratios.values()),
        ),
    ]
