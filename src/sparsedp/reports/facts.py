"""What was published, in a few lines: figures to see at a glance, and facts to look up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.releases.uncertainty import Interval, normal_quantile
from sparsedp.reports.axis_words import axis_in_words
from sparsedp.reports.bands import LEVEL
from sparsedp.reports.figures import error_alone, with_error
from sparsedp.reports.moments_in_words import instant_in_words
from sparsedp.reports.views import axes_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MADE = {
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
    typical = typical_error(release)
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
        notes.append("values clamped to declared bounds")
    records = "All records" if counted is None else "Records counted"
    name = records if value is None else f"Total {value}"
    return Figure(name, with_error(total_of(release)), "; ".join(notes))


def total_of(release: Release) -> Interval:
    """The sum of all cells; without a range where the error of a sum is not known."""
    try:
        return release.interval(np.ones(release.shape), LEVEL)
    except InvalidInput:
        total = float(release.values.sum())
        return Interval(-np.inf, np.inf, total, LEVEL)


def typical_error(release: Release) -> float | None:
    """The median of the cells' standard errors."""
    if release.stderr is None:
        return None
    error = float(np.median(release.stderr))
    return error if np.isfinite(error) else None


def facts(release: Release) -> list[tuple[str, str]]:
    """Names and values, for a list."""
    found = [("What is counted", _counted(release))]
    found += [(f"Axis “{axis.name}”", axis_in_words(axis)) for axis in axes_of(release)]
    shape = " × ".join(f"{length:,}" for length in release.shape)
    found.append(("Numbers", f"{len(release):,}" + (f" = {shape}" if len(release.shape) > 1 else "")))
    found.append(("How they were made", MADE.get(release.mechanism, release.mechanism.replace("_", " "))))
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
    for expense in release.guarantee.expenses:
        spent = parts.get(expense.purpose)
        parts[expense.purpose] = expense.budget if spent is None else spent + expense.budget
    return {purpose: budget.amount for purpose, budget in parts.items()}


def _signed(release: Release) -> str:
    if release.signature is None:
        return "by nobody: anybody could have written this file"
    elsewhere = "Anybody can make a key: compare it with the one that the publisher shows elsewhere."
    return f"with the key {release.signature.fingerprint}. {elsewhere}"


def _counted(release: Release) -> str:
    if release.quantity.value is None:
        return "records: how many there are in each cell"
    return f"the sum of “{release.quantity.value}” in each cell"
