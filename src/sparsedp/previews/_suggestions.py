"""What would be better where a question will be noise: fewer cells, another workload, or more budget.

Fewer cells and other workloads are simulated, a few times each. What more budget would give follows from the errors
that were simulated at half to four times of it, by a power law through them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, log, log10, prod, sqrt
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.axes import Axis, Categories, Integers
from sparsedp.axes.coarsening import Coarsening
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import Adaptive, Mechanism
from sparsedp.noise.source import SeededSource
from sparsedp.previews._made_up import ASKED
from sparsedp.previews._questions import NOISE, NOISE_FROM, Catalogue, Question
from sparsedp.previews._simulation import (
    AS_A_WHOLE,
    ASKED_FOR,
    Guess,
    PowerLaw,
    Scenario,
    Setting,
    errors_of,
    stand_ins,
)
from sparsedp.releases.sums import Part, Sums

_RUNS = 2
_RUN_ONCE = 2**14
"""Larger tables are simulated once for each shape."""
_USUAL = "linked"
"""Of the shapes that were tried this one is simulated again, beside the one with the largest errors."""
_BETTER = 0.9
"""What errors must fall to, to be worth a sentence."""
_FARTHEST = 8.0
"""No more budget is foretold than so many times what was asked for: twice the largest one simulated."""
_FLAT = 0.1
"""An error that falls more slowly than this power of the budget does not fall."""
_MOST_NAMED = 6
"""Marginals that a suggested workload names."""
_MOST_DRAWS = 1000
"""Of one release: the entries of a question share noise."""


def suggestions_for(
    domain: Domain,
    setting: Setting,
    scenarios: Sequence[Scenario],
    catalogue: Catalogue,
    rows: Sequence[dict[str, Any]],
) -> list[str]:
    """Up to three sentences, for the smaller total; none where nothing is noise."""
    total = min(scenario.guess.total for scenario in scenarios)
    found = {question.text: question for question in catalogue.questions}
    places = {question.text: place for place, question in enumerate(catalogue.questions)}
    noisy = [
        Noisy(found[row["question"]], places[row["question"]], row["relative"])
        for row in rows
        if row["total"] == total and row["verdict"] == NOISE
    ]
    noisy = [each for each in noisy if not each.question.cell] or noisy
    if not noisy:
        return []
    alike = [scenario for scenario in scenarios if scenario.guess.total == total]
    case = Case(domain, setting, alike, noisy)
    sentences = [_fewer_cells(case), _another_workload(case), _more_budget(case)]
    return [sentence for sentence in sentences if sentence is not None]


@dataclass(frozen=True)
class Noisy:
    """A question that will be noise, its place in the catalogue, and its error as a part of a typical entry.

    The cells are only among them if nothing else is: of a large table they nearly always are noise.
    """

    question: Question
    place: int
    relative: float


@dataclass(frozen=True)
class Case:
    """What is to be made better."""

    domain: Domain
    setting: Setting
    scenarios: Sequence[Scenario]
    noisy: Sequence[Noisy]

    @property
    def tried(self) -> list[Scenario]:
        """Those whose shapes are simulated again."""
        places = [each.place for each in self.noisy]
        worst = max(self.scenarios, key=lambda each: sum(log(each.error_of(place, ASKED_FOR)) for place in places))
        return [each for each in self.scenarios if each is worst or each.guess.shape == _USUAL]

    def errors(
        self, guesses: Sequence[Guess], table: Domain, cells: int, setting: Setting, questions: Sequence[Question]
    ) -> Floats:
        """The root mean square error of one entry of each of the questions, over the guesses."""
        marginals = [question for question in questions if question.names and not question.cell]
        source, runs = SeededSource(0), _RUNS if table.size <= _RUN_ONCE else 1
        squares = []
        for guess in guesses:
            found = errors_of(guess, table, cells, setting, marginals, ASKED_FOR, runs, source)
            left = iter(found[len(ASKED) :])
            usual = dict(zip(ASKED, found, strict=False))
            errors = [
                usual["cell"] if question.cell else next(left) if question.names else usual["total"]
                for question in questions
            ]
            squares.append(np.square(errors))
        return np.asarray(np.sqrt(np.mean(squares, axis=0)), dtype=np.float64)


def _in_words(noisy: Sequence[Noisy], names: Sequence[str], after: Sequence[float]) -> str:
    """What becomes of the noisy questions: the error of one of them, and how many are noise no longer."""
    saved = [place for place, relative in enumerate(after) if relative < NOISE_FROM]
    shown = max(saved, key=lambda place: noisy[place].relative) if saved else int(np.argmin(after))
    name, now = names[shown], _percent(noisy[shown].relative)
    example = f"{name} would be off by {_percent(after[shown])} of a typical entry, not {now}"
    if len(noisy) == 1:
        return example if saved else f"{example}: still noise"
    of = f"{len(saved) or 'none'} of the {len(noisy)} noisy questions would be noise no longer"
    return f"{of}; {example}"


def _percent(share: float) -> str:
    rounded = f"{100 * share:.2g}"
    return f"{float(rounded):,.0f} %" if float(rounded) >= 1 else f"{float(rounded):g} %"


# Fewer cells: an axis in groups.


@dataclass(frozen=True)
class _Coarser:
    """An axis in fewer groups: in the words of a sentence, as an axis, and with the group of each cell."""

    words: str
    axis: Axis
    group_of: Ints


def _fewer_cells(case: Case) -> str | None:
    """The axis that most of the noisy questions are about, in groups: the finest ones that are enough, simulated."""
    place = max(
        range(len(case.domain.axes)),
        key=lambda each: (len(_about(case, each)), case.domain.shape[each]),
    )
    noisy, axis = _about(case, place), case.domain.axes[place]
    options = list(_in_groups(axis))
    if not noisy or not options:
        return None
    least = min(each.relative for each in noisy)
    # The noise of one entry stays what it is; what an entry holds grows as there are fewer of them.
    enough = [each for each in options if least * each.axis.length / axis.length < NOISE_FROM]
    chosen = enough[0] if enough else options[-1]
    axes = [chosen.axis if number == place else each for number, each in enumerate(case.domain.axes)]
    try:
        domain = Domain(axes)
        if domain.size > AS_A_WHOLE:
            return None
        questions = [_asked_of(domain, case.domain, each.question, place) for each in noisy]
        guesses = [_guess_in_groups(each.guess, case.domain, place, chosen) for each in case.tried]
        errors = case.errors(guesses, domain, domain.size, case.setting, questions)
    except InvalidInput:  # an axis of that name, or a workload that names the fine one
        return None
    total = case.scenarios[0].guess.total
    after = [float(error) * question.entries / total for error, question in zip(errors, questions, strict=True)]
    if not _pays([each.relative for each in noisy], after):
        return None
    return f"Fewer cells: with {chosen.words}, {_in_words(noisy, [each.text for each in questions], after)}."


def _about(case: Case, place: int) -> list[Noisy]:
    """The noisy questions that name an axis cell by cell."""
    return [each for each in case.noisy if case.domain.names[place] in each.question.names]


def _in_groups(axis: Axis) -> Iterator[_Coarser]:
    """Ways to have fewer cells on an axis, from the finest: its own stretches and groups, else neighbours together."""
    declared = sorted(axis.coarsenings.values(), key=lambda each: -each.groups)
    if declared:
        for each in declared:
            # A rhythm is no substitute for time: what is wanted is months, not Januaries.
            if not axis.ordered or (np.diff(each.group_of) >= 0).all():
                yield _named(axis, each)
        return
    together = 2
    while axis.length > together:
        groups = ceil(axis.length / together)
        kind = Integers(axis.name, 0, groups - 1) if axis.ordered else Categories(axis.name, range(groups))
        words = f"{axis.name} in {groups} groups of {together} {'neighbours' if axis.ordered else 'labels'}"
        yield _Coarser(words, kind, np.arange(axis.length) // together)
        together *= 2


def _named(axis: Axis, coarsening: Coarsening) -> _Coarser:
    return _Coarser(f"{coarsening.axis.name} in place of {axis.name}", coarsening.axis, coarsening.group_of)


def _asked_of(coarse: Domain, fine: Domain, question: Question, place: int) -> Question:
    """The same question, of the table with the coarser axis."""
    name = fine.names[place]
    names = tuple(coarse.names[place] if each == name else each for each in question.names)
    if question.cell:
        return Question(names, coarse.size, cell=True)
    return Question(names, prod(coarse.axis(each).length for each in names))


def _guess_in_groups(guess: Guess, domain: Domain, place: int, coarser: _Coarser) -> Guess:
    """The same guess of the coarser table; shares that the caller gave are added up."""
    if guess.shares is None:
        return guess
    parts = [Part(number, length) for number, length in enumerate(domain.shape)]
    parts[place] = Part(place, coarser.axis.length, coarser.group_of)
    return replace(guess, shares=Sums(domain.shape, tuple(parts)).of(guess.shares))


# Another workload, or the default mechanism in place of another.


def _another_workload(case: Case) -> str | None:
    """The one that gives the noisy questions the least errors, simulated beside what was asked for."""
    questions, guesses = [each.question for each in case.noisy], [each.guess for each in case.tried]
    # A guess at every cell's share is a guess at no smaller table.
    table = stand_ins(case.domain)[-1] if guesses[0].shares is None else case.domain
    if table.size > AS_A_WHOLE:
        return None
    before = case.errors(guesses, table, case.domain.size, case.setting, questions)
    best: tuple[float, str, Floats] | None = None
    for mechanism, words in _others(case):
        setting = replace(case.setting, mechanism=mechanism)
        try:
            after = case.errors(guesses, table, case.domain.size, setting, questions)
        except InvalidInput:
            continue  # the smaller table has no such groups, or the budget is too small for so many
        ratio = after / before
        mean = float(np.exp(np.mean(np.log(np.maximum(ratio, 1e-9)))))
        if isfinite(mean) and mean <= _BETTER and (best is None or mean < best[0]):
            best = (mean, words, ratio)
    if best is None:
        return None
    expected = [each.relative * float(ratio) for each, ratio in zip(case.noisy, best[2], strict=True)]
    return f"Another workload: with {best[1]}, {_in_words(case.noisy, [each.text for each in questions], expected)}."


def _others(case: Case) -> Iterator[tuple[Mechanism, str]]:
    """Mechanisms that may suit the noisy questions better."""
    now = case.setting.mechanism
    marginals = [each.question.names for each in case.noisy if each.question.names and not each.question.cell]
    offered: list[Adaptive] = []
    if not isinstance(now, Adaptive):
        offered.append(Adaptive())
    if not marginals:
        offered.append(Adaptive("cells"))
    if marginals and sum(axis.length > 1 for axis in case.domain.axes) > 1:
        offered.append(Adaptive("marginals"))
    if 0 < len(marginals) <= _MOST_NAMED:
        offered.append(Adaptive(marginals))
    for each in offered:
        if each != now:
            cost = "" if isinstance(each.workload, str) else " (what it does not name is off by more)"
            yield each, f"Adaptive({_workload(each)}){cost}"


def _workload(mechanism: Adaptive) -> str:
    """As it is typed in Python, and, where it is a text, on the command line."""
    if mechanism.workload == "any":
        return ""
    text = mechanism.workload_text
    # One axis alone reads as the name of a workload.
    return f'"{text}"' if isinstance(mechanism.workload, str) or {"*", ","} & set(text) else repr([*mechanism.workload])


def _pays(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether the questions are better for it, on average."""
    ratios = np.maximum(np.array(after) / np.array(before), 1e-9)
    return bool(np.exp(np.mean(np.log(ratios))) <= _BETTER)


# More budget: by a power law through the errors at half to four times of it.


def _more_budget(case: Case) -> str | None:
    """From which budget on the least noisy question is noise no longer, and the noisiest."""
    factors = [_factor_for(case, each) for each in case.noisy]
    budget = case.setting.budget
    letter, power = ("ρ", 2) if budget.epsilon is None else ("ε", 1)
    now = float(budget.rho or 0) if budget.epsilon is None else float(budget.epsilon)
    first = int(np.argmin(factors))
    name = case.noisy[first].question.text
    far = f"more than {_FARTHEST**power:.0f} times {letter}"
    if factors[first] > _FARTHEST:
        subject = name if len(factors) == 1 else f"each of the {len(factors)} noisy questions"
        return f"More budget: {subject} would take {far}."
    sentence = f"More budget: from {letter} = {_rounded_up(now * factors[first] ** power)} {name} is noise no longer"
    if len(factors) == 1:
        return f"{sentence}."
    most = max(factors)
    if most > _FARTHEST:
        beyond = sum(factor > _FARTHEST for factor in factors)
        return f"{sentence}; {beyond} of the {len(factors)} noisy questions would take {far}."
    enough = _rounded_up(now * most**power)
    return f"{sentence}, and from {letter} = {enough} none of the {len(factors)} noisy questions is."


def _factor_for(case: Case, noisy: Noisy) -> float:
    """How much wider the budget must be for the error to be below that of noise."""
    draws = min(noisy.question.entries, _MOST_DRAWS)
    points = []
    for factor in case.scenarios[0].asked:
        errors = [each.error_of(noisy.place, factor) for each in case.scenarios if factor in each.asked]
        runs = sum(each.runs[factor] for each in case.scenarios if factor in each.runs)
        points.append((float(factor), sqrt(float(np.mean(np.square(errors)))), runs * draws))
    law = PowerLaw.through(points)
    if law is None or law.slope < _FLAT:
        return inf
    return float((noisy.relative / NOISE_FROM) ** (1 / law.slope))


def _rounded_up(budget: float) -> str:
    """To two digits, and so that the promise holds: 0.052, 1.3, 140."""
    digits = 1 - floor(log10(budget))
    rounded = ceil(round(budget * 10.0**digits, 6)) / 10.0**digits
    return f"{rounded:,.{max(0, digits)}f}"
