"""Whether the compressive mechanism beats its rivals, by how much, and whether that is worth anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, told
from sparsedp.experiments.paper.deciding import Answer
from sparsedp.experiments.paper.epsilon_sweep.contenders import JUDGED
from sparsedp.experiments.paper.epsilon_sweep.hindsight import KNOWN
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Sweep
from sparsedp.experiments.paper.epsilon_sweep.judging.standing import Standing
from sparsedp.experiments.paper.outcomes import Outcomes

ORDER_OF_MAGNITUDE, MUCH = 10, 2
OURS = "compressive tree"
PREVIOUS = ("laplace", "hierarchical", "privelet")
PRIVATE = {JUDGED: "CoSaMP", "compressive bp": "basis pursuit", OURS: "our decoder"}
DECODERS = {**PRIVATE, KNOWN: "CoSaMP and the best S known beforehand"}


def judge_cannot_compete(
    outcomes: Outcomes, names: Sequence[str] = PAPER_DATA, by: float = 1.0, judged: str = JUDGED
) -> Judgement:
    """Ahead of both by a factor at every ε but 1, the paper's own exception; and where not, from which ε on."""
    standing = Standing(Sweep(outcomes), names, judged=judged)
    ahead, unsure, behind = (standing.where(answer, by) for answer in (True, None, False))
    worthless = [case for case in ahead if standing.useful(case) is False]
    by_what = "ahead of both" if by == 1 else f"ahead of both by more than a factor of {by:g}"
    measured = (
        f"Compressive with {DECODERS[judged]} is {by_what} in {len(ahead)} of {len(standing.cases)} cases (data × ε), "
        f"and in {len(worthless)} of those publishing zeros is nearer still ({_others(standing, by)}); in "
        f"{len(unsure)} the 95 % intervals do not tell."
    )
    measured = told(outcomes, names, measured)
    sure, possible = standing.ahead_from(ahead), standing.ahead_from([*ahead, *unsure])
    if possible is None:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if sure is None:
        return Judgement(Verdict.UNDECIDED, measured)
    if not any(standing.useful(case) for case in ahead):
        still = "is nearer still" if len(worthless) == len(ahead) else "may be nearer still"
        return Judgement(Verdict.HOLDS_ONLY, measured, f"for ε ≤ {sure}, where publishing zeros {still}")
    if any(case.epsilon != "1" for case in behind):
        return Judgement(Verdict.HOLDS_ONLY, measured, f"for ε ≤ {sure}")
    doubtful = any(case.epsilon != "1" for case in unsure)
    return Judgement(Verdict.UNDECIDED if doubtful else Verdict.HOLDS, measured)


def _others(standing: Standing, by: float) -> str:
    """The same of the other decoders, in few words."""
    parts = []
    for judged, shown in DECODERS.items():
        if judged != standing.judged and judged in standing.sweep.mechanisms:
            other = replace(standing, judged=judged)
            ahead = other.where(True, by)
            parts.append(f"with {shown} {len(ahead)} and {sum(other.useful(case) is False for case in ahead)}")
    return ", ".join(parts)


def judge_order_of_magnitude(outcomes: Outcomes) -> Judgement:
    """Ten times nearer than the better of the two; what is worse than publishing zeros is no improvement."""
    standing = Standing(Sweep(outcomes), PAPER_DATA)
    largest = standing.best()
    assert largest is not None  # noqa: S101  # there is always a case
    parts = [f"with {shown} {_at_best(replace(standing, judged=judged))}" for judged, shown in PRIVATE.items()]
    measured = (
        f"With CoSaMP the largest advantage over the better of Laplace and HRMS is {largest[0].with_ends} times "
        f"({largest[1]}). Where it is surely nearer than publishing zeros, the largest is {'; '.join(parts)}. (An "
        f"order of magnitude: {ORDER_OF_MAGNITUDE}.)"
    )
    ours = replace(standing, judged=OURS)
    return _first_true(
        told(outcomes, PAPER_DATA, measured),
        standing.somewhere(ORDER_OF_MAGNITUDE, only_useful=True),
        (ours.somewhere(ORDER_OF_MAGNITUDE, only_useful=True), "with a better decoder"),
        (standing.somewhere(ORDER_OF_MAGNITUDE, only_useful=False), "where publishing zeros is nearer than either"),
    )


def _at_best(standing: Standing) -> str:
    best = standing.best(only_useful=True)
    if best is None:
        return "none, as it never is"
    if best[0].log <= 0:
        return f"none (at best {best[0]} times, {best[1]})"
    return f"{best[0].with_ends} times ({best[1]})"


def judge_much_more_accurate(outcomes: Outcomes) -> Judgement:
    """Some case in which it is twice as near as all of them, and nearer than zeros."""
    sweep = Sweep(outcomes)
    parts, answers = [], {}
    for judged, shown in PRIVATE.items():
        standing = Standing(sweep, PAPER_DATA, PREVIOUS, judged)
        ahead = standing.where(True, MUCH)
        good = [case for case in ahead if standing.useful(case)]
        answers[judged] = standing.somewhere(MUCH, only_useful=True)
        where = f" ({listed([str(case) for case in good])})" if good else ""
        parts.append(
            f"with {shown} in {len(ahead)} of {len(standing.cases)} cases, and in {len(good)} of those nearer "
            f"than zeros{where}"
        )
    measured = (
        f"“Much”: at least {MUCH} times nearer than Laplace, HRMS and Privelet, beyond the 95 % intervals: "
        f"{'; '.join(parts)}."
    )
    return _first_true(
        told(outcomes, PAPER_DATA, measured),
        answers[JUDGED],
        (answers[OURS], "with a better decoder than the paper's"),
    )


def _first_true(measured: str, holds: Answer, *conditions: tuple[Answer, str]) -> Judgement:
    """It holds, or under the first condition that is surely met; not at all only if surely none is."""
    if holds is not False:
        return Judgement(Verdict.HOLDS if holds else Verdict.UNDECIDED, measured)
    for answer, only in conditions:
        if answer:
            return Judgement(Verdict.HOLDS_ONLY, measured, only)
    open_ones = any(answer is None for answer, _ in conditions)
    return Judgement(Verdict.UNDECIDED if open_ones else Verdict.DOES_NOT_HOLD, measured)
