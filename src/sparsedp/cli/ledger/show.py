"""`sparsedp ledger show`: totals, spends, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli.budgets import the_books, the_ledger
from sparsedp.cli.ledger.spends import bought, in_words
from sparsedp.cli.options import AsJson, ProjectFile
from sparsedp.cli.project import project_settings, refuse_outside, taken_in_words
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.cli.tables import show_table
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.privacy.ledger_file import DataSetLedger
    from sparsedp.privacy.spend import Spend

SHOW_EXAMPLES = """
sparsedp ledger show budget.db
sparsedp ledger show budget.db --dataset visits --json
"""


def show_ledger(
    file: Annotated[str | None, typer.Argument(help="The ledger's file; left out, the project file's.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="Only this one.")] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="δ", help="Say what all spends come to as (ε, δ) with this δ.")
    ] = None,
    project: ProjectFile = None,
    as_json: AsJson = False,
) -> None:
    """Print what may be spent on each data set, every spend, and what is left."""
    if file is None:
        file = _of_the_project(project)
    if file is None:
        raise InvalidInput("ledger", "missing", "name its file: `sparsedp ledger show budget.db`")
    books = the_books(file)
    ledgers = [books[name] for name in books.names] if dataset is None else [the_ledger(file, dataset)]
    # Before anything is printed: it can fail for want of a package, or for the δ.
    together = {ledger.name: _composed(ledger, delta) for ledger in ledgers} if delta is not None else {}
    if as_json:
        show_json({"ledger": file, "data_sets": [_facts(ledger, together) for ledger in ledgers]})
        return
    if not ledgers:
        show(f"{file} has no data sets yet.")
    for place, ledger in enumerate(ledgers):
        if place:
            show("")
        _show_one(ledger, together)


def _of_the_project(project: str | None) -> str | None:
    path, said = project_settings(project)
    if path is None or "ledger" not in said:
        return None
    refuse_outside(path, said, ["ledger"])
    note(taken_in_words(path, said, ["ledger"]))
    return str(said["ledger"])


def _facts(ledger: DataSetLedger, together: dict[str, Any]) -> dict[str, Any]:
    """What is public of one data set's ledger: all of it."""
    spent, left = ledger.spent, ledger.remaining
    return {
        "data_set": ledger.name,
        "total": ledger.total.describe(),
        "composition": ledger.composition,
        "spent": None if spent is None else spent.describe(),
        "left": None if left is None else left.describe(),
        "spends": [_spend(entry) for entry in ledger.entries],
        **({"composed": together[ledger.name]} if together else {}),
    }


def _spend(entry: Spend) -> dict[str, Any]:
    return {
        "number": entry.number,
        "time": entry.time,
        "asked": entry.budget.describe(),
        "charged": entry.spent.describe(),
        "purpose": entry.purpose,
        "neighbours": entry.relation,
        "parameters": dict(entry.parameters),
        "state": entry.state,
        "synopsis": entry.synopsis_digest,
        "release": entry.release_digest,
    }


def _show_one(ledger: DataSetLedger, together: dict[str, Any]) -> None:
    entries, spent, left = ledger.entries, ledger.spent, ledger.remaining
    show(f"{ledger.name}: total {ledger.total}; spent {spent or 'nothing'}; left {left or 'nothing'}.")
    if entries:
        rows = [(entry.number, entry.time, entry.spent.amount, *bought(entry), in_words(entry)) for entry in entries]
        show_table(("spend", "time", "charged", "for", "by", "state"), rows)
    if together:
        show(f"All spends together: {together[ledger.name]}.")


def _composed(ledger: DataSetLedger, delta: str) -> str:
    from sparsedp.privacy.accounting import composed

    return str(composed(ledger.entries, delta) or "nothing")
