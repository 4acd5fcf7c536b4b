"""The continual counter: noisy running sums of k streams at once (Dwork, Naor, Pitassi, Rothblum 2010)."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.laws import ContinualCounterLaw
from sparsedp.plan import Plan
from sparsedp.sensing.base import Direct
from sparsedp.streams._counters import Counters, counters_for
from sparsedp.streams._store import Published
from sparsedp.streams.base import Stream, TermArguments
from sparsedp.validate import MAX_CELLS


class ContinualCounter(Stream):
    """k running sums, each published after every tick with 1 + L noise terms of scale (1 + L)·c/ε, L = ⌈log₂ T⌉.

    `horizon`: T, the number of ticks it is calibrated for. `counters`: k, how many sums; a tick is then a vector of
    k counts, and `contribution` bounds what one event or person changes in all of them together. Its release holds
    the k sums at the present tick; earlier ones are the caller's to keep. Memory O(k log T), amortised O(k) work a
    tick. It takes `epsilon` and all that every stream takes, too: see `sparsedp.Stream`.

    Guarantee: ε-differential pan-privacy against one intrusion. Proof: `streams/counter.md`.
    """

    name: ClassVar[str] = "continual_counter"
    _counters: Counters

    def __init__(self, *, horizon: int, counters: int = 1, **terms: Unpack[TermArguments]) -> None:
        self._size = validate.whole("counters", counters, most=MAX_CELLS)
        ticks = validate.whole("horizon", horizon, most=MAX_CELLS)
        super().__init__(terms, horizon=ticks)
        self._counters = counters_for(self._terms, ticks, counters=self._size)

    @property
    def noise_law(self) -> ContinualCounterLaw:
        """1 + L discrete Laplace terms on every sum."""
        return self._counters.law

    @property
    def _axis(self) -> None:
        """None: the cells of its release are counters."""
        return None

    def _settings(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "counters": self._size}

    def _checked_value(self, value: object) -> Ints:
        if self._size == 1:
            return super()._checked_value(value).reshape(1, 1)
        return self._checked_table("value", value, 1).reshape(1, -1)

    def _checked_values(self, values: object) -> Ints:
        if self._size == 1:
            return super()._checked_values(values).reshape(-1, 1)
        return self._checked_table("values", values, 2).reshape(-1, self._size)

    def _checked_table(self, argument: str, given: Any, dimensions: int) -> Ints:
        """Exact counts of all counters in one vector."""
        try:
            shape = np.shape(given)
        except ValueError:
            shape = ()
        if len(shape) != dimensions or shape[-1] != self._size:
            given = f"not of {'rows of ' if dimensions == 2 else ''}{self._size} counts"
            raise InvalidInput(argument, given, "give one count for each counter, for every tick")
        flat = np.ma.ravel(given) if isinstance(given, np.ma.MaskedArray) else np.ravel(given)
        return validate.counts_vector(argument, flat, negative=self._negative)

    def _one_result(self, results: Ints) -> Any:
        return int(results[0, 0]) if self._size == 1 else results[0]

    def _results(self, results: Ints) -> Any:
        return results[:, 0] if self._size == 1 else results

    def _advance(self, values: Ints) -> tuple[Ints, Published]:
        return self._counters.advance(values), {}

    def _noisy_values(self) -> Ints:
        return self._counters.state.latest.copy()

    def _plan(self, ticks: int) -> Plan:
        return Plan(self.name, Direct(self._size), RecoveryPlan("direct"))
