"""`sparsedp stream init`: a new stream, its budget debited before there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedp.cli.budgets import ledger_named
from sparsedp.cli.files import check_output
from sparsedp.cli.options import (
    BUDGET,
    PEOPLE,
    AsJson,
    DataSetName,
    LedgerFile,
    NeighboursName,
    NoLedger,
)
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.cli.stream.file import begin
from sparsedp.cli.stream.kinds import new_stream
from sparsedp.errors import InvalidInput

INIT_EXAMPLES = """
sparsedp ledger init visits.db --dataset visits --epsilon 2
sparsedp stream init visits.stream --epsilon 0.5 \\
  --start 2026-01-01 --every 1h --ledger visits.db
sparsedp ledger init budget.db --dataset clinic --epsilon 2
sparsedp stream init clinic.stream --epsilon 0.5 \\
  --start 2026-01-01 --every 1d --unit person --contribution 30 \\
  --ledger budget.db --dataset clinic
"""


def begin_stream(
    file: Annotated[str, typer.Argument(help="The stream's file, which must not exist yet.")],
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="ε", help="The budget of the whole stream.", rich_help_panel=BUDGET)
    ],
    start: Annotated[
        str | None, typer.Option("--start", metavar="TIME", help="When the first tick is: 2026-01-01.")
    ] = None,
    every: Annotated[
        str | None, typer.Option("--every", metavar="STEP", help="How often a tick comes: 15min, 1h, 1d.")
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="NAME", help="adaptive, difference or compressive.")
    ] = "adaptive",
    horizon: Annotated[
        int | None, typer.Option("--horizon", metavar="TICKS", help="How many ticks there will be, where it is needed.")
    ] = None,
    totals: Annotated[
        str | None,
        typer.Option("--totals", metavar="SHARE", help="The share of ε for running totals (adaptive, with --horizon)."),
    ] = None,
    sparsity: Annotated[
        int | None, typer.Option("--sparsity", metavar="COUNT", help="How many coefficients matter (compressive).")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="NAME", help="event (the default) or person.", rich_help_panel=PEOPLE),
    ] = None,
    contribution: Annotated[
        int | None,
        typer.Option(
            "--contribution",
            metavar="COUNT",
            help="The most that one of them adds to all ticks together: your promise; 1 if left out, for events.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    neighbours: NeighboursName = None,
    negative: Annotated[bool, typer.Option("--negative", help="Allow counts below zero.")] = False,
    ledger: LedgerFile = None,
    dataset: DataSetName = None,
    no_ledger: NoLedger = False,
    as_json: AsJson = False,
) -> None:
    """Begin a stream: one file, one budget for as long as it runs, all of it debited now."""
    check_output(file, instead="a stream is never begun anew: go on with it, or give another name")
    if unit == "person" and contribution is None:
        remedy = "promise the most that one person adds to all ticks together, such as --contribution 30"
        raise InvalidInput("contribution", "missing, and the unit is a person", remedy)
    pays = ledger_named(ledger, no_ledger=no_ledger)
    settings = {
        "epsilon": epsilon,
        "start": start,
        "every": every,
        "horizon": horizon,
        "totals": totals,
        "sparsity": sparsity,
        "unit": unit,
        "contribution": contribution,
        "neighbours": neighbours,
        "negative": negative or None,
    }
    new_stream(kind, settings)  # what is wrong with the settings is said first
    books = None
    if pays is not None:
        from sparsedp.cli.budgets import the_ledger

        books = the_ledger(pays, dataset, file)
    stream = new_stream(kind, {**settings, "ledger": books})
    begin(Path(file), stream, books)
    if books is None:
        note(f"{stream.spent.amount} is entered in no ledger: keep count of it yourself.")
    if as_json:
        show_json({"file": file, **stream.describe(), "guarantee": str(stream.guarantee)})
    else:
        show(f"Began {file}. {stream.guarantee}")
