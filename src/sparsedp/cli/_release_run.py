"""Carry out what `sparsedp release` was asked for, or say what it would do; and where the release goes.

Whatever stops it, Ctrl-C or an error, its last sentence is true: what was spent, what is there, what to do. The ledger
and the file are asked, not memory: a run can be stopped between doing something and taking note of it.
"""

from __future__ import annotations

import filecmp
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sparsedp.cli._files import (
    STANDARD,
    check_endings,
    check_output,
    form_of,
    key_to_sign,
    records_from,
    unread,
    write_csv,
    write_release,
)
from sparsedp.cli._options import columns_as_typed
from sparsedp.cli._release import Command, counting_of, unit_of
from sparsedp.cli._running import (
    GOES_ON,
    TAKES_NOTE,
    Interrupted,
    code_of,
    from_here_on,
    is_interrupted,
    refuse_if_interrupted,
)
from sparsedp.cli._speaking import note, show, show_json, warnings_as_notes
from sparsedp.errors import BudgetExceeded, InvalidInput, SparsedpError
from sparsedp.publishing.order import Delivery, FileDelivery
from sparsedp.publishing.run import Run, memory_for, recovered
from sparsedp.validate import shown

if TYPE_CHECKING:
    from sparsedp.files.signatures import SigningKey
    from sparsedp.privacy.ledger import Spend
    from sparsedp.publishing.order import Order
    from sparsedp.releases.release import Release


def published(wanted: Command, *, as_json: bool) -> None:
    """Publish, write the files, and say what was spent."""
    order = wanted.order(records_from(wanted.source))
    _check_outputs(wanted, as_json=as_json, may_be_there=Run(order).stored is not None)
    run = Run(replace(order, sign=_key(wanted)), refuse_if_interrupted)  # who is asked for a passphrase takes time
    if wanted.from_project is not None:
        note(wanted.from_project)
    with warnings_as_notes(), _honest_when_stopped(run, wanted):
        axes = order.request.domain.names
        with columns_as_typed(order.request.privacy_unit, counting_of(wanted.settings, axes), axes):
            release = run.carried_out()
        if wanted.report is not None:
            _report(release, wanted)
        if as_json:
            show_json(_facts(wanted, release))
        else:
            _tell(wanted, release, was_there=run.was_there)


def _key(wanted: Command) -> SigningKey | None:
    return key_to_sign(wanted.settings.get("sign"), wanted.passphrase_fd, form=wanted.kind)


def _report(release: Release, wanted: Command) -> None:
    from sparsedp.reports import write_report

    try:
        write_report(release, wanted.report or "", title=wanted.settings.get("title"), file=_file_of(wanted))
    except Exception:
        note(f"the release itself is complete: {wanted.output}.")
        raise


def _file_of(wanted: Command) -> str | None:
    """The release's own file, for the examples on the page; None if it is no Parquet file."""
    return Path(wanted.output).name if wanted.output != STANDARD and wanted.kind == "parquet" else None


def _check_outputs(wanted: Command, *, as_json: bool, may_be_there: bool = False) -> None:
    """Refuse what could not be written, before anything is read or spent.

    `may_be_there`: an interrupted run may have written the release; whether it is what is there is looked at later.
    """
    if wanted.output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")
    check_output(wanted.output, overwrite=wanted.overwrite or may_be_there, binary=wanted.kind == "parquet")
    if wanted.report is not None:
        check_endings(wanted.report, (".html", ".htm"), "report")
        if wanted.report == STANDARD:
            raise InvalidInput("report", "-", "name a file; `sparsedp report FILE -o -` writes to standard output")
        check_output(wanted.report, overwrite=wanted.overwrite, binary=False)


def _facts(wanted: Command, release: Release) -> dict[str, Any]:
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
        "cut": None if release.cut is None else release.cut.facts(),
        "clamp": None if release.quantity.clamp is None else [shown(bound) for bound in release.quantity.clamp],
    }


def _tell(wanted: Command, release: Release, *, was_there: bool) -> None:
    say = note if wanted.output == STANDARD else show
    where = "standard output" if wanted.output == STANDARD else wanted.output
    wrote = f"{where} was there already, and is now recorded as delivered" if was_there else f"Wrote {where}"
    say(f"{wrote}: {release.domain}, by {release.mechanism}.")
    if release.signature is not None:
        say(f"Signed with {release.signature.fingerprint}.")
    say(str(release.guarantee))
    if release.cut is not None:
        say(str(release.cut))
    if wanted.settings.get("clamp") == "auto" and release.quantity.clamp is not None:
        low, high = map(shown, release.quantity.clamp)
        say(f"Values were clamped to {low} to {high}, as a private look at how large they are chose.")
    if release.record is not None:
        record = release.record
        figures = f"spent {record['spent']} of {record['total']}; left: {record['left']}"
        say(f"Ledger {wanted.ledger}, {record['data_set']}: {figures}.")
    else:
        note(f"{release.spent.amount} was spent and is in no ledger: keep count of it yourself.")
    if wanted.report is not None:
        say(f"Wrote {wanted.report}: open it in a browser.")
    sys.stdout.flush()


# Say what `sparsedp release` would do.


def dry_run(wanted: Command, *, as_json: bool) -> None:
    """Say what would be spent and published. No record is read and no ledger changed.

    It ends with the code that the release would end with, as far as that can be told without the records.
    """
    order = wanted.order(unread(wanted.source))
    order = replace(order, sign=_key(wanted))
    run, ledger, key = Run(order), order.terms.ledger, order.sign
    stored = run.stored
    was_there = stored is not None and _is_there(run, stored, wanted)
    _check_outputs(wanted, as_json=as_json, may_be_there=was_there)
    if wanted.from_project is not None:
        note(wanted.from_project)
    left = None if ledger is None else ledger.remaining
    refusal = None if stored is not None else _refusal(run)
    if as_json:
        request, terms = order.request, order.terms
        show_json(
            {
                "dry_run": True,
                "source": wanted.source,
                "domain": request.domain.describe(),
                "cells": request.domain.size,
                "unit": unit_of(wanted.settings),
                "max_contributions": request.bound,
                "neighbours": terms.neighbours.relation,
                "counts_share": None if terms.counts is None else str(terms.counts.share),
                "cut_share": None if order.look is None else str(order.share),
                "mechanism": repr(order.mechanism),
                "stored": None if stored is None else {"spend": stored.number, "time": stored.time},
                "would_spend": None if stored is not None else terms.budget.describe(),
                "left": None if left is None else left.describe(),
                "refusal": None if refusal is None else str(refusal),
                "release": wanted.output,
                "report": wanted.report,
                "would_sign_with": None if key is None else key.fingerprint,
            }
        )
    else:
        _tell_in_advance(wanted, order, left, refusal, stored, was_there=was_there)
        if key is not None:
            show(f"Would sign with {key.fingerprint}.")
    if refusal is not None:
        raise typer.Exit(code_of(refusal))


def _tell_in_advance(
    wanted: Command,
    order: Order,
    left: Any,
    refusal: SparsedpError | None,
    stored: Spend | None,
    *,
    was_there: bool,
) -> None:
    request = order.request
    unit = request.privacy_unit
    whom = "each person, every record being another's" if unit is None else f"each {' + '.join(unit)}"
    show(f"Would count {wanted.source} by {request.domain}: {request.domain.size:,} cells.")
    records = "1 record" if request.max_contributions == 1 else f"{request.max_contributions:,} records"
    most = "as many records as a private look chooses" if request.chosen else f"at most {records}"
    show(f"Would count {most} of {whom}.")
    if request.clamp_is_chosen:
        show("Would clamp values to what a private look at how large they are chooses.")
    if request.with_counts:
        show(f"Would publish {request.quantity} and the count of the same records, cell by cell.")
    if stored is not None:
        what = f"what an interrupted run has stored (spend {stored.number}, {stored.time})"
        show(f"Would go on from {what}, read no records and spend nothing more.")
    else:
        from sparsedp.mechanisms import name_and_settings

        show(f"Would spend {order.terms.budget} by {name_and_settings(order.mechanism)}{_of_what(wanted, left)}.")
        for expense in order.looked:
            show(f"Of this, {expense.budget} would be spent to {expense.purpose}.")
    files = [] if was_there else [wanted.output]
    files += [] if wanted.report is None else [wanted.report]
    if was_there:
        show(f"Would record that {wanted.output}, which holds that release, was delivered.")
    if files:
        show(f"Would write {' and '.join(files)}.")
    if refusal is not None:
        note(f"the release would be refused. {refusal}")
    show("Nothing was read and nothing was spent.")


def _of_what(wanted: Command, left: Any) -> str:
    if wanted.ledger is None:
        return ", in no ledger"
    return f" of what is left in {wanted.ledger}: {left or 'nothing'}"


def _is_there(run: Run, stored: Spend, wanted: Command) -> bool:
    """Whether an interrupted run has written the release, too, and only did not come to record it."""
    order, ledger = run.order, run.order.terms.ledger
    if ledger is None or wanted.output == STANDARD or not Path(wanted.output).is_file():
        return False
    release = recovered(ledger, stored, memory_for(order))
    return order.delivery.has(release if order.sign is None else release.sign(order.sign))


def _refusal(run: Run) -> SparsedpError | None:
    """What the ledger would say to the debit, without making it."""
    try:
        run.check()
    except (BudgetExceeded, InvalidInput) as error:
        return error
    return None


# What `sparsedp release` says when it is stopped, by Ctrl-C or an error: what was spent, what is there, what to do.


def _done(run: Run, wanted: Command) -> str:
    """What was spent and written so far; empty if that is nothing."""
    if run.delivered:
        return _is_delivered(run, wanted)
    spend = run.paid
    if spend is None:
        return _done_without_a_debit(run, wanted)
    if spend.state == "delivered":
        return _is_delivered(run, wanted)
    paid = (
        "Nothing more was spent."
        if run.taken_up
        else f"{spend.budget.amount} was debited from the ledger and stays spent."
    )
    left = "Nothing is stored of what it paid for: the same command would spend again."
    return f"{paid} {_how_to_go_on(run, wanted, spend, 'again, also') or left}"


def _remedy(run: Run, wanted: Command) -> str:
    """After an error: how to get what is paid for; empty if there is nothing to be had, or to be done."""
    spend = run.paid
    if spend is None or spend.state == "delivered":
        return ""
    return _how_to_go_on(run, wanted, spend, "once that is mended, or now")


def _how_to_go_on(run: Run, wanted: Command, spend: Spend, when: str) -> str:
    """The commands that deliver what a spend has paid for; empty if nothing is stored of it."""
    if run.has_arrived:
        return f"{wanted.output} holds the release, whole: the same command again {TAKES_NOTE}"
    if spend.synopsis_path is None:
        return ""
    form = "" if form_of(wanted.output, None) == wanted.kind else f" --format {wanted.kind}"
    output = "FILE" if Path(wanted.output).exists() else shlex.quote(wanted.output)
    recover = f"sparsedp ledger recover {shlex.quote(wanted.ledger or '')} --spend {spend.number} -o {output}{form}"
    # Records that are piped in have no name: their order is known by where its release goes.
    same = when.partition(",")[0] if run.order.request.file is None else f"{when} with another -o"
    return f"The same command {same}, or `{recover}` {GOES_ON}"


def _done_without_a_debit(run: Run, wanted: Command) -> str:
    if run.has_arrived:
        return _is_delivered(run, wanted)
    if run.release is not None and wanted.output == STANDARD:
        return f"Part of the release may have gone to standard output: count {run.release.spent.amount} as spent."
    return ""


def _is_delivered(run: Run, wanted: Command) -> str:
    where = "went to standard output" if wanted.output == STANDARD else f"is {wanted.output}"
    return f"{run.order.terms.budget.amount} is spent, and the release {where}."


@contextmanager
def _honest_when_stopped(run: Run, wanted: Command) -> Iterator[None]:
    """Whatever ends the block, its last sentence is true."""
    unknown = _where_to_look(run, wanted)
    from_here_on(unknown)
    try:
        yield
        from_here_on(_done(run, wanted))
    except BaseException as error:
        try:
            if is_interrupted(error):
                raise Interrupted(_done(run, wanted)) from None
            remedy = _remedy(run, wanted)
        except SparsedpError:  # the ledger cannot be read now
            if is_interrupted(error):
                raise Interrupted(unknown) from None
            remedy = ""
        if remedy:
            error.add_note(remedy)
        raise


def _where_to_look(run: Run, wanted: Command) -> str:
    """If it is stopped once more, while it finds out how far it came."""
    if wanted.ledger is not None:
        return f"What was spent is told by `sparsedp ledger show {shlex.quote(wanted.ledger)}`."
    return f"If anything was written to {wanted.output}, {run.order.terms.budget.amount} is spent."


# Where `sparsedp release` brings a release: a Parquet file, a CSV file, or standard output.
#
# What went to standard output is gone, and cannot be asked later: such a release counts as delivered once it was
# written to the end. If that fails, the same command sends it again.


class OutputDelivery:
    """A CSV file, or standard output in either form."""

    def __init__(self, output: str, form: str, *, overwrite: bool) -> None:
        self._output, self._form, self._overwrite = output, form, overwrite

    @property
    def name(self) -> str:
        """The whole path and the form; standard output has none but its own."""
        place = STANDARD if self._output == STANDARD else os.path.abspath(self._output)
        return f"{self._form} to {place}"

    def check(self) -> None:
        """The command has checked it before it read anything; a CSV file may have come to be since."""
        if self._output != STANDARD and not self._overwrite:
            FileDelivery(Path(self._output).with_suffix(".parquet"), overwrite=True).check()

    def has(self, release: Release) -> bool:
        """Whether the file is what would be written; of standard output nobody can tell."""
        if self._output == STANDARD or self._form != "csv" or not Path(self._output).is_file():
            return False
        with tempfile.TemporaryDirectory(prefix="sparsedp-") as folder:
            written = Path(folder) / "release.csv"
            write_csv(release, written)
            return filecmp.cmp(written, self._output, shallow=False)

    def write(self, release: Release) -> None:
        """Write it to the end."""
        with write_release(self._output, self._form, overwrite=self._overwrite) as write:
            write(release)


def delivery_to(output: str, form: str, *, overwrite: bool) -> Delivery:
    """The place that was asked for."""
    if output != STANDARD and form == "parquet":
        return FileDelivery(output, overwrite=overwrite)
    return OutputDelivery(output, form, overwrite=overwrite)
