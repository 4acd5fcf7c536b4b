"""ContinualCompressive, the paper's CMCO (Algorithm 2): k continual counters of randomly signed counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Unpack

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.bases import basis_from
from sparsedp.decoders.registry import decoder_for
from sparsedp.errors import InvalidInput
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.laws import ContinualCounterLaw
from sparsedp.mechanisms.selection.sparsity_choice import constants_for, rows_for
from sparsedp.noise.source import fresh_word
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.streams._counters import Counters, counters_for
from sparsedp.streams._store import Published
from sparsedp.streams.base import Stream, TermArguments
from sparsedp.validate import MAX_CELLS

CALIBRATIONS = {"correct": None, "paper": None}

_CHUNK = 1 << 17


class ContinualCompressive(Stream):
    """Every tick's count is added to k counters, each with a public random sign; any prefix is recovered from the k.

    `horizon`: T. `sparsity`: how many coefficients of the whole stream matter; `rows`: k, if not the number that
    follows from it. `basis`, `recovery`: as in `Compressive`. `seed`: the public seed of the signs, drawn once if
    left out. `calibration`: "correct" (the k counters share ε), or "paper" (each has ε to itself, as published:
    this guarantees k·ε, which is what it is charged at). It publishes prefixes, not single ticks, so `observe`
    returns None. Its state does not grow with the ticks; for accuracy under pure ε take `ContinualAdaptive`. It
    takes `epsilon` and all that every stream takes, too: see `sparsedp.Stream`.

    Guarantee: differential pan-privacy of `spent` against one intrusion. Proofs: `streams/compressive.md`.
    """

    name: ClassVar[str] = "continual_compressive"
    _counters: Counters

    def __init__(
        self,
        *,
        horizon: int,
        sparsity: int = 8,
        rows: int | None = None,
        basis: str = "haar",
        recovery: str = "auto",
        calibration: str = "correct",
        seed: int | None = None,
        **terms: Unpack[TermArguments],
    ) -> None:
        ticks = validate.whole("horizon", horizon, most=MAX_CELLS)
        self._sparsity = validate.whole("sparsity", sparsity)
        validate.one_of("calibration", calibration, CALIBRATIONS)
        self._calibration = calibration
        basis_from(basis, 1)
        self._basis = basis
        self._recovery = decoder_for(recovery, basis)
        constant = constants_for(self._recovery, basis).rows_constant
        self._rows = _rows(rows, ticks, self._sparsity, constant)
        chosen = {"seed": seed, "rows": rows, "recovery": None if recovery == "auto" else recovery}
        self._not_given = frozenset(name for name, given in chosen.items() if given is None)
        self._seed = fresh_word() if seed is None else validate.whole("seed", seed, least=0, most=2**64 - 1)
        super().__init__(terms, horizon=ticks)
        column = self._rows if calibration == "correct" else 1
        self._counters = counters_for(self._terms, ticks, counters=self._rows, column=column)

    @property
    def rows(self) -> int:
        """k: how many signed sums are kept."""
        return self._rows

    @property
    def noise_law(self) -> ContinualCounterLaw:
        """1 + L discrete Laplace terms on every signed sum."""
        return self._counters.law

    @property
    def _defaulted(self) -> frozenset[str]:
        return self._not_given

    def _settings(self) -> dict[str, Any]:
        return {
            "horizon": self.horizon,
            "sparsity": self._sparsity,
            "rows": self._rows,
            "basis": self._basis,
            "recovery": self._recovery,
            "calibration": self._calibration,
            "seed": self._seed,
        }

    @property
    def _expenses(self) -> tuple[Expense, ...]:
        if self._calibration == "correct":
            return super()._expenses
        purpose = f"the whole stream: {self._rows} counters that see the same events, each at the ε asked for"
        return (Expense(purpose, Budget(epsilon=self.epsilon * self._rows)),)

    def _one_result(self, results: Ints) -> None:
        return None

    def _results(self, results: Ints) -> None:
        return None

    def _advance(self, values: Ints) -> tuple[Ints, Published]:
        sensing = self._sensing(self.ticks + len(values))
        step = max(1, _CHUNK // self._rows)
        for start in range(0, len(values), step):
            part = values[start : start + step]
            first = self.ticks + start
            signed = sensing.columns(first, first + len(part)) * part[:, None]
            try:
                self._counters.skip_to_last(signed)
            finally:
                signed.fill(0)
        return np.empty(0, np.int64), {}

    def _noisy_values(self) -> Ints:
        return self._counters.state.latest.copy()

    def _sensing(self, ticks: int) -> Bernoulli:
        return Bernoulli(ticks, rows=self._rows, seed=self._seed)

    def _plan(self, ticks: int) -> Plan:
        sparsity = min(self._sparsity, ticks)
        return Plan(self.name, self._sensing(ticks), RecoveryPlan(self._recovery, self._basis, sparsity))


def _rows(rows: int | None, horizon: int, sparsity: int, constant: Fraction) -> int:
    """k as given, or k(S) = C·S·log₂(T/S) with the C that suits the decoder."""
    if rows is not None:
        return validate.whole("rows", rows, most=2**20)
    if sparsity > horizon:
        raise InvalidInput("sparsity", f"{sparsity}", f"give at most the horizon, {horizon}")
    return rows_for(horizon, sparsity, constant)
