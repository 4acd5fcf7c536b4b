"""Carry out what `sparsedp release` was asked for."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.cli.budgets import the_ledger
from sparsedp.cli.declaration import Declaration
from sparsedp.cli.deliveries import delivery_to
from sparsedp.cli.files import STANDARD, check_endings, check_output
from sparsedp.cli.interruption import Interrupted, refuse_if_interrupted, spent_before
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.constraints import Constraints
from sparsedp.errors import InvalidInput
from sparsedp.publishing import checked_mechanism
from sparsedp.publishing.carrying_out import carried_out
from sparsedp.publishing.order import Order

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.releases.release import Release


def published(wanted: Declaration, *, as_json: bool) -> None:
    """Publish, write the files, and say what was spent."""
    from sparsedp.cli.records import records_from

    check_outputs(wanted, as_json=as_json)
    ledger = None if wanted.ledger is None else the_ledger(wanted.ledger, wanted.dataset, wanted.source)
    with _warnings_as_notes(), _honest_when_interrupted(ledger, wanted) as outcome:
        order = order_of(wanted, records_from(wanted.source))
        outcome.release = release = carried_out(order, delivery_to(wanted), ledger, before_debit=refuse_if_interrupted)
        if wanted.report is not None:
            _report(release, wanted)
        if as_json:
            show_json(_facts(wanted, release))
        else:
            _tell(wanted, release)


def _report(release: Release, wanted: Declaration) -> None:
    from sparsedp.reports import write_report

    try:
        write_report(release, wanted.report or "", title=wanted.title, file=_file_of(wanted))
    except Exception:
        note(f"the release itself is complete: {wanted.output}.")
        raise


def _file_of(wanted: Declaration) -> str | None:
    """The release's own file, for the examples on the page; None if it is no Parquet file."""
    return Path(wanted.output).name if wanted.output != STANDARD and wanted.form == "parquet" else None


def check_outputs(wanted: Declaration, *, as_json: bool) -> None:
    """Refuse what could not be written, before anything is read or spent."""
    if wanted.output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")
    check_output(wanted.output, overwrite=wanted.overwrite, binary=wanted.form == "parquet")
    if wanted.report is not None:
        check_endings(wanted.report, (".html", ".htm"))
        if wanted.report == STANDARD:
            raise InvalidInput("report", "-", "name a file; `sparsedp report FILE -o -` writes to standard output")
        check_output(wanted.report, overwrite=wanted.overwrite, binary=False)


def order_of(wanted: Declaration, source: Any) -> Order:
    """What is to be published of these records, checked."""
    counting = {
        "domain": wanted.domain,
        "privacy_unit": wanted.unit,
        "max_contributions": wanted.max_contributions,
        **wanted.counting,
    }
    return Order(
        source,
        counting,
        checked_mechanism(wanted.mechanism),
        wanted.asked,
        wanted.neighbours,
        Constraints(integers=True) if wanted.integers else None,
    )


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """What the library warns of is for the person at the terminal, without the line of code that said it."""

    def shown(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if category is UserWarning:
            note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = shown
        yield


@dataclass
class Outcome:
    """How far a command came."""

    release: Release | None = None
    """What was published, once it is where it was to go."""


@contextmanager
def _honest_when_interrupted(ledger: Ledger | None, wanted: Declaration) -> Iterator[Outcome]:
    """Say after Ctrl-C what was spent and written; in doubt the ledger is asked, not memory."""
    outcome = Outcome()
    before = 0 if ledger is None else len(ledger.entries)
    try:
        yield outcome
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt):
            raise
        if outcome.release is not None:
            spent, place = outcome.release.spent.amount, wanted.output
            where = "went to standard output" if place == STANDARD else f"is {place}"
            raise Interrupted(f"{spent} is spent, and the release {where}.") from None
        spent = spent_before(error)
        if not spent and ledger is not None and len(ledger.entries) > before:
            spent = "The ledger has a new debit since this command began, which stays spent."
        again = "Run the same command again: it goes on from what is stored."
        raise Interrupted(f"{spent} {again}" if spent else "") from None


def _facts(wanted: Declaration, release: Release) -> dict[str, Any]:
    return {
        "release": wanted.output,
        "report": wanted.report,
        "cells": len(release),
        "mechanism": release.mechanism,
        "spent": release.spent.describe(),
        "guarantee": str(release.guarantee),
        "private": release.private,
        "digest": release.digest,
        "ledger": None if release.record is None else dict(release.record),
    }


def _tell(wanted: Declaration, release: Release) -> None:
    say = note if wanted.output == STANDARD else show
    where = "standard output" if wanted.output == STANDARD else wanted.output
    say(f"Wrote {where}: {release.domain}, by {release.mechanism}.")
    say(str(release.guarantee))
    if release.record is not None:
        record = release.record
        figures = f"spent {record['spent']} of {record['total']}; left: {record['left']}"
        say(f"Ledger {wanted.ledger}, {record['data_set']}: {figures}.")
    else:
        note(f"{release.spent.amount} was spent and is in no ledger: keep count of it yourself.")
    if wanted.report is not None:
        say(f"Wrote {wanted.report}: open it in a browser.")
    sys.stdout.flush()
