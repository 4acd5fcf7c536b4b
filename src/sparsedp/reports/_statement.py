"""What was published, and what it promises, in plain words."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import epsilon_of
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.releases import means
from sparsedp.releases.means import caveat
from sparsedp.releases.uncertainty import Interval, normal_quantile
from sparsedp.reports._views import LEVEL, axes_of
from sparsedp.reports.words import (
    axis_in_words,
    chance,
    error_alone,
    factor,
    instant_in_words,
    one_in,
    other_chance,
    with_error,
)
from sparsedp.validate import shown

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


# What was published, in a few lines: figures to see at a glance, and facts to look up.

_MADE = {
    "adaptive": "adaptively: sums of neighbouring cells were measured, beside the cells or, where these look even, "
    "instead of them; and noise was smoothed away",
    "laplace": "directly: every cell got its own noise",
    "hierarchical": "as a tree: sums of ever larger ranges were measured, and made to agree",
    "privelet": "by wavelets: averages and differences of neighbouring ranges were measured",
    "compressive": "compressed: random mixtures of all cells were measured, and the cells worked out from them",
    "continual_adaptive": "as a stream: every tick got its noise when it arrived, and noise was smoothed away where "
    "ticks look even",
    "continual_counter": "as a stream: running totals were measured while it went on",
    "continual_difference": "as a stream: running totals were measured while it went on, and subtracted",
    "continual_compressive": "as a stream, compressed: random mixtures of its ticks were measured while it went on",
}
"""How mechanisms work, in half a sentence."""


class Figure(NamedTuple):
    """A number to see at a glance, and what to know of it."""

    name: str
    value: str
    note: str = ""


def key_figures(release: Release) -> list[Figure]:
    """The total, the cells, the budget, and how far a cell is off."""
    figures = [_total(release), Figure("Published numbers", f"{len(release):,}")]
    figures.append(Figure("Privacy budget", release.spent.amount if release.private else "none: NOT PRIVATE"))
    typical = _typical_error(release)
    if release.counts is not None:
        figures.insert(1, Figure(f"Mean {release.quantity.value}", with_error(_mean_of(release)), caveat(release)))
    if typical:
        figures.append(Figure("Typical range of one number", error_alone(normal_quantile(LEVEL) * typical)))
    return figures


def _total(release: Release) -> Figure:
    counted, value = release.guarantee.neighbours.counted, release.quantity.value
    notes = []
    if counted is not None and counted.unit is not None:
        records = "" if value is None else f" record{'s' if counted.records > 1 else ''}"
        notes.append(f"at most {counted.records:,}{records} per {' and '.join(counted.unit)}")
    if counted is not None and value is not None:
        # Records are never summed without bounds on their values.
        clamp = release.quantity.clamp
        bounds = "declared bounds" if clamp is None else f"{shown(clamp[0])} to {shown(clamp[1])}"
        notes.append(f"values clamped to {bounds}")
    records = "All records" if counted is None else "Records counted"
    name = records if value is None else f"Total {value}"
    return Figure(name, with_error(_total_of(release)), "; ".join(notes))


def _total_of(release: Release) -> Interval:
    """The sum of all cells; without a range where the error of a sum is not known."""
    try:
        return release.interval(np.ones(release.shape), LEVEL)
    except InvalidInput:
        total = float(release.values.sum())
        return Interval(-np.inf, np.inf, total, LEVEL)


def _mean_of(release: Release) -> Interval:
    """Of the value, over all records that were counted; without a range where the error of a sum is not known."""
    try:
        return means.mean(release, LEVEL)
    except InvalidInput:
        count = 0.0 if release.counts is None else float(release.counts.values.sum())
        estimate = float(release.values.sum()) / count if count > 0 else np.nan
        return Interval(-np.inf, np.inf, estimate, LEVEL)


def _typical_error(release: Release) -> float | None:
    """The median of the cells' standard errors."""
    if release.stderr is None:
        return None
    error = float(np.median(release.stderr))
    return error if np.isfinite(error) else None


def facts(release: Release) -> list[tuple[str, str]]:
    """Names and values, for a list."""
    found = [("What is counted", _counted(release))]
    if release.cut is not None:
        found.append(("What is left out", str(release.cut)))
    found += [(f"Axis “{axis.name}”", axis_in_words(axis)) for axis in axes_of(release)]
    shape = " × ".join(f"{length:,}" for length in release.shape)
    found.append(("Numbers", f"{len(release):,}" + (f" = {shape}" if len(release.shape) > 1 else "")))
    found.append(("How they were made", _MADE.get(release.mechanism, release.mechanism.replace("_", " "))))
    if release.record and release.record.get("time"):
        found.append(("Noise drawn", instant_in_words(str(release.record["time"]))))
    found.append(("File written by", release.written_by))
    found.append(("Signed", _signed(release)))
    return found


def details(release: Release) -> list[tuple[str, str]]:
    """What only specialists ask for, in the library's own words."""
    found = [("Mechanism", release.mechanism)]
    found.append(("Recovery", f"{release.recovery.get('name', 'none')}: {release.recovery.get('status', 'no status')}"))
    parts = "; ".join(f"{purpose}: {amount}" for purpose, amount in bought(release).items())
    found.append(("What the budget bought", parts))
    return found


def ledger_line(record: Any) -> list[tuple[str, str]]:
    """What the ledger says of this release in public."""
    if not record:
        return []
    names = [
        ("data_set", "Data set"),
        ("spend", "Line in the ledger"),
        ("time", "Written down"),
        ("total", "Budget for all releases from it"),
        ("spent", "Spent so far, with this release"),
        ("left", "Left for later releases"),
    ]
    shown = {"time": instant_in_words, "spend": "no. {}".format}
    return [(name, shown.get(key, str)(str(record[key]))) for key, name in names if record.get(key) is not None]


def bought(release: Release) -> dict[str, str]:
    """What was spent on each purpose, all its parts together."""
    parts: dict[str, Budget] = {}
    guarantee = release.guarantee
    counts = () if guarantee.counts is None else guarantee.counts.expenses
    beside = [(f"{expense.purpose} (counts)", expense.budget) for expense in counts]
    for purpose, budget in [*((expense.purpose, expense.budget) for expense in guarantee.expenses), *beside]:
        spent = parts.get(purpose)
        parts[purpose] = budget if spent is None else spent + budget
    return {purpose: budget.amount for purpose, budget in parts.items()}


def _signed(release: Release) -> str:
    if release.signature is None:
        return "by nobody: anybody could have written this file"
    elsewhere = "Anybody can make a key: compare it with the one that the publisher shows elsewhere."
    return f"with the key {release.signature.fingerprint}. {elsewhere}"


def _counted(release: Release) -> str:
    if release.quantity.value is None:
        return "records: how many there are in each cell"
    beside = "" if release.counts is None else ", and of how many records it is the sum"
    return f"the sum of “{release.quantity.value}” in each cell{beside}"


# The privacy statement in plain words: what the promise means for one person.

USUAL_DELTA = Fraction(1, 10**6)
"""Where a promise is in ρ alone, its odds are told at this δ."""
_WEAK = Fraction(3)
"""Beyond it odds change more than twentyfold, and a reader should know."""
_NOT_PRIVATE = (
    "The noise in these numbers came from a source that can be repeated, as is done in tests. "
    "Whoever repeats it gets the true numbers back. Do not publish this page or its file."
)


def promise_in_words(guarantee: Guarantee) -> list[str]:
    """Paragraphs for a reader who has never heard of differential privacy; the strict form is `str(guarantee)`."""
    if not guarantee.private:
        return [_NOT_PRIVATE]
    told = _told(guarantee.spent)
    parts = [
        _noise(guarantee),
        _odds(guarantee, told),
        *_slack(guarantee, told),
        *_strength(told),
        *_whom(guarantee),
        *_stray_quotes(guarantee),
        *_public_totals(guarantee),
        *_intruders(guarantee),
    ]
    return [part for part in parts if part]


def not_promised(guarantee: Guarantee) -> list[str]:
    """What such a promise never says, and readers tend to hear."""
    if not guarantee.private:
        return []
    return [
        "It does not hide what is true of many people together: that is what was published. A pattern that holds for "
        "a whole group may be guessed of each of its members, whether or not they are in the data.",
        "Other publications from the same data add to this one: the amounts of all of them add up.",
    ]


def _told(spent: Budget) -> Budget:
    """The (ε, δ) whose odds are told."""
    if spent.epsilon is not None:
        return spent
    return Budget(epsilon=epsilon_of(spent.rho, USUAL_DELTA), delta=USUAL_DELTA)


def _noise(guarantee: Guarantee) -> str:
    return (
        f"Random noise was added to the numbers before they were published: enough to hide whether any one "
        f"{protected_unit(guarantee)} is among them, and little enough to keep what is true of many."
    )


def protected_unit(guarantee: Guarantee) -> str:
    """What one of is hidden: a person, an event of a stream, or a record where every record is another person's."""
    counted = guarantee.neighbours.counted
    if guarantee.neighbours.unit == "event":
        return "event"
    return "record" if counted is not None and counted.unit is None else "person"


def _odds(guarantee: Guarantee, told: Budget) -> str:
    assert told.epsilon is not None  # noqa: S101  # that is what was told
    epsilon = told.epsilon
    one = protected_unit(guarantee)
    if guarantee.neighbours.relation == "replace_one":
        wonder = "which of two things your records say"
        wonder = wonder if one == "person" else f"which of two things one {one} of yours was"
    else:
        wonder = "whether your records are" if one == "person" else f"whether one {one} of yours is"
        wonder += " in these data"
    return (
        f"Suppose somebody wonders {wonder}, and holds both for equally likely. Whatever else they know, and however "
        f"long they study what was published, their odds change by at most a factor of {factor(epsilon)}: "
        f"from 50 % to no more than {chance(epsilon)} and no less than {other_chance(epsilon)}. "
        f"({factor(epsilon)} is e to the power of ε = {float(epsilon):.4g}; the smaller ε, the stronger the promise.)"
    )


def _slack(guarantee: Guarantee, told: Budget) -> list[str]:
    parts = []
    if guarantee.spent.epsilon is None:
        parts.append(
            f"The budget was counted as {guarantee.spent.amount} of zero-concentrated differential privacy. Among "
            f"other things that gives the odds above, at ε = {float(told.epsilon or 0):.4g} and δ {one_in(told.delta)}."
        )
    if told.delta:
        parts.append(
            f"This holds up to a slack of δ, {one_in(told.delta)}: it may be read as the chance that the noise "
            "protects somebody less than that."
        )
    return parts


def _strength(told: Budget) -> list[str]:
    if told.epsilon is None or told.epsilon <= _WEAK:
        return []
    return ["That is a large factor: a promise of this size is weak."]


def _whom(guarantee: Guarantee) -> list[str]:
    neighbours, counted = guarantee.neighbours, guarantee.neighbours.counted
    step = Fraction(1) if counted is None else counted.resolution
    most = neighbours.contribution * step
    bound = f"the numbers by at most {f'{most.numerator:,}' if most.denominator == 1 else shown(most)} in total"
    if guarantee.counts is not None:
        counts = guarantee.counts.neighbours.contribution
        bound = f"{bound.replace('numbers', 'sums')}, and the counts beside them by at most {counts:,}"
    if neighbours.unit == "event":
        protected = f"one event, which changes {bound}, and not all that one person ever did"
        return [f"What is protected is {protected}. {_several(guarantee, 'events')}"]
    if counted is not None and counted.unit is None:
        protected = f"one record, which changes {bound}: it was declared that every record is another person's"
        return [f"What is protected is {protected}. {_several(guarantee, 'records')}"]
    if counted is not None and counted.unit is not None:
        records = f"{counted.records:,} record{'s' if counted.records > 1 else ''}"
        return [
            f"What is protected is one person: all records with the same {' and '.join(counted.unit)}. Of each person "
            f"at most {records} were counted, which change {bound}; any others were left out."
        ]
    always = " over the whole stream" if neighbours.unit == "person" else ""
    return [f"What is protected is all that one person adds{always}: it changes {bound}."]


def _several(guarantee: Guarantee, things: str) -> str:
    """Who is there several times is protected less."""
    each = guarantee.spent.epsilon if not guarantee.spent.delta else None
    example = "" if each is None else f": with ten of them the factor is up to {factor(10 * each)}"
    return f"For somebody with several {things} the promise is weaker, as many times over{example}."


def _stray_quotes(guarantee: Guarantee) -> list[str]:
    counted = guarantee.neighbours.counted
    if counted is None or not counted.multiline:
        return []
    return [
        "The records were read from a text file in which, as was declared, a field may have several lines. A quote "
        "that one person's record leaves open can then make records of others unreadable, and this promise does not "
        "cover what that changes."
    ]


def _public_totals(guarantee: Guarantee) -> list[str]:
    if not guarantee.neighbours.invariant:
        return []
    return ["Some totals were declared public beforehand. They are exact, and this promise does not cover them."]


def _intruders(guarantee: Guarantee) -> list[str]:
    often = {"one": "once", "any": "any number of times"}.get(guarantee.intrusions or "")
    if often is None:
        return []
    return [
        "The numbers were protected while they arrived: the promise holds even against an intruder who looks into the "
        f"machine {often} while it runs."
    ]
