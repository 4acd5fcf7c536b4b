"""`sparsedp release`: from records to a published file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sparsedp.cli.declaration import Declaration, declared
from sparsedp.cli.options import (
    CELLS,
    FILES,
    PEOPLE,
    AsJson,
    By,
    DataSetName,
    DateFormat,
    Decimal,
    Delimiter,
    Delta,
    Encoding,
    Epsilon,
    LedgerFile,
    MechanismName,
    Multiline,
    NeighboursName,
    NoLedger,
    Overwrite,
    PassphraseFd,
    ProjectFile,
    Rho,
    Sign,
)
from sparsedp.cli.release_output import Format

RELEASE_EXAMPLES = """
sparsedp datasets export flights.parquet
sparsedp ledger init flights.db --dataset flights --epsilon 3
sparsedp release flights.parquet --by 'day:2013-01-01..2013-12-31/1d' \\
  --by 'origin:EWR,JFK,LGA' --unit tailnum --max-contributions 20 \\
  --epsilon 0.5 --ledger flights.db -o flights.release.parquet
sparsedp release flights.parquet --by 'carrier:AA,B6,DL,EV,UA,other' \\
  --outside carrier=other --unit tailnum --max-contributions 20 \\
  --epsilon 0.1 --ledger flights.db --report carriers.html \\
  -o carriers.release.parquet
sparsedp release flights.parquet --by 'hour:0..23' --unit tailnum \\
  --max-contributions 20 --epsilon 0.1 --ledger flights.db \\
  -o hours.release.parquet --dry-run
"""


def release_records(
    source: Annotated[
        str | None,
        typer.Argument(
            help="CSV or Parquet with one row an event: a file, a folder, 'a/*.parquet'; - for CSV on standard input."
        ),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    encoding: Encoding = None,
    multiline: Multiline = False,
    by: By = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(
            "--unit",
            metavar="COLUMN",
            help="The column that says whose a record is; once more for each further one, if it takes several.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    each_row_is_a_person: Annotated[
        bool,
        typer.Option(
            "--each-row-is-a-person",
            help="Instead of --unit: no person has two records. It is your promise, and the release says so.",
            rich_help_panel=PEOPLE,
        ),
    ] = False,
    max_contributions: Annotated[
        int | None,
        typer.Option(
            "--max-contributions",
            metavar="COUNT",
            help="How many records of one person are counted, 1 if left out; more are left out, at random.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    neighbours: NeighboursName = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    ledger: LedgerFile = None,
    dataset: DataSetName = None,
    no_ledger: NoLedger = False,
    mechanism: MechanismName = None,
    workload: Annotated[
        str | None,
        typer.Option("--workload", metavar="NAME", help="Of adaptive: any, cells or ranges.", rich_help_panel=CELLS),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option("--value", metavar="COLUMN", help="Publish sums of this column.", rich_help_panel=CELLS),
    ] = None,
    clamp: Annotated[
        str | None,
        typer.Option("--clamp", metavar="LOW..HIGH", help="The bounds of each record's value.", rich_help_panel=CELLS),
    ] = None,
    resolution: Annotated[
        str | None,
        typer.Option("--resolution", metavar="STEP", help="What values are rounded to: 0.01.", rich_help_panel=CELLS),
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            "--outside",
            metavar="AXIS=HOW",
            help="What becomes of records beyond an axis: age=clamp, or carrier=other (a label of it); else dropped.",
            rich_help_panel=CELLS,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="AXIS=COLUMN", help="The column of an axis, if named otherwise.", rich_help_panel=CELLS
        ),
    ] = None,
    integers: Annotated[bool, typer.Option("--integers", help="Publish whole numbers.", rich_help_panel=CELLS)] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write; - for standard output; left out, the source's name with .release.parquet.",
            rich_help_panel=FILES,
        ),
    ] = None,
    form: Format = None,
    report: Annotated[
        str | None,
        typer.Option("--report", metavar="FILE", help="Write a page about it, too: .html.", rich_help_panel=FILES),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The page's title.", rich_help_panel=FILES)
    ] = None,
    sign: Sign = None,
    passphrase_fd: PassphraseFd = None,
    overwrite: Overwrite = False,
    project: ProjectFile = None,
    dry: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what would be spent and published; read no data and spend nothing. Exits as the release would.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Count records, publish the counts once under differential privacy, and write the release to a file.

    The budget is debited from the ledger before any noise is drawn. If the command is interrupted after that, run it
    again, with another -o if need be: it goes on from the stored measurement and spends nothing more.
    """
    given: dict[str, Any] = {
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
        "neighbours": neighbours,
        "epsilon": epsilon,
        "rho": rho,
        "delta": delta,
        "ledger": ledger,
        "dataset": dataset,
        "mechanism": mechanism,
        "workload": workload,
        "value": value,
        "clamp": clamp,
        "resolution": resolution,
        "outside": outside,
        "columns": column,
        "integers": integers or None,
        "release": output,
        "report": report,
        "title": title,
        "sign": sign,
    }
    wanted: Declaration = declared(
        given, project, no_ledger=no_ledger, form=form, overwrite=overwrite, passphrase_fd=passphrase_fd
    )
    if dry:
        from sparsedp.cli.dry_run import dry_run  # here, so that --help waits for none of it

        dry_run(wanted, as_json=as_json)
    else:
        from sparsedp.cli.carrying_out import published

        published(wanted, as_json=as_json)
