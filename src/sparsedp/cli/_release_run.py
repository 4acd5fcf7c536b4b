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
from dataclasses import dataclass, field
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
from sparsedp.cli._options import columns_as_typed, the_ledger
from sparsedp.cli._release import Declaration
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
from sparsedp.constraints import Constraints
from sparsedp.errors import BudgetExceeded, InvalidInput, SparsedpError
from sparsedp.publishing import checked_mechanism
from sparsedp.publishing.carrying_out import Course, carried_out, recovered, stored_for
from sparsedp.publishing.order import Delivery, FileDelivery, Order

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger, Spend
    from sparsedp.privacy.ledger_file import DataSetLedger
    from sparsedp.releases.release import Release


def published(wanted: Declaration, *, as_json: bool) -> None:
    """Publish, write the files, and say what was spent."""
    ledger = None if wanted.ledger is None else the_ledger(wanted.ledger, wanted.dataset, wanted.source)
    order, delivery = order_of(wanted, records_from(wanted.source)), _delivery_to(wanted)
    stored = stored_for(order, delivery, ledger) is not None
    _check_outputs(wanted, as_json=as_json, may_be_there=stored)
    key = key_to_sign(wanted.sign, wanted.passphrase_fd, form=wanted.form)
    if wanted.from_project is not None:
        note(wanted.from_project)
    with warnings_as_notes(), _honest_when_stopped(Undertaking(wanted, order, delivery, ledger)) as course:
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


def _check_outputs(wanted: Declaration, *, as_json: bool, may_be_there: bool = False) -> None:
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


# Say what `sparsedp release` would do.


def dry_run(wanted: Declaration, *, as_json: bool) -> None:
    """Say what would be spent and published. No record is read and no ledger changed.

    It ends with the code that the release would end with, as far as that can be told without the records.
    """
    ledger = None if wanted.ledger is None else the_ledger(wanted.ledger, wanted.dataset, wanted.source)
    order, delivery = order_of(wanted, unread(wanted.source)), _delivery_to(wanted)
    spend = stored_for(order, delivery, ledger)
    stored = spend is not None
    was_there = ledger is not None and spend is not None and _is_there(ledger, spend, wanted, delivery)
    _check_outputs(wanted, as_json=as_json, may_be_there=was_there)
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
        _tell_in_advance(wanted, left, refusal, spend, was_there=was_there)
        if key is not None:
            show(f"Would sign with {key.fingerprint}.")
    if refusal is not None:
        raise typer.Exit(code_of(refusal))


def _tell_in_advance(
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


# What `sparsedp release` says when it is stopped, by Ctrl-C or an error: what was spent, what is there, what to do.


@dataclass
class Undertaking:
    """A release under way, with all that can be asked how far it came."""

    wanted: Declaration
    order: Order
    delivery: Delivery
    ledger: DataSetLedger | None
    course: Course = field(default_factory=Course)

    def __post_init__(self) -> None:
        self._before = set() if self.ledger is None else {entry.token for entry in self.ledger.entries}

    def done(self) -> str:
        """What was spent and written so far; empty if that is nothing."""
        if self.course.delivered:
            return self._is_there()
        spend = self._spend()
        if spend is None:
            return self._without_a_debit()
        if spend.state == "delivered":
            return self._is_there()
        taken = f"{spend.budget.amount} was debited from the ledger and stays spent."
        paid = taken if self.course.taken_up is None else "Nothing more was spent."
        left = "Nothing is stored of what it paid for: the same command would spend again."
        return f"{paid} {self._how_to_go_on(spend, 'again, also') or left}"

    def remedy(self) -> str:
        """After an error: how to get what is paid for; empty if there is nothing to be had, or to be done."""
        spend = self._spend()
        if spend is None or spend.state == "delivered":
            return ""
        return self._how_to_go_on(spend, "once that is mended, or now")

    def _how_to_go_on(self, spend: Spend, when: str) -> str:
        """The commands that deliver what a spend has paid for; empty if nothing is stored of it."""
        wanted = self.wanted
        if self._has_arrived():
            return f"{wanted.output} holds the release, whole: the same command again {TAKES_NOTE}"
        if spend.synopsis_path is None:
            return ""
        form = "" if form_of(wanted.output, None) == wanted.form else f" --format {wanted.form}"
        output = "FILE" if Path(wanted.output).exists() else shlex.quote(wanted.output)
        recover = f"sparsedp ledger recover {shlex.quote(wanted.ledger or '')} --spend {spend.number} -o {output}{form}"
        # Records that are piped in have no name: their order is known by where its release goes.
        same = f"{when} with another -o" if self.order.is_of_a_file else when.partition(",")[0]
        return f"The same command {same}, or `{recover}` {GOES_ON}"

    def _spend(self) -> Spend | None:
        """What pays for it, as the ledger has it now."""
        if self.ledger is None:
            return None
        known, request = self.course.spend, self.order.request(self.delivery.name)
        for entry in reversed(self.ledger.entries):
            ours = entry.token not in self._before and entry.request == request
            if ours if known is None else entry.token == known.token:
                return self.ledger.stored(entry)
        return None

    def _without_a_debit(self) -> str:
        if self._has_arrived():
            return self._is_there()
        if self.course.release is not None and self.wanted.output == STANDARD:
            amount = self.course.release.spent.amount
            return f"Part of the release may have gone to standard output: count {amount} as spent."
        return ""

    def _has_arrived(self) -> bool:
        return self.course.release is not None and self.delivery.has(self.course.release)

    def _is_there(self) -> str:
        place = self.wanted.output
        where = "went to standard output" if place == STANDARD else f"is {place}"
        return f"{self.wanted.asked.budget.amount} is spent, and the release {where}."


@contextmanager
def _honest_when_stopped(undertaking: Undertaking) -> Iterator[Course]:
    """Whatever ends the block, its last sentence is true."""
    unknown = _where_to_look(undertaking.wanted)
    from_here_on(unknown)
    try:
        yield undertaking.course
        from_here_on(undertaking.done())
    except BaseException as error:
        try:
            if is_interrupted(error):
                raise Interrupted(undertaking.done()) from None
            remedy = undertaking.remedy()
        except SparsedpError:  # the ledger cannot be read now
            if is_interrupted(error):
                raise Interrupted(unknown) from None
            remedy = ""
        if remedy:
            error.add_note(remedy)
        raise


def _where_to_look(wanted: Declaration) -> str:
    """If it is stopped once more, while it finds out how far it came."""
    if wanted.ledger is not None:
        return f"What was spent is told by `sparsedp ledger show {shlex.quote(wanted.ledger)}`."
    return f"If anything was written to {wanted.output}, {wanted.asked.budget.amount} is spent."


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


def _delivery_to(wanted: Declaration) -> Delivery:
    """The place that was asked for."""
    if wanted.output != STANDARD and wanted.form == "parquet":
        return FileDelivery(wanted.output, overwrite=wanted.overwrite)
    return OutputDelivery(wanted.output, wanted.form, overwrite=wanted.overwrite)
