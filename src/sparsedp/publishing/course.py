"""How far an order has come: for whoever has to say what was spent and written when it is stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Spend
    from sparsedp.publishing.booking import Booking
    from sparsedp.releases.release import Release


@dataclass
class Course:
    """Filled in while an order is carried out."""

    booking: Booking | None = None
    """The ledger's line for it, if it is debited in this run."""
    taken_up: Spend | None = None
    """What an earlier run has paid for and stored, if this one goes on from there."""
    release: Release | None = None
    """What is on its way to its place, or there."""
    was_there: bool = False
    """The earlier run had brought it there already."""
    delivered: bool = False
    """It is there, and the ledger knows."""

    @property
    def spend(self) -> Spend | None:
        """What pays for it."""
        return self.taken_up or (None if self.booking is None else self.booking.spend)
