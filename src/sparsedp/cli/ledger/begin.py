"""`sparsedp ledger init`: declare a data set and its total."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsedp.cli.options import BUDGET, AsJson
from sparsedp.cli.speaking import show, show_json

INIT_EXAMPLES = """
sparsedp ledger init budget.db --dataset visits --epsilon 2
sparsedp ledger init budget.db --dataset trials --epsilon 1 --delta 1e-9
"""


def begin_ledger(
    file: Annotated[str, typer.Argument(help="The ledger's file; it is made if there is none.")],
    dataset: Annotated[
        str, typer.Option("--dataset", metavar="NAME", help="A name for these people's data; one name, one budget.")
    ],
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="ε", help="The total, in ε: 2, 0.5, 1/3. Exact.", rich_help_panel=BUDGET),
    ] = None,
    rho: Annotated[
        str | None,
        typer.Option("--rho", metavar="ρ", help="The total, in ρ (zero-concentrated).", rich_help_panel=BUDGET),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="δ", help="With --epsilon: a total of (ε, δ).", rich_help_panel=BUDGET),
    ] = None,
    composition: Annotated[
        str,
        typer.Option(
            "--composition",
            metavar="NAME",
            help="How spends add up in a total of ε with δ: basic, or zcdp (for many small releases).",
            rich_help_panel=BUDGET,
        ),
    ] = "basic",
    as_json: AsJson = False,
) -> None:
    """Declare a data set and all that may ever be spent on it, in a ledger file that every command shares.

    The total cannot be changed afterwards. A data set is known by its name, not by its content: declare the same people
    under one name.
    """
    from sparsedp.privacy.ledger_file import open_ledger

    ledger = open_ledger(file).declare(dataset, epsilon=epsilon, rho=rho, delta=delta, composition=composition)
    if as_json:
        show_json({"ledger": file, "data_set": ledger.name, "total": ledger.total.describe()})
    else:
        show(f"{file} has {ledger.total} for {ledger.name}; left: {ledger.remaining or 'nothing'}.")
