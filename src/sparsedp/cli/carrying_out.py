"""Carry out what `sparsedp release` was asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.cli.as_typed import columns_as_typed
from sparsedp.cli.budgets import the_ledger
from sparsedp.cli.declaration import Declaration
from sparsedp.cli.deliveries import delivery_to
from sparsedp.cli.files import STANDARD, check_endings, check_output
from sparsedp.cli.interruption import refuse_if_interrupted
from sparsedp.cli.signing_keys import key_to_sign
from sparsedp.cli.speaking import note, show, show_json, warnings_as_notes
from sparsedp.cli.stopping import Undertaking, honest_when_stopped
from sparsedp.constraints import Constraints
from sparsedp.errors import InvalidInput
from sparsedp.publishing import checked_mechanism
from sparsedp.publishing.carrying_out import carried_out
from sparsedp.publishing.order import Order
from sparsedp.publishing.stored import stored_for

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


def published(wanted: Declaration, *, as_json: bool) -> None:
    """Publish, write the files, and say what was spent."""
    from sparsedp.cli.records import records_from

    ledger = None if wanted.ledger is None else the_ledger(wanted.ledger, wanted.dataset, wanted.source)
    order, delivery = order_of(wanted, records_from(wanted.source)), delivery_to(wanted)
    stored = stored_for(order, delivery, ledger) is not None
    check_outputs(wanted, as_json=as_json, may_be_there=stored)
    key = key_to_sign(wanted.sign, wanted.passphrase_fd, form=wanted.form)
    if wanted.from_project is not None:
        note(wanted.from_project)
    with warnings_as_notes(), honest_when_stopped(Undertaking(wanted, order, delivery, ledger)) as course:
        with columns_as_typed(wanted.unit, wanted.counting, wanted.domain.names):
            release = carried_out(order, delivery, ledger, before_debit=refuse_if_interrupted, course=course, sign=key)
        if wanted.report is not None:
            _report(release, wanted)
        if as_json:
            show_json(_facts(wanted, release))
        else:
            _tell(wanted, release, was_there=course.was_there)


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


def check_outputs(wanted: Declaration, *, as_json: bool, may_be_there: bool = False) -> None:
    """Refuse what could not be written, before anything is read or spent.

    `may_be_there`: an interrupted run may have written the release; whether it is what is there is looked at later.
    """
    if wanted.output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")
    check_output(wanted.output, overwrite=wanted.overwrite or may_be_there, binary=wanted.form == "parquet")
    if wanted.report is not None:
        check_endings(wanted.report, (".html", ".htm"), "report")
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
        "signed_with": None if release.signature is None else release.signature.fingerprint,
        "ledger": None if release.record is None else dict(release.record),
    }


def _tell(wanted: Declaration, release: Release, *, was_there: bool) -> None:
    say = note if wanted.output == STANDARD else show
    where = "standard output" if wanted.output == STANDARD else wanted.output
    wrote = f"{where} was there already, and is now recorded as delivered" if was_there else f"Wrote {where}"
    say(f"{wrote}: {release.domain}, by {release.mechanism}.")
    if release.signature is not None:
        say(f"Signed with {release.signature.fingerprint}.")
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
