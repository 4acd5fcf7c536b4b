"""ContinualDifference: the differences of a continual counter's running sums, the paper's comparison."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.laws import ContinualCounterLaw
from sparsedp.plan import Plan
from sparsedp.sensing.running_totals import RunningTotals
from sparsedp.streams._counters import Counters, counters_for
from sparsedp.streams._store import Published
from sparsedp.streams.base import Stream, TermArguments
from sparsedp.validate import MAX_CELLS


class ContinualDifference(Stream):
    """Publishes the noisy total so far after every tick, and estimates a tick by the difference of two totals.

    `horizon`: T, the number of ticks it is calibrated for. Good for running totals of long streams (the error grows
    with a power of log T alone), poor for single ticks. It takes `epsilon` and all that every stream takes, too: see
    `sparsedp.Stream`.

    Guarantee: ε-differential pan-privacy against one intrusion. Proof: `streams/counter.md`.
    """

    name: ClassVar[str] = "continual_difference"
    _logs = ("total",)
    _counters: Counters

    def __init__(self, *, horizon: int, **terms: Unpack[TermArguments]) -> None:
        ticks = validate.whole("horizon", horizon, most=MAX_CELLS)
        super().__init__(terms, horizon=ticks)
        self._counters = counters_for(self._terms, ticks)

    @property
    def noise_law(self) -> ContinualCounterLaw:
        """1 + L discrete Laplace terms on every total."""
        return self._counters.law

    def _settings(self) -> dict[str, Any]:
        return {"horizon": self.horizon}

    def _advance(self, values: Ints) -> tuple[Ints, Published]:
        totals = self._counters.advance(values.reshape(-1, 1))[:, 0]
        return totals, {"total": totals}

    def _noisy_values(self) -> Ints:
        return self._store.log("total", 0, self.ticks)

    def _plan(self, ticks: int) -> Plan:
        return Plan(self.name, RunningTotals(ticks), RecoveryPlan("differences"))
