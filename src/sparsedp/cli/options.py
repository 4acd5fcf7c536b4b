"""Options that several commands share, each worded once."""

from __future__ import annotations

from typing import Annotated

import typer

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
            "'age:\\[0,18,65,120]', 'hour:0..23'. Declared, never read off the data."
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
MechanismName = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="adaptive (the default), adaptive:cells, adaptive:ranges, laplace, hierarchical, privelet, compressive.",
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
LedgerFile = Annotated[
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
