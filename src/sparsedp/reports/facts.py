"""What was published, in a few lines: figures to see at a glance, and facts to look up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.releases.uncertainty import Interval, normal_quantile
from sparsedp.reports.bands import LEVEL
from sparsedp.reports.figures import decimals_for, with_error
from sparsedp.reports.groupings import zone_of
from sparsedp.reports.time_groups import own_unit
from sparsedp.reports.views import axes_of
from sparsedp.version import __version__

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MOST_LABELS = 8
LONGEST_LABEL = 40


def default_title(release: Release) -> str:
    """ "Records by day and sex"."""
    names = [axis.name for axis in axes_of(release)]
    by = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    what = str(release.quantity)
    return f"{what[:1].upper()}{what[1:]} by {by}"


def key_figures(release: Release) -> list[tuple[str, str]]:
    """The total, the cells, the budget, and how far a cell is off."""
    records = "All records" if release.guarantee.neighbours.counted is None else "Records counted"
    name = records if release.quantity.value is None else f"Total {release.quantity.value}"
    figures = [(name, with_error(total_of(release)))]
    figures.append(("Published numbers", f"{len(release):,}"))
    figures.append(("Privacy budget", release.spent.amount if release.private else "none: NOT PRIVATE"))
    typical = typical_error(release)
    if typical is not None:
        half = normal_quantile(LEVEL) * typical
        figures.append(("Typical range of one number", f"± {half:,.{decimals_for(half)}f}"))
    return figures


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
    found.append(("Cells", f"{len(release):,}" + (f" = {shape}" if len(release.shape) > 1 else "")))
    found.append(("Mechanism", release.mechanism.replace("_", " ")))
    found.append(("Recovery", f"{release.recovery.get('name', 'none')}: {release.recovery.get('status', 'no status')}"))
    bought = _bought(release)
    if len(bought) > 1:
        parts = "; ".join(f"{purpose}: {amount}" for purpose, amount in bought.items())
        found.append(("What the budget bought", parts))
    if release.record and release.record.get("time"):
        found.append(("Noise drawn", str(release.record["time"])))
    found.append(("Written by", f"sparsedp {__version__}"))
    return found


def ledger_line(record: Any) -> list[tuple[str, str]]:
    """What the ledger says of this release in public."""
    if not record:
        return []
    names = [
        ("data_set", "Data set"),
        ("spend", "Entry number"),
        ("time", "Time"),
        ("total", "Budget of the data set"),
        ("spent", "Spent, this release included"),
        ("left", "Left"),
    ]
    return [(name, str(record[key])) for key, name in names if record.get(key) is not None]


def axis_in_words(axis: Axis) -> str:
    """What its cells are."""
    if isinstance(axis, Categories):
        shown = ", ".join(_short(str(label)) for label in axis.labels[:MOST_LABELS])
        more = f" and {axis.length - MOST_LABELS:,} more" if axis.length > MOST_LABELS else ""
        return f"{axis.length:,} label{'s' if axis.length > 1 else ''}: {shown}{more}"
    if isinstance(axis, Integers):
        return f"whole numbers from {axis.first:,} to {axis.last:,}"
    if isinstance(axis, Bins):
        return f"{axis.length:,} bin{'s' if axis.length > 1 else ''} from {axis.edges[0]:g} to {axis.edges[-1]:g}"
    if isinstance(axis, Calendar):
        (times,) = axis.columns().values()
        _, called = own_unit(times.astype(np.int64))
        first, last = (_moment(time) for time in (times[0], times[-1]))
        zone = zone_of(axis)
        cells = f"{axis.length:,} {called}{'s' if axis.length > 1 and not called.endswith('s') else ''}"
        return f"{cells}, {first} to {last}" + (f" ({zone})" if zone else "")
    return f"{axis.length:,} cells"


def _bought(release: Release) -> dict[str, str]:
    """What was spent on each purpose, all its parts together."""
    parts: dict[str, Budget] = {}
    for expense in release.guarantee.expenses:
        spent = parts.get(expense.purpose)
        parts[expense.purpose] = expense.budget if spent is None else spent + expense.budget
    return {purpose: budget.amount for purpose, budget in parts.items()}


def _counted(release: Release) -> str:
    if release.quantity.value is None:
        return "records, one number for each cell"
    return f"the sum of “{release.quantity.value}”, one number for each cell"


def _moment(time: np.datetime64) -> str:
    text = str(time.astype("datetime64[s]")).replace("T", " ")
    return text.removesuffix(" 00:00:00").removesuffix(":00") if text.endswith(":00") else text


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
