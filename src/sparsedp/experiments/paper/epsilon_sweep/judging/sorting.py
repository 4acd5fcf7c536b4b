"""Verdicts on a claim about many cases, of which some may hold, some not, and some be left open by the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data_names import listed
from sparsedp.experiments.paper.deciding import Answer


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
