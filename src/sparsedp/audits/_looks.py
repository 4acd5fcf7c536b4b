"""A look at how many records people have under audit, with the table that is measured beside it, and for its bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.audits._mechanisms import Case
from sparsedp.counts import Counts
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
