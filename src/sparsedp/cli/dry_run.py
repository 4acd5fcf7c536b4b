"""Say what `sparsedp release` would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsedp.cli.budgets import the_ledger
from sparsedp.cli.declaration import Declaration
from sparsedp.cli.carrying_out import check_outputs
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.errors import BudgetExceeded, InvalidInput

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger


def dry_run(wanted: Declaration, *, as_json: bool) -> None:
    """Say what would be spent and published. No record is read and no ledger changed."""
    check_outputs(wanted, as_json=as_json)
    ledger = None if wanted.ledger is None else the_ledger(wanted.ledger, wanted.dataset, wanted.source)
    left = None if ledger is None else ledger.remaining
    refusal = None if ledger is None else _refusal(ledger, wanted)
    if as_json:
        show_json(
            {
                "dry_run": True,
                "source": wanted.source,
                "domain": wanted.domain.describe(),
                "cells": wanted.domain.size,
                "unit": wanted.unit,
                "max_contributions": wanted.max_contributions,
                "neighbours": wanted.neighbours,
                "mechanism": repr(wanted.mechanism),
                "would_spend": wanted.asked.budget.describe(),
                "left": None if left is None else left.describe(),
                "refusal": refusal,
                "release": wanted.output,
                "report": wanted.report,
            }
        )
        return
    whom = "each person, every record being another's" if wanted.unit is None else f"each {_columns(wanted.unit)}"
    show(f"Would count {wanted.source} by {wanted.domain}: {wanted.domain.size:,} cells.")
    records = "1 record" if wanted.max_contributions == 1 else f"{wanted.max_contributions:,} records"
    show(f"Would count at most {records} of {whom}.")
    show(f"Would spend {wanted.asked.budget} by {wanted.mechanism.name}{_of_what(wanted, left)}.")
    show(f"Would write {wanted.output}{'' if wanted.report is None else f' and {wanted.report}'}.")
    if refusal is not None:
        note(f"the release would be refused. {refusal}")
    show("Nothing was read and nothing was spent.")


def _columns(unit: str | list[str]) -> str:
    return unit if isinstance(unit, str) else " + ".join(unit)


def _of_what(wanted: Declaration, left: Any) -> str:
    if wanted.ledger is None:
        return ", in no ledger"
    return f" of what is left in {wanted.ledger}: {left or 'nothing'}"


def _refusal(ledger: Ledger, wanted: Declaration) -> str | None:
    """What the ledger would say to the debit, without making it."""
    try:
        ledger.check(wanted.asked.budget, rho=wanted.asked.rho, relation=wanted.neighbours)
    except (BudgetExceeded, InvalidInput) as error:
        return str(error)
    return None
