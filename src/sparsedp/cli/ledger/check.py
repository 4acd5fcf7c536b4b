"""`sparsedp ledger check`: whether a file is one of the releases that a ledger has paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli.budgets import the_books
from sparsedp.cli.exit_codes import ExitCode
from sparsedp.cli.files import to_read
from sparsedp.cli.ledger.spends import in_words
from sparsedp.cli.options import AsJson
from sparsedp.cli.signing import opened
from sparsedp.cli.speaking import note, show, show_json

if TYPE_CHECKING:
    from sparsedp.privacy.ledger_file.payment import Payment

CHECK_EXAMPLES = """
sparsedp ledger check flights.db flights.release.parquet
sparsedp ledger check flights.db again.release.parquet
"""

MATCHED = {
    "release": "it is the file that was delivered, by its digest",
    "synopsis": "it was recovered from the measurement that was paid for, by the digest of that",
}


def check_file(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger's file.")],
    release: Annotated[str, typer.Argument(metavar="FILE", help="A release or a synopsis; - for standard input.")],
    as_json: AsJson = False,
) -> None:
    """Say whether a file is one of the releases that the ledger has paid for: which spend, when, and how much.

    Ends with 1 if it is none of them. What the file says of itself is not relied on: the ledger knows what it paid for
    by its digest. The releases of streams are not recorded one by one.
    """
    books = the_books(file)
    with to_read(release) as path:
        found = opened(path, None)
    payment = books.paid_for(found)
    if as_json:
        show_json({"ledger": file, "file": release, "digest": found.digest, "paid": _facts(payment)})
    elif payment is None:
        note(f"{release} is none of the releases that {file} has paid for.{_claim(getattr(found, 'record', None))}")
    else:
        spend = payment.spend
        show(f"{release} is of spend {spend.number} of {file}, {payment.data_set}: {MATCHED[payment.by]}.")
        show(f"{spend.spent.amount} was debited for it {spend.time}; {in_words(spend)}.")
    if payment is None:
        raise typer.Exit(ExitCode.REFUSED)


def _facts(payment: Payment | None) -> dict[str, Any] | None:
    if payment is None:
        return None
    spend = payment.spend
    return {
        "data_set": payment.data_set,
        "spend": spend.number,
        "time": spend.time,
        "charged": spend.spent.describe(),
        "state": spend.state,
        "matched": payment.by,
    }


def _claim(record: Any) -> str:
    """What a file says of its ledger, if that can be taken for this one."""
    if not record:
        return ""
    return " It says that a ledger has paid for it; this one has not, or the file was changed since."
