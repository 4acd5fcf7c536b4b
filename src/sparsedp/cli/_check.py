"""`sparsedp check`: what a release would read of the records, and what it would leave out. NOT PRIVATE."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sparsedp.cli._files import records_from
from sparsedp.cli._options import (
    AsJson,
    By,
    Clamp,
    Column,
    DateFormat,
    Decimal,
    Delimiter,
    EachRowIsAPerson,
    Encoding,
    MaxContributions,
    Multiline,
    Outside,
    ProjectFile,
    Resolution,
    Unit,
    Value,
    columns_as_typed,
    domain_of,
)
from sparsedp.cli._project import Settings, project_settings, refuse_outside, taken_from, taken_in_words
from sparsedp.cli._release import checked_sums, counting_of, merged, unit_of
from sparsedp.cli._running import ExitCode
from sparsedp.cli._speaking import note, show, show_json, warn
from sparsedp.errors import InvalidInput

RECORDS_EXAMPLES = """
sparsedp datasets export flights.parquet
sparsedp check flights.parquet --by 'day:2013-01-01..2013-06-30/1d' \\
  --by 'origin:EWR,JFK' --unit tailnum --max-contributions 20
"""


def check_records(
    source: Annotated[str | None, typer.Argument(help="The records, as for `sparsedp release`.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    multiline: Multiline = False,
    by: By = None,
    unit: Unit = None,
    each_row_is_a_person: EachRowIsAPerson = False,
    max_contributions: MaxContributions = None,
    value: Value = None,
    clamp: Clamp = None,
    resolution: Resolution = None,
    outside: Outside = None,
    column: Column = None,
    project: ProjectFile = None,
    as_json: AsJson = False,
) -> None:
    """Say what a release would read of the records, what it would leave out, and why, with examples. NOT PRIVATE.

    For the owner of the data, before anything is spent. It spends nothing, and writes nothing but to the terminal. It
    reads what `sparsedp release` reads, by the same rules and from the same sparsedp.toml, and ends with code 1 where a
    release would be refused because not one row comes into the table.
    """
    given: Settings = {
        "source": source,
        "delimiter": delimiter,
        "decimal": decimal,
        "date_format": date_format,
        "encoding": encoding,
        "multiline": multiline or None,
        "by": by,
        "unit": unit,
        "each_row_is_a_person": each_row_is_a_person or None,
        "max_contributions": max_contributions,
        "value": value,
        "clamp": clamp,
        "resolution": resolution,
        "outside": outside,
        "columns": column,
    }
    file, said = project_settings(project)
    known = {name: setting for name, setting in said.items() if name in given}
    settings = merged(known, given)
    taken = taken_from(known, settings, given)
    if file is not None:
        refuse_outside(file, settings, taken)
    if settings.get("source") is None:
        raise InvalidInput("source", "missing", "name the records: `sparsedp check visits.parquet …`")
    domain, whose = domain_of(settings.get("by")), unit_of(settings)
    counting = checked_sums(counting_of(settings, domain.names))
    records = records_from(settings["source"])
    if file is not None and taken:
        note(taken_in_words(file, settings, taken))

    from sparsedp.ingest import NOT_PRIVATE, check  # here, so that --help waits for none of it

    warn(NOT_PRIVATE)
    most = settings.get("max_contributions", 1)
    with columns_as_typed(whose, counting, domain.names):
        found = check(records, domain, privacy_unit=whose, max_contributions=most, **counting)
    if as_json:
        show_json({"source": settings["source"], **found.describe()})
    else:
        # On a terminal the notice was just seen; into a file it goes along.
        for line in found.lines() if sys.stdout.isatty() else str(found).splitlines():
            show(line)
    if not found.counted:
        note("a release would be refused before anything is spent: not one row comes into the table.")
        raise typer.Exit(ExitCode.REFUSED)
