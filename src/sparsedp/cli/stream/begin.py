"""`sparsedp stream init`: a new stream's file, its budget debited before it has its name."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedp.cli.files import check_output
from sparsedp.cli.interruption import Interrupted
from sparsedp.cli.options import (
    BUDGET,
    PEOPLE,
    AsJson,
    DataSetName,
    LedgerFile,
    NeighboursName,
)
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.cli.stream.kinds import new_stream
from sparsedp.errors import BadFile

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.streams.base import Stream

INIT_EXAMPLES = """
sparsedp stream init visits.stream --epsilon 0.5 \\
  --start 2026-01-01 --every 1h
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
            help="The most that one of them adds to all ticks together: your promise; 1 if left out.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    neighbours: NeighboursName = None,
    negative: Annotated[bool, typer.Option("--negative", help="Allow counts below zero.")] = False,
    ledger: LedgerFile = None,
    dataset: DataSetName = None,
    as_json: AsJson = False,
) -> None:
    """Begin a stream: one file, one budget for as long as it runs. With a ledger, the whole budget is debited now."""
    check_output(file)
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
    stream = new_stream(kind, settings)
    pays = None
    if ledger is not None:
        from sparsedp.cli.budgets import the_ledger

        pays = the_ledger(ledger, dataset, file)
    elif not as_json:
        note(f"{stream.spent.amount} is entered in no ledger; name one with --ledger to keep count of it.")
    _create(Path(file), stream, pays)
    if as_json:
        show_json({"file": file, **stream.describe(), "guarantee": str(stream.guarantee)})
    else:
        show(f"Began {file}. {stream.guarantee}")


def _create(path: Path, stream: Stream, ledger: Ledger | None) -> None:
    """Everything that can fail comes before the debit; after it the file only gets its name."""
    from sparsedp.streams.durable import open_stream

    spent, relation = stream.spent, stream.guarantee.neighbours.relation
    scratch = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}")
    described = stream.describe()
    spend, debited = None, False
    try:
        open_stream(scratch, stream).close()
        if ledger is not None:
            spend = ledger.debit(spent, f"{stream.name} stream", relation=relation, parameters=described)
            debited = True
        _name(scratch, path)
        if spend is not None and ledger is not None:
            ledger.deliver(spend, hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest())
    except KeyboardInterrupt:
        raise Interrupted(
            f"{_debited(spent.amount)}" if debited else "No stream was begun and nothing was spent."
        ) from None
    except OSError as error:
        already = f" {_debited(spent.amount)}" if debited else " Nothing was spent."
        raise BadFile(f"Could not create {path}: {error.strerror}.{already}") from None
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                scratch.with_name(scratch.name + ending).unlink()


def _name(scratch: Path, path: Path) -> None:
    """Give the file its name, unless another process has taken it meanwhile."""
    try:
        os.link(scratch, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise
        os.rename(scratch, path)


def _debited(amount: str) -> str:
    return f"{amount} was already debited and stays spent, but there is no stream; beginning it again debits it again."
