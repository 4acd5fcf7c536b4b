"""`sparsedp compare`: two releases side by side, or, for the owner of the data, a release and the truth."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, records_from, to_read
from sparsedp.cli._options import (
    AUTO,
    AsJson,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    Level,
    Memory,
    Multiline,
    ProjectFile,
    columns_as_typed,
)
from sparsedp.cli._project import Settings, project_settings, taken_from, taken_in_words
from sparsedp.cli._release import CSV_SETTINGS, counting_of, merged
from sparsedp.cli._speaking import note, show, show_json, show_lines, warn
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.counts import Counts
    from sparsedp.releases.comparison import Comparison
    from sparsedp.releases.release import Release


COMPARE_EXAMPLES = """
sparsedp release flights.parquet --by 'origin:EWR,JFK,LGA' --unit tailnum \\
  --max-contributions 20 --epsilon 0.2 --ledger flights.db \\
  -o first.release.parquet
sparsedp release flights.parquet --by 'origin:EWR,JFK,LGA' --unit tailnum \\
  --max-contributions 20 --epsilon 0.8 --ledger flights.db \\
  -o second.release.parquet
sparsedp compare first.release.parquet second.release.parquet
sparsedp compare first.release.parquet --truth flights.parquet \\
  --unit tailnum --max-contributions 20
"""
_NOT_PRIVATE = (
    "NOT PRIVATE: this compares with the data themselves. Keep it to yourself: publishing it, or choosing what to "
    "publish by it, breaks the guarantee."
)
_TRUTH_SETTINGS = ("unit", "max_contributions", "columns", "outside", "clamp", *CSV_SETTINGS)
_TRUTH = "With --truth: how the records were counted"


def compare_releases(
    file: Annotated[str, typer.Argument(help="A release; - for standard input.")],
    other: Annotated[str | None, typer.Argument(help="Another release of the same cells.")] = None,
    truth: Annotated[
        str | None,
        typer.Option("--truth", metavar="SOURCE", help="The records themselves, for their owner: NOT PRIVATE."),
    ] = None,
    level: Level = "0.95",
    unit: Annotated[
        list[str] | None,
        typer.Option(
            "--unit", metavar="COLUMN", help="Whose a record is; left out, all are counted.", rich_help_panel=_TRUTH
        ),
    ] = None,
    max_contributions: Annotated[
        int | None, typer.Option("--max-contributions", metavar="COUNT", help="Of one person.", rich_help_panel=_TRUTH)
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="AXIS=COLUMN", help="As for release.", rich_help_panel=_TRUTH),
    ] = None,
    outside: Annotated[
        list[str] | None, typer.Option("--outside", metavar="AXIS=HOW", help="As for release.", rich_help_panel=_TRUTH)
    ] = None,
    clamp: Annotated[
        str | None,
        typer.Option("--clamp", metavar="LOW..HIGH", help="As for release, for sums.", rich_help_panel=_TRUTH),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    multiline: Multiline = False,
    project: ProjectFile = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Say how far two releases of the same cells are apart, beside what their errors let expect."""
    if (other is None) == (truth is None):
        given = "missing" if other is None else "given beside --truth"
        raise InvalidInput("other", given, "compare with another release, or with --truth")
    if STANDARD in (file, other) and file == other:
        raise InvalidInput("-", "given twice", "standard input can be only one of the two")
    if truth is not None:
        warn(_NOT_PRIVATE)

    from sparsedp.publishing.truth import compare_with_truth
    from sparsedp.releases.comparison import compare
    from sparsedp.releases.release_file import open_release

    with to_read(file) as first:
        release = open_release(first, memory=memory)
    found: Comparison
    lost: dict[str, int] = {}
    if other is not None:
        with to_read(other) as second:
            found = compare(release, open_release(second, memory=memory), level)
    else:
        given_settings: Settings = {
            "unit": unit,
            "max_contributions": max_contributions,
            "columns": column,
            "outside": outside,
            "clamp": clamp,
            "delimiter": delimiter,
            "decimal": decimal,
            "date_format": date_format,
            "encoding": encoding,
            "multiline": multiline or None,
        }
        path, said = project_settings(project)
        settings = merged(said, given_settings)
        taken = [name for name in taken_from(said, settings, given_settings) if name in _TRUTH_SETTINGS]
        if path is not None and taken:
            note(taken_in_words(path, settings, taken))
        found = compare_with_truth(release, _counted(release, str(truth), settings), level)
        lost = _left_out(release, str(truth), settings)
    if as_json:
        facts = _facts(found, not_private=truth is not None)
        show_json(facts if truth is None else {**facts, "records": lost})
    else:
        show_lines(_words(found, sys.stdout.isatty()))
        if lost:
            show(f"records: {', '.join(f'{number:,} {reason}' for reason, number in lost.items() if number)}")


def _words(found: Comparison, warned: bool) -> str:
    """The comparison. On a terminal its reader was warned above; into a file the notice goes along, once."""
    notice = getattr(found, "warning", "")
    lines = [line for line in str(found).splitlines() if line != notice]
    return "\n".join(lines if warned or not notice else [notice, *lines])


def _counted(release: Release, source: str, settings: Settings) -> Counts:
    from sparsedp.ingest import count

    if release.domain is None:
        raise InvalidInput("release", "without axes", "the truth can be counted only by the axes of a domain")
    counting = _counting(release, settings, release.domain.names)
    with columns_as_typed(counting["privacy_unit"], counting, ()):
        return count(records_from(source), release.domain, **counting)


def _left_out(release: Release, source: str, settings: Settings) -> dict[str, int]:
    """NOT PRIVATE: what became of all records. Standard input can be read only once, and was."""
    from sparsedp.ingest import check

    if source == STANDARD or release.domain is None:
        return {}
    found = check(source, release.domain, **_counting(release, settings, release.domain.names))
    lost = {f"{each.axis or each.column} {each.what}".strip(): each.rows for each in found.failures}
    cut = {} if found.cut is None else {"beyond max_contributions": found.cut}
    return {"read": found.rows, **lost, **cut, "counted": found.counted}


def _counting(release: Release, settings: Settings, axes: Sequence[str]) -> dict[str, Any]:
    """How the records of a release were counted, as far as it says so itself and was told again."""
    unit = settings.get("unit")
    sums: dict[str, Any] = {"value": release.quantity.value, "resolution": release.quantity.resolution}
    most, counted = settings.get("max_contributions", 1), release.guarantee.neighbours.counted
    if most == AUTO and counted is not None:
        most = counted.records  # as it was chosen
    if release.quantity.clamp is not None:
        sums["clamp"] = release.quantity.clamp  # as it was declared, or chosen
    return {
        **counting_of(settings, axes),
        **({} if release.quantity.value is None else sums),
        "privacy_unit": unit[0] if isinstance(unit, list) and len(unit) == 1 else unit,
        "max_contributions": most,
    }


def _facts(found: Comparison, *, not_private: bool) -> dict[str, Any]:
    total = found.total
    names = ("root_mean_squared_error", "largest_error", "range_error", "cell_coverage", "range_coverage")
    return {
        "not_private": not_private,
        "cells": found.first.size,
        "totals": [float(values.sum()) for values in (found.first, found.second)],
        "difference": None if total is None else {"estimate": total.estimate, "low": total.low, "high": total.high},
        "mean_absolute_difference": float(abs(found.difference).mean()),
        "correlation": found.correlation,
        "level": found.level,
        "largest": [{"cell": each.place, "first": each.first, "second": each.second} for each in found.largest(5)],
        **({name: getattr(found, name) for name in names} if not_private else {}),
    }
