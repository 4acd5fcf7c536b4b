"""What was measured, as tables: a section for each kind of release, ratios to its first row, which is ours."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from peers.contender import STREAM, Contender
from peers.growth import Grown, exponent
from peers.measuring import Outcome, ratio

Results = dict[str, dict[Contender, Outcome]]
COLUMNS = {"‖D − D*‖₂": "cells", "of a range": "ranges", "of a running total": "totals"}


def of_one_input(title: str, results: Results) -> Table:
    """Errors and times on one input. Running totals are shown where they are what is published."""
    table = Table(title=title, title_justify="left")
    table.add_column("release")
    for heading in (*COLUMNS, "ms", "runs", "× cells", "× range", "× time"):
        table.add_column(heading, justify="right")
    for kind, outcomes in results.items():
        _heading(table, kind)
        ours = next(iter(outcomes.values()))
        for contender, outcome in outcomes.items():
            errors = [str(outcome.errors[name]) for name in COLUMNS.values()]
            if kind != STREAM:
                errors[-1] = ""
            over = [outcome.errors[name].over(ours.errors[name]) for name in ("cells", "ranges")]
            over.append(ratio(outcome.seconds / ours.seconds))
            first = outcome is ours
            time = milliseconds(outcome.seconds), str(outcome.runs)
            table.add_row(contender.name, *errors, *time, *([""] * len(over) if first else over))
    table.caption = (
        "Errors: mean ± half of its 95 % interval. "
        "×: over the section's first row; ≈ 1: the runs do not tell them apart."
    )
    return table


def of_growth(title: str, sizes: Sequence[int], results: dict[str, Grown]) -> Table:
    """Milliseconds at every size, with the ratio to ours, and the exponent."""
    table = _by_size(title, sizes)
    table.add_column("time grows like", justify="right")
    for kind, grown in results.items():
        _heading(table, kind)
        ours = next(iter(grown.values()))
        for contender, outcomes in grown.items():
            row = [_time_and_ratio(outcomes.get(size), ours.get(size)) for size in sizes]
            power = exponent(outcomes)
            table.add_row(contender.name, *row, "" if power is None else f"n^{power:.2f}")
    return table


def of_growing_errors(title: str, sizes: Sequence[int], results: dict[str, Grown]) -> Table:
    """‖D − D*‖₂ at every size."""
    table = _by_size(title, sizes)
    for kind, grown in results.items():
        _heading(table, kind)
        for contender, outcomes in grown.items():
            row = [str(outcomes[size].errors["cells"]) if size in outcomes else "–" for size in sizes]
            table.add_row(contender.name, *row)
    return table


def of_guarantees(contenders: Sequence[Contender]) -> Table:
    """What stands behind each row."""
    table = Table(title="What each guarantees when one record is added or removed", title_justify="left")
    table.add_column("release", ratio=2)
    table.add_column("guarantee", ratio=5)
    for guarantee in dict.fromkeys(contender.guarantee for contender in contenders):
        names = [contender.name for contender in contenders if contender.guarantee == guarantee]
        table.add_row("\n".join(names), guarantee, end_section=True)
    return table


def milliseconds(seconds: float) -> str:
    """As a table shows it."""
    return (
        f"{1e3 * seconds:,.0f}"
        if seconds >= 0.1
        else f"{1e3 * seconds:.2g}"
        if seconds < 0.01
        else f"{1e3 * seconds:.0f}"
    )


def _time_and_ratio(outcome: Outcome | None, ours: Outcome | None) -> str:
    if outcome is None:
        return "–"
    over = "" if ours is None else f" ({ratio(outcome.seconds / ours.seconds)})"
    return f"{milliseconds(outcome.seconds)}{over}"


def _by_size(title: str, sizes: Sequence[int]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("release")
    for size in sizes:
        table.add_column(f"2^{size.bit_length() - 1}", justify="right")
    return table


def _heading(table: Table, kind: str) -> None:
    table.add_section()
    table.add_row(f"[bold]{kind}[/bold]")
