"""`sparsedp release`: from records to a published file.

What was asked for is the command line over the project file, checked before anything is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, Format, form_of
from sparsedp.cli._options import (
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
    LedgerPath,
    MechanismName,
    Multiline,
    NeighboursName,
    NoLedger,
    Overwrite,
    PassphraseFd,
    ProjectFile,
    Rho,
    Sign,
    bounds,
    check_axes,
    chosen_mechanism,
    domain_of,
    ledger_named,
    pairs,
)
from sparsedp.cli._project import Settings, project_settings, refuse_outside, taken_from, taken_in_words
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.axes.domain import Domain
    from sparsedp.mechanisms.base import Mechanism
    from sparsedp.privacy.budget import Asked


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
    ledger: LedgerPath = None,
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
        from sparsedp.cli._release_run import dry_run  # here, so that --help waits for none of it

        dry_run(wanted, as_json=as_json)
    else:
        from sparsedp.cli._release_run import published

        published(wanted, as_json=as_json)


# What `sparsedp release` was asked for: the command line over the project file, checked before anything is read.

_TOGETHER = (("epsilon", "rho", "delta"), ("unit", "each_row_is_a_person"), ("value", "clamp", "resolution"))
"""Settings that are one choice: naming one of them on the command line sets aside what the project file says of all."""


@dataclass(frozen=True)
class Declaration:
    """Everything that a release is made of, and where it goes."""

    source: str
    domain: Domain
    unit: str | list[str] | None
    max_contributions: int
    asked: Asked
    mechanism: Mechanism
    neighbours: str
    ledger: str | None
    dataset: str | None
    output: str
    form: str
    overwrite: bool
    report: str | None
    title: str | None
    integers: bool
    sign: str | None = None
    passphrase_fd: int | None = None
    counting: dict[str, Any] = field(default_factory=dict)
    """What `sparsedp.count` takes beside these: columns, outside, value, clamp, resolution, csv."""
    from_project: str | None = None
    """What the project file decides, in words."""


def declared(
    given: Settings,
    project: str | None,
    *,
    no_ledger: bool,
    form: str | None,
    overwrite: bool,
    passphrase_fd: int | None = None,
) -> Declaration:
    """The declaration, or the first thing that is missing or contradicts itself."""
    file, said = project_settings(project)
    settings = merged(said, given)
    if no_ledger:
        settings.pop("ledger", None)
    taken = taken_from(said, settings, given)
    if file is not None:
        refuse_outside(file, settings, taken)
    source = settings.get("source")
    if source is None:
        raise InvalidInput("source", "missing", "name the records: `sparsedp release visits.parquet …`")
    ledger = ledger_named(given.get("ledger"), no_ledger=no_ledger, otherwise=settings.get("ledger"))
    domain = domain_of(settings.get("by"))
    mechanism = chosen_mechanism(settings.get("mechanism"), settings.get("workload"))
    output = settings.get("release") or _beside(source)

    from sparsedp.privacy.budget import asked_for

    return Declaration(
        source=source,
        domain=domain,
        unit=_unit(settings),
        max_contributions=settings.get("max_contributions", 1),
        asked=asked_for(settings.get("epsilon"), settings.get("rho"), settings.get("delta")),
        mechanism=mechanism,
        neighbours=settings.get("neighbours", "add_remove"),
        ledger=ledger,
        dataset=settings.get("dataset"),
        output=output,
        form=form_of(output, form),
        overwrite=overwrite,
        report=settings.get("report"),
        title=settings.get("title"),
        integers=settings.get("integers", False),
        sign=settings.get("sign"),
        passphrase_fd=passphrase_fd,
        counting=_checked_sums(counting_of(settings, domain.names)),
        from_project=None if file is None or not taken else taken_in_words(file, settings, taken),
    )


def merged(project: Settings, given: Settings) -> Settings:
    """What is given on the command line over what the project file says."""
    said = {name: value for name, value in given.items() if value is not None and value != []}
    aside = {name for group in _TOGETHER if said.keys() & set(group) for name in group}
    if said.get("each_row_is_a_person"):
        aside.add("max_contributions")  # it was of another unit
    return {**{name: value for name, value in project.items() if name not in aside}, **said}


def _unit(settings: Settings) -> str | list[str] | None:
    unit = settings.get("unit")
    if settings.get("each_row_is_a_person"):
        if unit:
            raise InvalidInput("unit", "given beside --each-row-is-a-person", "leave one of the two out")
        return None
    if not unit:
        remedy = (
            "say which column tells whose a record is, such as --unit patient_id; or promise that no person has two "
            "records with --each-row-is-a-person"
        )
        raise InvalidInput("unit", "missing", remedy)
    if isinstance(unit, list) and len(unit) == 1:
        return str(unit[0])
    return unit if isinstance(unit, str) else [str(column) for column in unit]


CSV_SETTINGS = ("delimiter", "decimal", "date_format", "encoding", "multiline")
"""How CSV is written; declared, never guessed."""


def counting_of(settings: Settings, axes: Sequence[str]) -> dict[str, Any]:
    """The arguments that `sparsedp.count` has for records beyond the usual; `axes`: those that there are."""
    outside, columns, clamp = settings.get("outside"), settings.get("columns"), settings.get("clamp")
    found = {
        "columns": pairs("--column", columns) if isinstance(columns, list) else columns,
        "outside": pairs("--outside", outside) if isinstance(outside, list) else outside,
        "value": settings.get("value"),
        "clamp": bounds("--clamp", clamp) if isinstance(clamp, str) else None if clamp is None else tuple(clamp),
        "resolution": settings.get("resolution"),
        "csv": {name: settings[name] for name in CSV_SETTINGS if name in settings} or None,
    }
    for option, name in (("--column", "columns"), ("--outside", "outside")):
        said = found[name]
        if isinstance(said, dict):
            check_axes(option if isinstance(settings[name], list) else f"{name} in the project file", said, axes)
    return {name: value for name, value in found.items() if value is not None}


def _checked_sums(counting: dict[str, Any]) -> dict[str, Any]:
    """All that a sum needs and was not given is asked for at once."""
    needed = {"clamp": "--clamp 0..500", "resolution": "--resolution 0.01"}
    missing = [name for name in needed if "value" in counting and name not in counting]
    if missing:
        given = f"given without {' and '.join(f'--{name}' for name in missing)}"
        what = {"clamp": "the bounds of one record's value", "resolution": "what values are rounded to"}
        remedy = f"declare {' and '.join(what[name] for name in missing)}: {' '.join(needed[name] for name in missing)}"
        raise InvalidInput("--value", given, remedy)
    return counting


def _beside(source: str) -> str:
    """The output where none is named: in the current folder, after the source."""
    if source == STANDARD or any(sign in source for sign in "*?["):
        raise InvalidInput("output", "missing", "name the file to write: -o visits.release.parquet")
    name = Path(source).name
    for ending in (".gz", ".csv", ".parquet"):
        name = name.removesuffix(ending)
    return f"{name}.release.parquet"
