"""`sparsedp release`: from records to a published file.

What was asked for is the command line over the project file, checked before anything is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, Format, form_of
from sparsedp.cli._options import (
    CELLS,
    FILES,
    AsJson,
    By,
    Clamp,
    ClampShare,
    Column,
    CutShare,
    DataSetName,
    DateFormat,
    Decimal,
    Delimiter,
    Delta,
    EachRowIsAPerson,
    Encoding,
    Epsilon,
    LedgerPath,
    MaxContributions,
    MechanismName,
    Multiline,
    NeighboursName,
    NoLedger,
    Outside,
    Overwrite,
    PassphraseFd,
    ProjectFile,
    Resolution,
    Rho,
    Sign,
    Unit,
    Value,
    Workload,
    bounds,
    check_axes,
    chosen_mechanism,
    domain_of,
    ledger_named,
    pairs,
    the_ledger,
)
from sparsedp.cli._project import Settings, project_settings, refuse_outside, taken_from, taken_in_words
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.publishing.order import Order


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
    unit: Unit = None,
    each_row_is_a_person: EachRowIsAPerson = False,
    max_contributions: MaxContributions = None,
    cut_share: CutShare = None,
    neighbours: NeighboursName = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    ledger: LedgerPath = None,
    dataset: DataSetName = None,
    no_ledger: NoLedger = False,
    mechanism: MechanismName = None,
    workload: Workload = None,
    value: Value = None,
    clamp: Clamp = None,
    clamp_share: ClampShare = None,
    resolution: Resolution = None,
    with_counts: Annotated[
        bool,
        typer.Option(
            "--with-counts",
            help="With --value: also publish how many records the sums are of, under the same budget, for means.",
            rich_help_panel=CELLS,
        ),
    ] = False,
    counts_share: Annotated[
        str | None,
        typer.Option(
            "--counts-share",
            metavar="SHARE",
            help="With --with-counts: how much of the budget the counts get, 1/4 if left out.",
            rich_help_panel=CELLS,
        ),
    ] = None,
    outside: Outside = None,
    column: Column = None,
    allow_empty: Annotated[
        bool,
        typer.Option(
            "--allow-empty",
            help="Publish even records of which not one can be read into the table; else that is refused, unpaid.",
            rich_help_panel=CELLS,
        ),
    ] = False,
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
        "cut_share": cut_share,
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
        "clamp_share": clamp_share,
        "resolution": resolution,
        "with_counts": with_counts or None,
        "counts_share": counts_share,
        "outside": outside,
        "columns": column,
        "allow_empty": allow_empty or None,
        "integers": integers or None,
        "release": output,
        "report": report,
        "title": title,
        "sign": sign,
    }
    wanted = declared(given, project, no_ledger=no_ledger, form=form, overwrite=overwrite, passphrase_fd=passphrase_fd)
    if dry:
        from sparsedp.cli._release_run import dry_run  # here, so that --help waits for none of it

        dry_run(wanted, as_json=as_json)
    else:
        from sparsedp.cli._release_run import published

        published(wanted, as_json=as_json)


# What `sparsedp release` was asked for: the command line over the project file.

_TOGETHER = (
    ("epsilon", "rho", "delta"),
    ("unit", "each_row_is_a_person"),
    ("value", "clamp", "clamp_share", "resolution", "with_counts", "counts_share"),
)
"""Settings that are one choice: naming one of them on the command line sets aside what the project file says of all."""


@dataclass(frozen=True)
class Command:
    """The settings as they were typed, and what no project file can say; `order` is what the library makes of them."""

    settings: Settings
    form: str | None = None
    overwrite: bool = False
    passphrase_fd: int | None = None
    from_project: str | None = None
    """What the project file decides, in words."""

    @property
    def source(self) -> str:
        """The records."""
        return str(self.settings["source"])

    @property
    def ledger(self) -> str | None:
        """The ledger's file."""
        return self.settings.get("ledger")

    @property
    def output(self) -> str:
        """Where the release goes."""
        return str(self.settings["release"])

    @property
    def report(self) -> str | None:
        """Where a page about it goes."""
        return self.settings.get("report")

    @property
    def kind(self) -> str:
        """In what form it goes there."""
        return form_of(self.output, self.form)

    def order(self, source: Any) -> Order:
        """What is to be published of these records, checked; of the ledger, no more is looked at than its total."""
        from sparsedp.cli._release_run import delivery_to  # here, so that --help waits for none of it
        from sparsedp.constraints import Constraints
        from sparsedp.ingest.request import Request
        from sparsedp.privacy.budget import asked_for
        from sparsedp.publishing.order import Order

        settings = self.settings
        domain = domain_of(settings.get("by"))
        mechanism = chosen_mechanism(settings.get("mechanism"), settings.get("workload"))
        delivery, unit = delivery_to(self.output, self.kind, overwrite=self.overwrite), unit_of(settings)
        budget = asked_for(settings.get("epsilon"), settings.get("rho"), settings.get("delta"))
        counting = checked_sums(counting_of(settings, domain.names))
        paying = None if self.ledger is None else the_ledger(self.ledger, settings.get("dataset"), self.source)
        most = settings.get("max_contributions", 1)
        return Order.of(
            Request.of(source, domain, privacy_unit=unit, max_contributions=most, **counting),
            budget,
            mechanism,
            delivery,
            ledger=paying,
            neighbours=settings.get("neighbours", "add_remove"),
            constraints=Constraints(integers=True) if settings.get("integers") else None,
            counts_share=settings.get("counts_share"),
            allow_empty=bool(settings.get("allow_empty")),
            cut_share=settings.get("cut_share"),
            clamp_share=settings.get("clamp_share"),
        )


def declared(
    given: Settings,
    project: str | None,
    *,
    no_ledger: bool,
    form: str | None,
    overwrite: bool,
    passphrase_fd: int | None = None,
) -> Command:
    """The command, or the first thing that is missing or contradicts itself."""
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
    ledger_named(given.get("ledger"), no_ledger=no_ledger, otherwise=settings.get("ledger"))
    words = None if file is None or not taken else taken_in_words(file, settings, taken)
    settings["release"] = settings.get("release") or _beside(source)
    return Command(settings, form, overwrite, passphrase_fd, words)


def merged(project: Settings, given: Settings) -> Settings:
    """What is given on the command line over what the project file says."""
    said = {name: value for name, value in given.items() if value is not None and value != []}
    aside = {name for group in _TOGETHER if said.keys() & set(group) for name in group}
    if said.get("each_row_is_a_person"):
        aside |= {"max_contributions", "cut_share"}  # they were of another unit
    return {**{name: value for name, value in project.items() if name not in aside}, **said}


def unit_of(settings: Settings) -> str | list[str] | None:
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
        "clamp": _clamp_of(clamp),
        "resolution": settings.get("resolution"),
        "with_counts": settings.get("with_counts"),
        "csv": {name: settings[name] for name in CSV_SETTINGS if name in settings} or None,
    }
    for option, name in (("--column", "columns"), ("--outside", "outside")):
        said = found[name]
        if isinstance(said, dict):
            check_axes(option if isinstance(settings[name], list) else f"{name} in the project file", said, axes)
    return {name: value for name, value in found.items() if value is not None}


def _clamp_of(given: Any) -> Any:
    """Two numbers, or the word that they are to be chosen."""
    if given is None or given == "auto":
        return given
    return bounds("--clamp", given) if isinstance(given, str) else tuple(given)


def checked_sums(counting: dict[str, Any]) -> dict[str, Any]:
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
