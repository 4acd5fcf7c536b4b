"""ContinualAdaptive: every tick gets its noise once, when it arrives; the sparse structure is found afterwards."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Unpack

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput
from sparsedp.noise.law import NoiseLaw, TicksAndTotalsLaw
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense
from sparsedp.recovery.plan import RecoveryPlan
from sparsedp.sensing.direct import Direct
from sparsedp.sensing.running_totals import TicksAndTotals
from sparsedp.streams.base import Stream
from sparsedp.streams.calibration import counter_law, noise_adder, tick_law, ticks_between_totals
from sparsedp.streams.counter_state import CounterState
from sparsedp.streams.keeping import Published
from sparsedp.streams.segments import levels_for
from sparsedp.streams.terms import TermArguments, checked_stream_terms
from sparsedp.validate import MAX_CELLS


class ContinualAdaptive(Stream):
    """The stream to run: noise of scale c/ε on every tick, once; only the noisy value is kept; no horizon.

    `release()` recovers all ticks so far from the noisy ones by shrinkage in a translation-invariant wavelet frame.
    `totals`: the share of ε to spend on a continual counter beside the ticks, "0.3" for instance, so that sums over
    thousands of ticks stay accurate; it needs the `horizon` T, and a counter's state withstands one intrusion only.
    `totals_every`: how many ticks lie between two totals, if not the number that suits the share and the horizon.
    The release combines ticks and totals. See `Stream` for the rest.

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
        checked = checked_stream_terms(**terms)
        self._share = None if totals is None else validate.share("totals", totals)
        self._tick_law = tick_law(checked, 1 - (self._share or Fraction(0)))
        self._add_noise = noise_adder(checked, self._tick_law.scale)
        self._counting: CounterState | None = None
        self.logs = ("count",) if self._share is None else ("count", "total")
        if self._share is None:
            for argument, given in (("horizon", horizon), ("totals_every", totals_every)):
                if given is not None:
                    raise InvalidInput(
                        argument, f"{given!r}"[:40], "leave it out, or ask for running totals (totals=…)"
                    )
            super().__init__(checked, horizon=None, counter=None)
            return
        if horizon is None:
            raise InvalidInput("horizon", "missing", "running totals need the number of ticks they are calibrated for")
        ticks = validate.whole("horizon", horizon, most=MAX_CELLS)
        self._every_given = totals_every is not None
        best = ticks_between_totals(ticks, self._share)
        every = best if totals_every is None else _power_of_two("totals_every", totals_every, ticks)
        self._totals_law = counter_law(checked, levels_for(ticks, every), self._share)
        self._add_counter_noise = noise_adder(checked, self._totals_law.scale)
        self._counting = CounterState(1, self._totals_law.levels, every)
        super().__init__(checked, horizon=ticks, counter=self._counting)

    @property
    def intrusions(self) -> str:
        """Any number: the state is what was published. With a counter: one."""
        return "any" if self._counting is None else "one"

    @property
    def noise_law(self) -> NoiseLaw:
        """Independent discrete Laplace noise on every tick; with `totals`, a counter's on every total."""
        return self._tick_law if self._counting is None else TicksAndTotalsLaw(self._tick_law, self._totals_law)

    def settings(self) -> dict[str, Any]:
        """The share of the running totals, their horizon and how often they come, if there are any."""
        if self._counting is None:
            return {}
        return {"totals": str(self._share), "horizon": self.horizon, "totals_every": self._counting.every}

    @property
    def left_to_chance(self) -> frozenset[str]:
        """How often totals come, if that was not given."""
        return frozenset() if self._counting is None or self._every_given else frozenset({"totals_every"})

    @property
    def _expenses(self) -> tuple[Expense, ...]:
        if self._share is None:
            return super()._expenses
        counter = self.epsilon * self._share
        ticks = Expense("every tick", Budget(epsilon=self.epsilon - counter))
        return (ticks, Expense("running totals", Budget(epsilon=counter)))

    def _advance(self, values: Integers) -> tuple[Integers, Published]:
        if self._counting is None:
            self._add_noise(values)  # in place: the exact values are gone
            return values, {"count": values}
        noisy = values.copy()
        self._add_noise(noisy)
        totals = self._counting.advance(values.reshape(-1, 1), self._add_counter_noise)
        return noisy, {"count": noisy, "total": totals[:, 0]}

    def _noisy_values(self) -> Integers:
        ticks = self._keeper.log("count", 0, self.ticks)
        if self._counting is None:
            return ticks
        return np.concatenate((ticks, self._keeper.log("total", 0, self.ticks // self._counting.every)))

    def _plan(self, ticks: int) -> Plan:
        if self._counting is None:
            return Plan(self.name, Direct(ticks), RecoveryPlan("shrinkage"))
        return Plan(self.name, TicksAndTotals(ticks, self._counting.every), RecoveryPlan("fused_shrinkage"))


def _power_of_two(argument: str, value: int, most: int) -> int:
    number = validate.whole(argument, value, most=most)
    if number & (number - 1):
        raise InvalidInput(argument, f"{number}", "give a power of two, or leave it out")
    return number
