"""What several commands share: options, each worded and read once, and refusals that name what was typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.errors import BadFile, InvalidInput, UnknownName, shortened

if TYPE_CHECKING:
    from sparsedp.axes.domain import Domain
    from sparsedp.mechanisms.base import Mechanism
    from sparsedp.privacy.ledger_file import DataSetLedger, LedgerFile


# Options that several commands share, each worded once.

BUDGET = "Budget"
PEOPLE = "Who is protected"
CELLS = "What is published"
FILES = "Files"
"""Headings in the help of commands with many options."""

Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="How much memory the file may take: 8GB. Left out, 2GB or 64 times its size, whichever is more.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, for scripts.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace an output file that exists.", rich_help_panel=FILES)
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="AXIS",
        help=(
            "An axis of the table, once for each: 'day:2024-01-01..2024-12-31/1d', 'sex:F,M', 'age:0..120/5', "
            "'age:\\[0,18,65,120]', 'hour:0..23', 'county:north(a,b),south(c)', 'county:@counties.csv' (a public "
            "table). Declared, never read off the data."
        ),
        rich_help_panel=CELLS,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", metavar="SIGN", help="Between the fields of CSV, if it is not a comma.", rich_help_panel=FILES
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar="SIGN", help="In numbers of CSV, if it is not a point.", rich_help_panel=FILES),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        "--date-format",
        metavar="FORMAT",
        help="How CSV writes times, if not as 2024-03-05T10:00: '%d.%m.%Y', '%m/%d/%Y %H:%M'.",
        rich_help_panel=FILES,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", help="Of CSV, if it is not utf-8: latin-1, cp1252.", rich_help_panel=FILES
    ),
]
Multiline = Annotated[
    bool,
    typer.Option(
        "--multiline",
        help="Fields of CSV may have several lines. A stray quote can then drop others' records: the release says so.",
        rich_help_panel=FILES,
    ),
]
Epsilon = Annotated[
    str | None,
    typer.Option("--epsilon", metavar="ε", help="Spend this ε: 0.5, 1/3. Exact.", rich_help_panel=BUDGET),
]
Rho = Annotated[
    str | None,
    typer.Option("--rho", metavar="ρ", help="Spend this ρ (zero-concentrated) instead.", rich_help_panel=BUDGET),
]
Delta = Annotated[
    str | None,
    typer.Option("--delta", metavar="δ", help="With --epsilon: (ε, δ), by Gaussian noise.", rich_help_panel=BUDGET),
]
_PROOFS = (Path(__file__).parents[1] / "mechanisms").glob("*.md")
_OTHER_MECHANISMS = sorted({proof.stem for proof in _PROOFS if proof.with_suffix(".py").exists()} - {"adaptive"})
"""Each has its proof beside it, under its name; asking the mechanisms themselves would load numba to print a help."""

MechanismName = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help=f"adaptive (the default), adaptive:cells, adaptive:ranges, adaptive:marginals, "
        f"{', '.join(_OTHER_MECHANISMS)}.",
        rich_help_panel=CELLS,
    ),
]
Workload = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="NAME",
        help="Of adaptive: any, cells, ranges, marginals, or those that will be asked: age*sex,region.",
        rich_help_panel=CELLS,
    ),
]
NeighboursName = Annotated[
    str | None,
    typer.Option(
        "--neighbours",
        metavar="NAME",
        help="add_remove (the default) or replace_one (twice the noise).",
        rich_help_panel=PEOPLE,
    ),
]
LedgerPath = Annotated[
    str | None, typer.Option("--ledger", metavar="FILE", help="The ledger that pays.", rich_help_panel=BUDGET)
]
NoLedger = Annotated[
    bool,
    typer.Option(
        "--no-ledger",
        help="Spend without keeping count: nothing then stops a second release.",
        rich_help_panel=BUDGET,
    ),
]
DataSetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        metavar="NAME",
        help="Whose budget it is, by its name in the ledger; not needed if there is only one.",
        rich_help_panel=BUDGET,
    ),
]
Sign = Annotated[
    str | None,
    typer.Option("--sign", metavar="KEY", help="Sign the file with this private key: NAME.key.", rich_help_panel=FILES),
]
PassphraseFd = Annotated[
    int | None,
    typer.Option(
        "--passphrase-fd",
        metavar="NUMBER",
        help="Read the key's passphrase from this file descriptor, instead of asking.",
        rich_help_panel=FILES,
    ),
]
Level = Annotated[str, typer.Option("--level", metavar="SHARE", help="How many of all such intervals hold the truth.")]
ProjectFile = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="FILE",
        help="The project file; left out, sparsedp.toml in the current folder, if there is one and it is yours.",
        rich_help_panel=FILES,
    ),
]

Unit = Annotated[
    list[str] | None,
    typer.Option(
        "--unit",
        metavar="COLUMN",
        help="The column that says whose a record is; once more for each further one, if it takes several.",
        rich_help_panel=PEOPLE,
    ),
]
EachRowIsAPerson = Annotated[
    bool,
    typer.Option(
        "--each-row-is-a-person",
        help="Instead of --unit: no person has two records. It is your promise, and the release says so.",
        rich_help_panel=PEOPLE,
    ),
]
AUTO, _MOST_DIGITS = "auto", 18


def _contributions(given: str | None) -> Any:
    """A bound as it was typed: a number, or "auto"."""
    if given is None or given == AUTO:
        return given
    if not given.isdecimal() or len(given) > _MOST_DIGITS:
        raise typer.BadParameter(f"{shortened(given)!r} is not a whole number, nor auto.")
    return int(given)


MaxContributions = Annotated[
    str | None,
    typer.Option(
        "--max-contributions",
        metavar="COUNT",
        callback=_contributions,
        help="How many records of one person are counted, 1 if left out; more are left out, at random. 'auto': a "
        "private look chooses.",
        rich_help_panel=PEOPLE,
    ),
]
CutShare = Annotated[
    str | None,
    typer.Option(
        "--cut-share",
        metavar="SHARE",
        help="The share of the budget that tells how much the bound leaves out: 0.02 if left out, 0.05 with 'auto', 0 "
        "for none.",
        rich_help_panel=PEOPLE,
    ),
]
ClampShare = Annotated[
    str | None,
    typer.Option(
        "--clamp-share",
        metavar="SHARE",
        help="With --clamp auto: the share of the budget that chooses the bounds, 0.05 if left out.",
        rich_help_panel=CELLS,
    ),
]
Value = Annotated[
    str | None,
    typer.Option("--value", metavar="COLUMN", help="Publish sums of this column.", rich_help_panel=CELLS),
]
Clamp = Annotated[
    str | None,
    typer.Option(
        "--clamp",
        metavar="LOW..HIGH",
        help="The bounds of each record's value; or auto: a private look chooses them.",
        rich_help_panel=CELLS,
    ),
]
Resolution = Annotated[
    str | None,
    typer.Option("--resolution", metavar="STEP", help="What values are rounded to: 0.01.", rich_help_panel=CELLS),
]
Outside = Annotated[
    list[str] | None,
    typer.Option(
        "--outside",
        metavar="AXIS=HOW",
        help="What becomes of records beyond an axis: age=clamp, or carrier=other (a label of it); else dropped.",
        rich_help_panel=CELLS,
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="AXIS=COLUMN", help="The column of an axis, if named otherwise.", rich_help_panel=CELLS
    ),
]


# What options say in their own small languages: axes, `name=value`, `low..high`.


def domain_of(by: Sequence[str] | None) -> Domain:
    """The domain of the axes that were declared."""
    if not by:
        raise InvalidInput("--by", "missing", "declare at least one axis, such as --by 'day:2024-01-01..2024-12-31/1d'")

    from sparsedp.axes.domain import Domain
    from sparsedp.cli._label_files import axis_of

    return Domain([axis_of(text) for text in by])


def pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """`axis=what` of a repeatable option, by axis."""
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InvalidInput(option, f"{text!r}"[:60], f"write it as NAME=…, such as {option} age=…")
        if name in found:
            raise InvalidInput(option, f"given twice for {name!r}", "say it once")
        found[name] = value
    return found


def bounds(option: str, text: str) -> tuple[str, str]:
    """Two numbers of an option, `low..high`."""
    low, dots, high = text.partition("..")
    if not dots or not low or not high:
        raise InvalidInput(option, f"{text!r}"[:60], f"write it as low..high, such as {option} 0..500")
    return low, high


# Mechanisms as options name them: `--mechanism adaptive:cells`, or `--mechanism adaptive --workload cells`.


def chosen_mechanism(name: str | None, workload: str | None = None) -> Mechanism:
    """The mechanism of that name, the default where there is none, with a workload that may be given beside it."""
    from sparsedp.mechanisms import Adaptive, mechanism_named

    named = mechanism_named(name or Adaptive.name)
    if workload is None:
        return named
    if not isinstance(named, Adaptive):
        raise InvalidInput("workload", f"given for {named.name}", "it is a setting of adaptive only; leave it out")
    wanted = Adaptive(workload)
    if name is not None and ":" in name and named != wanted:
        raise InvalidInput("workload", f"{workload!r} beside the mechanism {name!r}", "say it once")
    return wanted


# The ledger that pays for a command: found by its file and, where there are several, its data set.

WAIT = 10.0
"""Seconds to wait for another process that has the ledger in hand."""


def ledger_named(typed: str | None, *, no_ledger: bool, otherwise: str | None = None) -> str | None:
    """The ledger's file; None only where it was said that there is none.

    `otherwise`: the project file's, which --no-ledger sets aside.
    """
    if typed is not None and no_ledger:
        raise InvalidInput("ledger", "given beside --no-ledger", "leave one of the two out")
    path = otherwise if typed is None else typed
    if no_ledger:
        return None
    if path is None:
        remedy = (
            "name the ledger that pays, such as --ledger budget.db, so that all releases of these people together "
            "stay within one total; or say --no-ledger if you keep count of it elsewhere"
        )
        raise InvalidInput("ledger", "missing", remedy)
    return path


def the_books(path: str) -> LedgerFile:
    """The ledger file at `path`, which must exist: a ledger made by accident would be a second budget."""
    from sparsedp.privacy.ledger_file import open_ledger

    if not Path(path).exists():
        raise BadFile(f"There is no ledger {path}; check the path, or begin one: {_how_to_begin(path)}.")
    return open_ledger(path, wait=WAIT)


def the_ledger(path: str, dataset: str | None, about: str = "") -> DataSetLedger:
    """The ledger of the data set; if none is named, of the only one there is.

    `about`: the file it is wanted for, after which a data set could be named.
    """
    named = dataset or Path(about).name.partition(".")[0] or None
    if not Path(path).exists():
        raise BadFile(f"There is no ledger {path}; check the path, or begin one: {_how_to_begin(path, named)}.")
    books = the_books(path)
    names = books.names
    if not names:
        raise BadFile(f"The ledger {path} has no data set yet; declare one: {_how_to_begin(path, named)}.")
    if dataset is None:
        if len(names) > 1:
            raise InvalidInput("dataset", "missing", f"say whose budget it is: --dataset {' or '.join(names)}")
        return books[names[0]]
    if dataset not in names:
        remedy = f"the ledger {path} has {', '.join(names)}; to declare another: {_how_to_begin(path, dataset)}"
        raise UnknownName("dataset", dataset, names, remedy)
    return books[dataset]


def _how_to_begin(path: str, dataset: str | None = None) -> str:
    """The command that declares a data set, ready to run once the total is right."""
    name = shlex.quote(dataset) if dataset is not None else "NAME"
    return f"`sparsedp ledger init {shlex.quote(path)} --dataset {name} --epsilon 2`"


# Refusals name what was typed: which option named an axis, a column, or how CSV is written.


def check_axes(option: str, named: Iterable[str], axes: Sequence[str]) -> None:
    """Refuse what an option says of an axis that is not there."""
    for name in named:
        if name not in axes:
            raise UnknownName(option, name, axes)


@contextmanager
def columns_as_typed(
    unit: str | Sequence[str] | None, counting: Mapping[str, Any], axes: Sequence[str]
) -> Iterator[None]:
    """What is said of a column of the records is said of the option that names it.

    `counting`: what `sparsedp.count` was given beside the unit and the domain; `axes`: of --by.
    """
    columns, csv = counting.get("columns") or {}, counting.get("csv") or {}
    named = {
        "--by": [axis for axis in axes if axis not in columns],
        "--column": list(columns.values()),
        "--value": [counting.get("value")],
        "--unit": [unit] if isinstance(unit, str) else list(unit or ()),
    }
    try:
        yield
    except InvalidInput as error:
        if error.argument == "csv" and csv:
            option: str | None = f"--{next(iter(csv)).replace('_', '-')}"
        else:
            found = (option for option, names in named.items() if _is_about(error, names))
            option = next(found, None) if error.argument == "column" else None
        if option is None:
            raise
        raise InvalidInput(option, error.given, error.remedy) from None


def _is_about(error: InvalidInput, names: Iterable[str | None]) -> bool:
    return any(name is not None and error.given.startswith(f"{name!r}, ") for name in names)
