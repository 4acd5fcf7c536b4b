"""Looks under audit that choose a bound, with the table that is measured for it: at how many records people have, and
at how large values are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.audits._mechanisms import Case
from sparsedp.counts import Counts
from sparsedp.ingest.bounding import DOUBLES
from sparsedp.ingest.request import AUTO, Request
from sparsedp.noise.source import RandomSource
from sparsedp.publishing.order import FileDelivery, Order
from sparsedp.publishing.run import measured
from sparsedp.synopsis import Synopsis

AUDITED_BOUND = 5
"""What made-up people are held to where a look would choose the bound."""


@dataclass(frozen=True)
class LookedCase(Case):
    """The row that is changed by one person is that of the people by their number of records, `cells` of them.

    All of a person's records are in one cell of a table, as many as the bound lets in: so both change at once.
    """

    bound: int | str = AUTO
    table: int = 4

    @property
    def what(self) -> str:
        """For the table."""
        return f"what a bound cuts, {self.bound} a person, {super().what}"

    def measure(self, cells: Ints, sampler: object = "sparsedp", source: RandomSource | None = None) -> Synopsis:
        """What is published of people of 1, 2, 3, … records."""

        def count(request: Request) -> Counts:
            most = request.max_contributions
            records = np.arange(1, len(cells) + 1)
            values = np.zeros(self.table, np.int64)
            np.add.at(values, np.arange(len(cells)) % self.table, cells * np.minimum(records, most))
            people = np.zeros(len(request.bins), np.int64)
            np.add.at(people, np.searchsorted(np.array(request.bins), records, side="right") - 1, cells)
            return Counts(
                values,
                request.domain,
                request.contribution,
                request.privacy_unit,
                most,
                people=people,
                chosen=request.chosen,
            )

        asked = Request.of(None, [f"cell:0..{self.table - 1}"], privacy_unit="who", max_contributions=self.bound)
        to = FileDelivery("nowhere.parquet")  # it is not delivered
        order = Order.of(asked, self.budget, self.mechanism, to, ledger=None, neighbours=self.neighbours)
        drawing = {} if source is None else {"sampler": sampler, "source": source}
        order = replace(order, terms=replace(order.terms, **drawing))  # type: ignore[arg-type]
        return measured(order, order.checked_plan(), count(order.request), count, None)


_ROOM = 2**60
"""What the sum of a bin's records goes up to, at most."""


@dataclass(frozen=True)
class ClampedCase(Case):
    """The row that is changed by one person is that of records by how large their values are, `cells` of them.

    Each record's value is the end of its bin, and the records of a bin are in one cell of a table: so the sums there
    change as well, by as much as the clamp that is chosen allows.
    """

    table: int = 4

    @property
    def what(self) -> str:
        """For the table."""
        return f"what values are clamped to, {super().what}"

    def measure(self, cells: Ints, sampler: object = "sparsedp", source: RandomSource | None = None) -> Synopsis:
        """What is published of so many records in every bin."""
        ends = 2 ** np.minimum(np.arange(2 * DOUBLES) % DOUBLES, 50)
        steps = np.where(np.arange(2 * DOUBLES) < DOUBLES, ends, -ends)

        def count(request: Request) -> Counts:
            assert request.amounts is not None  # noqa: S101  # values are what is looked at
            clamped = np.clip(steps, request.amounts.lowest, request.amounts.highest)
            records = np.minimum(cells, _ROOM // max(int(np.abs(clamped).max()), 1) // len(cells))
            values = np.zeros(self.table, np.int64)
            np.add.at(values, np.arange(len(cells)) % self.table, records * clamped)
            return Counts(
                values,
                request.domain,
                request.contribution,
                request.privacy_unit,
                request.max_contributions,
                request.quantity,
                request.negative,
                sizes=cells.copy(),
            )

        asked = Request.of(
            None,
            [f"cell:0..{self.table - 1}"],
            privacy_unit="who",
            max_contributions=self.contribution,
            value="cost",
            clamp=AUTO,
            resolution=1,
        )
        to = FileDelivery("nowhere.parquet")  # it is not delivered
        order = Order.of(asked, self.budget, self.mechanism, to, ledger=None, neighbours=self.neighbours, cut_share="0")
        drawing = {} if source is None else {"sampler": sampler, "source": source}
        order = replace(order, terms=replace(order.terms, **drawing))  # type: ignore[arg-type]
        return measured(order, order.checked_plan(), count(order.request), count, None)
