"""Carry out what `sparsedp release` was asked for."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.cli.budgets import the_ledger
from sparsedp.cli.declaration import Declaration
from sparsedp.cli.files import STANDARD, check_endings, check_output, send
from sparsedp.cli.interruption import Interrupted, refuse_if_interrupted, spent_before
from sparsedp.cli.release_output import write_csv
from sparsedp.cli.speaking import note, show, show_json
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.releases.release import Release


def published(wanted: Declaration, *, as_json: bool) -> None:
    """Publish, write the files, and say what was spent."""
    check_outputs(wanted, as_json=as_json)
    ledger = None if wanted.ledger is None else the_ledger(wanted.ledger, wanted.dataset, wanted.source)
    if ledger is not None:
        _debit_only_if_not_interrupted(ledger)
    target = _target(wanted)
    with _warnings_as_notes(), _honest_when_interrupted(ledger):
        release = _publish(wanted, ledger, target)
    _deliver(wanted, release, target)
    if wanted.report is not None:
        try:
            release.report(wanted.report, title=wanted.title)
        except BaseException:
            note(f"the release itself is complete: {wanted.output}.")
            raise
    if as_json:
        show_json(_facts(wanted, release))
    else:
        _tell(wanted, release)


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


def _publish(wanted: Declaration, ledger: Ledger | None, target: Path) -> Release:
    from sparsedp.cli.records import records_from
    from sparsedp.constraints import Constraints
    from sparsedp.publishing.to_file import publish

    release: Release = publish(
        records_from(wanted.source, wanted.counting.get("csv")),
        to=target,
        domain=wanted.domain,
        privacy_unit=wanted.unit,
        max_contributions=wanted.max_contributions,
        epsilon=wanted.asked.budget,
        mechanism=wanted.mechanism,
        ledger=ledger,
        overwrite=wanted.overwrite or _is_spool(wanted),
        neighbours=wanted.neighbours,
        constraints=Constraints(integers=True) if wanted.integers else None,
        **wanted.counting,
    )
    return release


def _debit_only_if_not_interrupted(ledger: Ledger) -> None:
    """Libraries that read records can swallow Ctrl-C: it must stop the command before the debit even so."""
    debit = ledger.debit

    def debit_now(*arguments: Any, **settings: Any) -> Any:
        refuse_if_interrupted()
        return debit(*arguments, **settings)

    setattr(ledger, "debit", debit_now)  # noqa: B010  # of this one ledger, for this one command


def _is_spool(wanted: Declaration) -> bool:
    return wanted.output == STANDARD or wanted.form == "csv"


def _target(wanted: Declaration) -> Path:
    """The Parquet file that is published: its name must stay the same for an interrupted run to be recognised."""
    if not _is_spool(wanted):
        return Path(wanted.output)
    if wanted.output == STANDARD:
        return Path(".sparsedp-standard-output.release.parquet")
    output = Path(wanted.output)
    return output.with_name(f".{output.name}.release.parquet")


def _deliver(wanted: Declaration, release: Release, target: Path) -> None:
    """Bring a release to standard output, or into CSV. If that fails it is kept, for it is paid for."""
    if not _is_spool(wanted):
        return
    try:
        if wanted.output != STANDARD:
            write_csv(release, Path(wanted.output))
        elif wanted.form == "csv":
            spool = target.with_name(f"{target.name}.csv")
            try:
                write_csv(release, spool)
                send(spool)
            finally:
                spool.unlink(missing_ok=True)
        else:
            send(target)
    except BaseException:
        note(f"the release was published and paid for, but did not reach its reader; it is kept in {target}.")
        raise
    target.unlink()


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


@contextmanager
def _honest_when_interrupted(ledger: Ledger | None) -> Iterator[None]:
    """Say after Ctrl-C whether the budget was spent; in doubt the ledger is asked, not memory."""
    before = 0 if ledger is None else len(ledger.entries)
    try:
        yield
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt):
            raise
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
