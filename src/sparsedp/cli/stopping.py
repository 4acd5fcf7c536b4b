"""What `sparsedp release` says when it is stopped, by Ctrl-C or an error: what was spent, what is there, what to do.

The ledger and the file are asked, not memory: a run can be stopped between doing something and taking note of it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sparsedp.cli.files import STANDARD
from sparsedp.cli.interruption import GOES_ON, TAKES_NOTE, Interrupted, from_here_on, is_interrupted
from sparsedp.cli.release_output import form_of
from sparsedp.errors import SparsedpError
from sparsedp.publishing.course import Course

if TYPE_CHECKING:
    from sparsedp.cli.declaration import Declaration
    from sparsedp.privacy.ledger_file import DataSetLedger
    from sparsedp.privacy.spend import Spend
    from sparsedp.publishing.delivery import Delivery
    from sparsedp.publishing.order import Order


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
def honest_when_stopped(undertaking: Undertaking) -> Iterator[Course]:
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
