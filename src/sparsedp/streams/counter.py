"""The continual counter: noisy running sums of k streams at once (Dwork, Naor, Pitassi, Rothblum 2010)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Unpack

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput
from sparsedp.noise.law import ContinualCounterLaw
from sparsedp.plan import Plan
from sparsedp.recovery.plan import RecoveryPlan
from sparsedp.sensing.direct import Direct
from sparsedp.streams.base import Stream
from sparsedp.streams.calibration import counter_law, noise_adder
from sparsedp.streams.counter_state import CounterState
from sparsedp.streams.keeping import Published
from sparsedp.streams.segments import levels_for
from sparsedp.streams.terms import TermArguments, checked_stream_terms
from sparsedp.validate import MAX_CELLS


class ContinualCounter(Stream):
    """k running sums, each published after every tick with 1 + L noise terms of scale (1 + L)·c/ε, L = ⌈log₂ T⌉.

    `horizon`: T, the number of ticks it is calibrated for. `counters`: k, how many sums; a tick is then a vector of
    k counts, and `contribution` bounds what one event or person changes in all of them together. Its release holds
    the k sums at the present tick. Memory O(k log T), amortised O(k) work a tick. See `Stream` for the rest.

    Guarantee: ε-differential pan-privacy against one intrusion. Proof: `streams/counter.md`.
    """

    name: ClassVar[str] = "continual_counter"

    def __init__(self, *, horizon: int, counters: int = 1, **terms: Unpack[TermArguments]) -> None:
        self._counters = validate.whole("counters", counters, most=MAX_CELLS)
        ticks = validate.whole("horizon", horizon, most=MAX_CELLS)
        levels = levels_for(ticks)
        checked = checked_stream_terms(**terms)
        self._law = counter_law(checked, levels, Fraction(1))
        self._add_noise = noise_adder(checked, self._law.scale)
        state = CounterState(self._counters, levels)
        super().__init__(checked, horizon=ticks, counter=state)
        self._state = state

    @property
    def noise_law(self) -> ContinualCounterLaw:
        """1 + L discrete Laplace terms on every sum."""
        return self._law

    def settings(self) -> dict[str, Any]:
        """Horizon and counters."""
        return {"horizon": self.horizon, "counters": self._counters}

    def _checked_value(self, value: object) -> Integers:
        if self._counters == 1:
            return super()._checked_value(value).reshape(1, 1)
        vector = validate.counts_vector("value", value, negative=self._terms.negative)
        if vector.size != self._counters:
            raise InvalidInput("value", f"{vector.size} counts", f"give one for each of the {self._counters} counters")
        return vector.reshape(1, -1)

    def _checked_values(self, values: object) -> Integers:
        if self._counters == 1:
            return super()._checked_values(values).reshape(-1, 1)
        try:
            table = np.asarray(values)
        except ValueError:
            table = np.empty(0)
        if table.ndim != 2 or table.shape[1] != self._counters:
            given = f"an array of shape {table.shape}"
            raise InvalidInput("values", given, f"give a row of {self._counters} counts for each tick")
        return validate.counts_vector("values", table.reshape(-1), negative=self._terms.negative).reshape(table.shape)

    def _one_result(self, results: Integers) -> Any:
        return int(results[0, 0]) if self._counters == 1 else results[0]

    def _results(self, results: Integers) -> Any:
        return results[:, 0] if self._counters == 1 else results

    def _advance(self, values: Integers) -> tuple[Integers, Published]:
        return self._state.advance(values, self._add_noise), {}

    def _noisy_values(self) -> Integers:
        return self._state.latest.copy()

    def _plan(self, ticks: int) -> Plan:
        return Plan(self.name, Direct(self._counters), RecoveryPlan("direct"))
