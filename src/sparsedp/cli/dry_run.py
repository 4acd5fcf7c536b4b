"""Say what `sparsedp release` would do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sparsedp.cli.budgets import the_ledger
from sparsedp.cli.carrying_out import check_outputs, order_of
from sparsedp.cli.declaration import Declaration
from sparsedp.cli.deliveries import delivery_to
from sparsedp.cli.exit_codes import code_of
from sparsedp.cli.files import STANDARD
from sparsedp.cli.records import unread
from sparsedp.cli.signing_keys import key_to_sign
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.errors import BudgetExceeded, InvalidInput, SparsedpError
from sparsedp.publishing.stored import recovered, stored_for

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.privacy.spend import Spend
    from sparsedp.publishing.delivery import Delivery
    from sparsedp.publishing.order import Order


def dry_run(wanted: Declaration, *, as_json: bool) -> None:
    """Say what would be spent and published. No record is read and no ledger changed.

    It ends with the code that the release would end with, as far as that can be told without the records.
    """
    ledger = None if wanted.ledger is None else the_ledger(wanted.ledger, wanted.dataset, wanted.source)
    order, delivery = order_of(wanted, unread(wanted.source)), delivery_to(wanted)
    spend = stored_for(order, delivery, ledger)
    stored = spend is not None
    was_there = ledger is not None and spend is not None and _is_there(ledger, spend, wanted, delivery)
    check_outputs(wanted, as_json=as_json, may_be_there=was_there)
    key = key_to_sign(wanted.sign, wanted.passphrase_fd, form=wanted.form)
    if wanted.from_project is not None:
        note(wanted.from_project)
    left = None if ledger is None else ledger.remaining
    refusal = None if ledger is None or stored else _refusal(ledger, order)
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
                "stored": None if spend is None else {"spend": spend.number, "time": spend.time},
                "would_spend": None if stored else wanted.asked.budget.describe(),
                "left": None if left is None else left.describe(),
                "refusal": None if refusal is None else str(refusal),
                "release": wanted.output,
                "report": wanted.report,
                "would_sign_with": None if key is None else key.fingerprint,
            }
        )
    else:
        _tell(wanted, left, refusal, spend, was_there=was_there)
        if key is not None:
            show(f"Would sign with {key.fingerprint}.")
    if refusal is not None:
        raise typer.Exit(code_of(refusal))


def _tell(
    wanted: Declaration, left: Any, refusal: SparsedpError | None, stored: Spend | None, *, was_there: bool
) -> None:
    whom = "each person, every record being another's" if wanted.unit is None else f"each {_columns(wanted.unit)}"
    show(f"Would count {wanted.source} by {wanted.domain}: {wanted.domain.size:,} cells.")
    records = "1 record" if wanted.max_contributions == 1 else f"{wanted.max_contributions:,} records"
    show(f"Would count at most {records} of {whom}.")
    if stored is not None:
        what = f"what an interrupted run has stored (spend {stored.number}, {stored.time})"
        show(f"Would go on from {what}, read no records and spend nothing more.")
    else:
        from sparsedp.mechanisms.named import name_and_settings

        show(f"Would spend {wanted.asked.budget} by {name_and_settings(wanted.mechanism)}{_of_what(wanted, left)}.")
    files = [] if was_there else [wanted.output]
    files += [] if wanted.report is None else [wanted.report]
    if was_there:
        show(f"Would record that {wanted.output}, which holds that release, was delivered.")
    if files:
        show(f"Would write {' and '.join(files)}.")
    if refusal is not None:
        note(f"the release would be refused. {refusal}")
    show("Nothing was read and nothing was spent.")


def _columns(unit: str | list[str]) -> str:
    return unit if isinstance(unit, str) else " + ".join(unit)


def _of_what(wanted: Declaration, left: Any) -> str:
    if wanted.ledger is None:
        return ", in no ledger"
    return f" of what is left in {wanted.ledger}: {left or 'nothing'}"


def _is_there(ledger: Ledger, spend: Spend, wanted: Declaration, delivery: Delivery) -> bool:
    """Whether an interrupted run has written the release, too, and only did not come to record it."""
    return wanted.output != STANDARD and Path(wanted.output).is_file() and delivery.has(recovered(ledger, spend))


def _refusal(ledger: Ledger, order: Order) -> SparsedpError | None:
    """What the ledger would say to the debit, without making it."""
    try:
        ledger.check(order.budget, rho=order.asked.rho, relation=order.relation)
    except (BudgetExceeded, InvalidInput) as error:
        return error
    return None
