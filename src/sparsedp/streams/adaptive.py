"""ContinualAdaptive: every tick gets its noise once, when it arrives; the sparse structure is found afterwards."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Unpack

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.laws import StreamLaw, TicksAndTotalsLaw
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense
from sparsedp.sensing.base import Direct
from sparsedp.sensing.running_totals import TicksAndTotals
from sparsedp.streams._counters import Counters, counters_for, noise_adder, tick_law, ticks_between_totals
from sparsedp.streams._store import Published
from sparsedp.streams.base import Stream, TermArguments
from sparsedp.validate import MAX_CELLS


class ContinualAdaptive(Stream):
    """The stream to run: noise of scale c/ε on every tick, once; only the noisy value is kept; no horizon.

    `release()` recovers all ticks so far from the noisy ones by the estimator of `sparsedp.Adaptive`, with errors and
    intervals; `release("direct")` gives the noisy ones as they are.
    `totals`: the share of ε to spend on a continual counter beside the ticks, "0.3" for instance, so that sums over
    very many ticks stay accurate; it needs the `horizon` T, and a counter's state withstands one intrusion only.
    `totals_every`: how many ticks lie between two totals, a power of two, if not the number that suits the share and
    the horizon. The release combines ticks and totals. It takes `epsilon` and all that every stream takes, too: see
    `sparsedp.Stream`.

    Guarantee: ε-differential pan-privacy against any number of intrusions (with `totals`: one). Proof:
    `streams/adaptive.md`.
    """

    name: ClassVar[str] = "continual_adaptive"

    def __init__(
        self,
        *,
        totals: validate.Number | None = None,
        horizon: int | None = None,
        totals_every: int | None = None,
        **terms: Unpack[TermArguments],
    ) -> None:
        super().__init__(terms)
        self._share = Fraction(0) if totals is None else validate.share("totals", totals)
        self._tick_law = tick_law(self._terms, 1 - self._share)
        self._add_noise = noise_adder(self._terms, self._tick_law.scale)
        self._every_given = totals_every is not None
        self._counters = self._totals(horizon, totals_every)
        self._logs = ("count",) if self._counters is None else ("count", "total")

    def _totals(self, horizon: int | None, every: int | None) -> Counters | None:
        if not self._share:
            for argument, given in (("horizon", horizon), ("totals_every", every)):
                if given is not None:
                    raise InvalidInput(argument, f"{given!r}"[:40], "leave it out, or ask for totals too (totals=…)")
            return None
        if horizon is None:
            raise InvalidInput("horizon", "missing", "running totals need the number of ticks they are calibrated for")
        self._horizon = ticks = validate.whole("horizon", horizon, most=MAX_CELLS)
        best = ticks_between_totals(ticks, self._share)
        between = best if every is None else _power_of_two("totals_every", every, ticks)
        return counters_for(self._terms, ticks, every=between, share=self._share)

    @property
    def intrusions(self) -> str:
        """Any number: the state is what was published. With a counter: one."""
        return "any" if self._counters is None else "one"

    @property
    def noise_law(self) -> StreamLaw:
        """Independent discrete Laplace noise on every tick; with `totals`, a counter's on every total."""
        return self._tick_law if self._counters is None else TicksAndTotalsLaw(self._tick_law, self._counters.law)

    def _settings(self) -> dict[str, Any]:
        if self._counters is None:
            return {}
        return {"totals": str(self._share), "horizon": self.horizon, "totals_every": self._counters.state.every}

    @property
    def _defaulted(self) -> frozenset[str]:
        return frozenset() if self._counters is None or self._every_given else frozenset({"totals_every"})

    @property
    def _expenses(self) -> tuple[Expense, ...]:
        if self._counters is None:
            return super()._expenses
        counter = self.epsilon * self._share
        ticks = Expense("every tick", Budget(epsilon=self.epsilon - counter))
        return (ticks, Expense("running totals", Budget(epsilon=counter)))

    def _advance(self, values: Ints) -> tuple[Ints, Published]:
        if self._counters is None:
            self._add_noise(values)  # in place: the exact values are gone
            return values, {"count": values}
        noisy = values.copy()
        self._add_noise(noisy)
        totals = self._counters.advance(values.reshape(-1, 1))
        return noisy, {"count": noisy, "total": totals[:, 0]}

    def _noisy_values(self) -> Ints:
        ticks = self._store.log("count", 0, self.ticks)
        if self._counters is None:
            return ticks
        return np.concatenate((ticks, self._store.log("total", 0, self.ticks // self._counters.state.every)))

    def _plan(self, ticks: int) -> Plan:
        sensing = Direct(ticks) if self._counters is None else TicksAndTotals(ticks, self._counters.state.every)
        recovery = RecoveryPlan("signed_layers" if self._negative else "layers")
        return Plan(self.name, sensing, recovery, nonnegative=not self._negative)


def _power_of_two(argument: str, value: int, most: int) -> int:
    number = validate.whole(argument, value, most=most)
    if number & (number - 1):
        raise InvalidInput(argument, f"{number}", "give a power of two, or leave it out")
    return number
