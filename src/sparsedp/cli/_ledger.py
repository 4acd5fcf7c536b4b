"""`sparsedp ledger`: how much may be spent on whom, and how much was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, Format, Output, to_read, write_release
from sparsedp.cli._inspect import opened
from sparsedp.cli._options import (
    BUDGET,
    AsJson,
    Memory,
    Overwrite,
    PassphraseFd,
    ProjectFile,
    Sign,
    the_books,
    the_ledger,
)
from sparsedp.cli._project import project_settings, refuse_outside, taken_in_words
from sparsedp.cli._running import ExitCode
from sparsedp.cli._speaking import note, show, show_json, show_table
from sparsedp.errors import BadFile, InvalidInput

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Spend
    from sparsedp.privacy.ledger_file import DataSetLedger
    from sparsedp.privacy.ledger_file.books import Payment


# `sparsedp ledger init`: declare a data set and its total.

LEDGER_INIT_EXAMPLES = """
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


# `sparsedp ledger show`: totals, spends, and what is left.

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
        rows = [(entry.number, entry.time, entry.spent.amount, *_bought(entry), _in_words(entry)) for entry in entries]
        show_table(("spend", "time", "charged", "for", "by", "state"), rows)
    if together:
        show(f"All spends together: {together[ledger.name]}.")


def _composed(ledger: DataSetLedger, delta: str) -> str:
    from sparsedp.privacy.accounting import composed

    return str(composed(ledger.entries, delta) or "nothing")


# A spend of a ledger in a few words: what it bought, by what, and how far that came.

_STATES = {
    "debited": "spent; nothing is stored",
    "stored": "spent; stored, not delivered",
    "delivered": "delivered",
}


def _bought(spend: Spend) -> tuple[str, str]:
    """The axes of what was published, and the mechanism; of a stream its schedule and its kind."""
    parameters: Any = spend.parameters
    if "stream" in parameters:
        from sparsedp.axes.schedule import Schedule

        terms = parameters.get("terms", {})
        return f"a stream, {Schedule(terms.get('start'), terms.get('every'))}", str(parameters["stream"])
    name, _, cells = spend.purpose.partition(", ")
    return str(parameters.get("cells", cells or name)), _mechanism(name, str(parameters.get("mechanism", "")))


def _mechanism(name: str, written: str) -> str:
    """`Adaptive(workload='cells')` as the option --mechanism has it, adaptive:cells; other settings behind the name."""
    settings = written.partition("(")[2].removesuffix(")").replace("'", "")
    if settings.startswith("workload="):
        workload = settings.removeprefix("workload=")
        return name if workload == "any" else f"{name}:{workload}"
    return f"{name} ({settings.replace('=', ' ')})" if settings else name


def _in_words(spend: Spend) -> str:
    """How far a spend has come, with the beginning of its release's digest."""
    if "stream" in spend.parameters:
        return "begun" if spend.state == "delivered" else "spent; no stream was begun"
    digest = "" if spend.release_digest is None else f" ({spend.release_digest[:12]})"
    return f"{_STATES[spend.state]}{digest}"


# `sparsedp ledger check`: whether a file is one of the releases that a ledger has paid for.

CHECK_EXAMPLES = """
sparsedp ledger check flights.db flights.release.parquet
sparsedp ledger check flights.db again.release.parquet
"""

_MATCHED = {
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
        show_json({"ledger": file, "file": release, "digest": found.digest, "paid": _payment_facts(payment)})
    elif payment is None:
        note(f"{release} is none of the releases that {file} has paid for.{_claim(getattr(found, 'record', None))}")
    else:
        spend = payment.spend
        show(f"{release} is of spend {spend.number} of {file}, {payment.data_set}: {_MATCHED[payment.by]}.")
        show(f"{spend.spent.amount} was debited for it {spend.time}; {_in_words(spend)}.")
    if payment is None:
        raise typer.Exit(ExitCode.REFUSED)


def _payment_facts(payment: Payment | None) -> dict[str, Any] | None:
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


# `sparsedp ledger recover`: write again the release that a spend has paid for.

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
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Write the release of a spend again, if its file was lost: nothing is spent, and no records are read.

    It is recovered from the measurement that is stored beside the ledger.
    """
    from sparsedp.publishing.run import recovered

    with write_release(
        output, form, overwrite=overwrite, as_json=as_json, sign=sign, passphrase_fd=passphrase_fd
    ) as write:
        ledger, entry = _found(file, spend)
        if entry.synopsis_path is None:
            raise BadFile(f"Spend {spend} of {file} has no stored measurement: {_why(entry)}.")
        release = recovered(ledger, entry, memory)
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
