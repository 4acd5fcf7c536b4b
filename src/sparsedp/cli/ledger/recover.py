"""`sparsedp ledger recover`: write again the release that a spend has paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sparsedp.cli.budgets import the_books
from sparsedp.cli.files import STANDARD
from sparsedp.cli.options import AsJson, Overwrite, PassphraseFd, Sign
from sparsedp.cli.release_output import Format, Output, write_release
from sparsedp.cli.speaking import show, show_json
from sparsedp.errors import BadFile, InvalidInput

if TYPE_CHECKING:
    from sparsedp.privacy.ledger_file import DataSetLedger
    from sparsedp.privacy.spend import Spend

RECOVER_EXAMPLES = """
sparsedp ledger recover flights.db --spend 1 -o again.release.parquet
"""


def recover_release(
    file: Annotated[str, typer.Argument(help="The ledger's file.")],
    spend: Annotated[
        int, typer.Option("--spend", metavar="NUMBER", help="Of the spend, as `sparsedp ledger show` prints it.")
    ],
    output: Output,
    form: Format = None,
    sign: Sign = None,
    passphrase_fd: PassphraseFd = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the release of a spend again, if its file was lost: nothing is spent, and no records are read.

    It is recovered from the measurement that is stored beside the ledger.
    """
    from sparsedp.publishing.stored import recovered

    with write_release(
        output, form, overwrite=overwrite, as_json=as_json, sign=sign, passphrase_fd=passphrase_fd
    ) as write:
        ledger, entry = _found(file, spend)
        if entry.synopsis_path is None:
            raise BadFile(f"Spend {spend} of {file} has no stored measurement: {_why(entry)}.")
        release = recovered(ledger, entry)
        write(release)
    if entry.state != "delivered":
        ledger.deliver(entry, release.digest)
    same = entry.release_digest in (None, release.digest)
    if as_json:
        show_json({"release": output, "spend": spend, "digest": release.digest, "as_delivered": same})
    elif output != STANDARD:
        other = "" if same else " It differs from the one that was delivered, which another version may have written."
        show(f"Wrote {output}: {release.span}, by {release.mechanism}. Nothing more was spent.{other}")


def _found(file: str, number: int) -> tuple[DataSetLedger, Spend]:
    """The spend of that number, whichever data set it was for, with the place of what is stored of it."""
    books = the_books(file)
    for name in books.names:
        ledger = books[name]
        for entry in ledger.entries:
            if entry.number == number:
                return ledger, ledger.stored(entry)
    raise InvalidInput("--spend", f"{number}, which {file} does not hold", f"`sparsedp ledger show {file}` lists them")


def _why(entry: Spend) -> str:
    if "stream" in entry.parameters:
        return "it paid for a stream, whose file holds all there is"
    if entry.state == "debited":
        return "its run was stopped before there was any"
    return "it is gone from the folder beside the ledger, or was changed"
