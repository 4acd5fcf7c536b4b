"""How to read the page, for readers who have never seen a number with a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsedp.reports.view import View
from sparsedp.reports.what_ranges_miss import what_ranges_miss

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MOST_NAMED = 8
RANGES = {
    "line": "in a line chart it is the shaded band",
    "bars": "in a bar chart it is the thin line at the end of each bar",
    "lines": "in a chart of several lines it is the shaded band of each",
    "heat": "in a heat map it is told when you choose a square",
}
NOISE_FADED = (
    "In a heat map the eye finds a pattern in any noise. So a square stands out only as far as its range says that it "
    "must: where its difference from its row and column could be noise, it has the colour that these lead one to "
    "expect. “The value, plain” shows the numbers as they are."
)


def reading(release: Release, views: list[View], left_out: list[str]) -> list[str]:
    """How to read the chart, for this release."""
    parts = []
    kinds = list(dict.fromkeys(kind for view in views for kind in view.kinds))
    if release.uncertainty is None:
        parts.append(
            "Each value is an estimate: noise was added to protect people. The way these numbers were worked out "
            "says nothing of how far they are off, so no ranges are drawn."
        )
    else:
        parts.append(
            "Each value is an estimate: noise was added to protect people. It comes with a range, and the true value "
            "lies within it in about 95 of 100 releases like this one. "
            f"{_first_up('; '.join(RANGES[kind] for kind in kinds))}."
        )
        parts.append("Two values whose ranges overlap may well be equal. Do not read a story into such differences.")
        if "heat" in kinds:
            parts.append(NOISE_FADED)
        parts += what_ranges_miss(release)
    counted = release.guarantee.neighbours.counted
    if counted is not None and counted.unit is not None:
        most = f"{counted.records:,} record{'s' if counted.records > 1 else ''}"
        parts.append(
            f"The numbers are of the records that were counted: of one person at most {most} that lie within the "
            "axes. Where people have more, totals are smaller than those of all records."
        )
    if (release.values < 0).any():
        begin = " Their ranges begin at them; true values are at least zero." if release.nonnegative else ""
        parts.append(f"Values below zero are no mistake: noise took them there, and sums stay right this way.{begin}")
    elif release.nonnegative:
        parts.append("True values cannot be below zero, and so no range is.")
    if (release.values % 1 != 0).any():
        parts.append("Values need not be whole numbers: they are best estimates, not counts.")
    if left_out:
        more = " and more" if len(left_out) > MOST_NAMED else ""
        parts.append(f"There was no room on this page for {', '.join(left_out[:MOST_NAMED])}{more}: ask the file.")
    return parts


def _first_up(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def finer_than_shown(release: Release, shown: int) -> str | None:
    """What to say where the page shows sums of cells only."""
    if shown >= len(release):
        return None
    return (
        f"The release has {len(release):,} cells, too many for one page: it shows sums of neighbouring cells, "
        f"at most {shown:,} at a time. Every cell is in the file."
    )
