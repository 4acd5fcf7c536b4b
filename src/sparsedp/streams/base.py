"""What every stream does: check a tick, debit once, count exactly, add noise, store, and release any prefix."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, NoReturn, Self, TypedDict, cast
from weakref import ref

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.laws import StreamLaw
from sparsedp.mechanisms.base import spent_already
from sparsedp.mechanisms.terms import Terms, checked_pure_terms
from sparsedp.moments import Moment, Step
from sparsedp.noise.source import RandomSource, protects
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.ledger import Ledger
from sparsedp.privacy.neighbours import UNITS
from sparsedp.releases.release import Release
from sparsedp.streams._counters import Counters, CounterState
from sparsedp.streams._store import MemoryStore, Published, Store, arrivals, first_of
from sparsedp.synopsis import Synopsis
from sparsedp.validate import MAX_CELLS

# What every stream is asked for, checked before anything is spent.


class TermArguments(TypedDict, total=False):
    """What every stream takes, by keyword; all but `epsilon` have a default."""

    epsilon: validate.Number | Budget
    contribution: int
    unit: str
    neighbours: str
    negative: bool
    start: Moment | None
    every: Step | None
    ledger: Ledger | None
    sampler: str
    source: RandomSource | None


DEFAULTS: TermArguments = {
    "contribution": 1,
    "unit": "event",
    "neighbours": "add_remove",
    "negative": False,
    "start": None,
    "every": None,
    "ledger": None,
    "sampler": "sparsedp",
    "source": None,
}


def _with_defaults(given: TermArguments) -> TermArguments:
    """All arguments; refused are those that no stream takes, and that there is no budget."""
    unknown = sorted(set(given) - set(TermArguments.__annotations__))
    if unknown:
        names = ", ".join(TermArguments.__annotations__)
        raise InvalidInput(unknown[0], "not an argument of this stream", f"every stream takes {names}")
    if "epsilon" not in given:
        raise InvalidInput("epsilon", "missing", "give the budget of the whole stream, such as epsilon='0.5'")
    return cast(TermArguments, {**DEFAULTS, **given})


def _checked_terms(asked: TermArguments) -> Terms:
    """Whom the stream protects, and with what budget, or the first thing that is wrong with that."""
    validate.one_of("unit", asked["unit"], UNITS)
    return checked_pure_terms(
        asked["epsilon"],
        asked["contribution"],
        asked["neighbours"],
        asked["ledger"],
        asked["sampler"],
        asked["source"],
        asked["unit"],
    )


class _CallInProgress:
    """A call that takes in ticks is running, in this thread."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()


class Stream(ABC):
    """A count that arrives tick by tick and is published while it arrives; the budget is for the whole stream.

    Every stream takes, by keyword:
    `epsilon`: the budget of the whole stream; nothing more is spent however long it runs or often it is released.
    `contribution`: the most that one event (or person, see `unit`) changes all ticks together: your promise.
    `unit`: "event" or "person": whom `contribution` speaks of, and so whom the guarantee protects.
    `neighbours`: "add_remove", or "replace_one" (twice the noise).
    `negative`: allow negative counts (sums of signed values).
    `start`, `every`: the public schedule, such as "2026-01-01" and "1d"; left out, ticks are numbered from 0.
    `ledger`: debited once, before the first noise is drawn: with the first tick, or (`sparsedp.open_stream`) before
    there is a file.
    `sampler`, `source`: as for every mechanism; a seeded test source marks everything `private=False`.

    The schedule is public: observe a tick without events as 0. Safe between threads; a forked child cannot use it.
    """

    name: ClassVar[str]

    _logs: tuple[str, ...] = ()
    """What is published and stored for good: "count" for every tick, "total" for running totals. The first log holds
    what `observe` returned."""

    def __init__(self, given: TermArguments, *, horizon: int | None = None) -> None:
        asked = _with_defaults(given)
        self._terms = _checked_terms(asked)
        self._schedule = Schedule(asked["start"], asked["every"])
        self._negative = validate.yes_or_no("negative", asked["negative"])
        self._horizon = horizon
        self._counters: Counters | None = None
        self._store: Store = MemoryStore()
        self._seeded = not protects(self._terms.source)
        self._paid = False
        self._record: Mapping[str, str] | None = None
        self._dirty = False
        self._in_progress: ref[_CallInProgress] | None = None
        self._lock = threading.RLock()
        self._process = os.getpid()

    # ---- what a subclass says of itself

    @abstractmethod
    def _advance(self, values: Ints) -> tuple[Ints, Published]:
        """Take in exact values, a tick each; the caller's results, and what to store: noise added, nothing raw.

        `values` may be overwritten.
        """

    @abstractmethod
    def _noisy_values(self) -> Ints:
        """The noisy integers of the synopsis at the present tick."""

    @abstractmethod
    def _plan(self, ticks: int) -> Plan:
        """The sensing and the recovery of the first `ticks` ticks."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """What this class alone takes, by the names of its arguments; public, JSON-able, fixed while it lives."""

    @property
    @abstractmethod
    def noise_law(self) -> StreamLaw:
        """The law of the noise on what is published."""

    @property
    def intrusions(self) -> str:
        """How often an intruder may see the state without weakening the guarantee: "one" or "any"."""
        return "one"

    @property
    def _expenses(self) -> tuple[Expense, ...]:
        """What the budget buys."""
        return (Expense("the whole stream", Budget(epsilon=self.epsilon)),)

    @property
    def _axis(self) -> Schedule | None:
        """The axis of a release: its cells are ticks."""
        return self._schedule

    @property
    def _defaulted(self) -> frozenset[str]:
        """Settings that the caller left out: they may differ from those of the file."""
        return frozenset()

    # ---- what a user does with it

    def observe(self, value: Any, *, at: Any = None, fill: int = 0) -> Any:
        """Take in the next tick's count; returns what is published for it, if this stream publishes single ticks.

        `at`: the tick's number or time. With it, and only with it, a tick can be delivered again safely: a durable
        stream returns what was published for it and counts nothing. A time that leaves ticks out is refused, unless
        `fill` allows so many: they are observed as 0, and the gap is filled with noisy zeros, for good.
        """
        return self._one_result(self._observe(self._checked_value(value), at, fill))

    def observe_many(self, values: npt.ArrayLike, *, at: Any = None, fill: int = 0) -> Any:
        """Take in the next ticks' counts at once, all or none; `at` is the first one's number or time.

        A pandas Series with times for an index is taken at those times, which must be one tick after another.
        """
        first = first_of(values, at, self._schedule)
        return self._results(self._observe(self._checked_values(values), first, fill))

    def synopsis(self) -> Synopsis:
        """The noisy integers at the present tick and how they were made; small, storable, and free to make again."""
        with self._exclusive():
            ticks = self.ticks
            if ticks == 0:
                raise InvalidInput("stream", "without a single tick", "observe one before releasing")
            return Synopsis(self._noisy_values(), self._plan(ticks), self.noise_law, self.guarantee, self._axis)

    def release(self, recovery: str | None = None) -> Release:
        """An estimate of every tick so far, with its times. Releasing again, or otherwise, costs nothing more."""
        return replace(self.synopsis().recover(recovery), record=self.record)

    @property
    def ticks(self) -> int:
        """How many ticks have been observed: public, as the schedule is."""
        return self._store.ticks

    @property
    def epsilon(self) -> Fraction:
        """The ε that was asked for, exactly; see `spent` for what is guaranteed."""
        return self._terms.epsilon

    @property
    def horizon(self) -> int | None:
        """The number of ticks after which the stream ends, or None."""
        return self._horizon

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, to whom, and against how many intrusions."""
        return Guarantee(self._expenses, self._terms.neighbours, not self._seeded, self.intrusions)

    @property
    def spent(self) -> Budget:
        """What the whole stream costs, and whom that is counted for."""
        return self.guarantee.spent

    @property
    def private(self) -> bool:
        """False when the noise was seeded for a test: such a stream protects nobody."""
        return self.guarantee.private

    @property
    def record(self) -> Mapping[str, str] | None:
        """The ledger's line for what paid for it, as it was then; None if no ledger did, or none has yet."""
        return self._record

    def describe(self) -> dict[str, Any]:
        """The stream's public settings: they stay as they are while it lives."""
        terms = {
            "epsilon": str(self.epsilon),
            "contribution": self._terms.neighbours.contribution,
            "unit": self._terms.neighbours.unit,
            "neighbours": self._terms.neighbours.relation,
            "negative": self._negative,
            **self._schedule.describe(),
            "sampler": self._terms.sampler.name,
        }
        return {"stream": self.name, "terms": terms, "settings": self._settings()}

    def close(self) -> None:
        """Take no more ticks, and erase the state in memory; a durable stream can be opened again and go on."""
        if os.getpid() == self._process:
            self._refuse_reentry()
            with self._lock:
                self._store.close()
                if self._counters is not None:
                    self._counters.state.erase()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ticks} ticks, {self._schedule}. {self.guarantee})"

    # ---- how a tick goes in

    def _checked_value(self, value: object) -> Ints:
        """One tick's exact count."""
        return np.array([validate.count("value", value, negative=self._negative)], np.int64)

    def _checked_values(self, values: object) -> Ints:
        """Exact counts, a tick each."""
        return validate.counts_vector("values", values, negative=self._negative)

    def _one_result(self, results: Ints) -> Any:
        """What the caller gets for one tick."""
        return int(results[0])

    def _results(self, results: Ints) -> Any:
        """What the caller gets for many ticks."""
        return results

    def _observe(self, values: Ints, at: Any, fill: int) -> Ints:
        call = _CallInProgress()  # gone with this call, however it ends
        with self._exclusive():
            self._in_progress = ref(call)
            try:
                return self._take_new(values, at, fill)
            finally:
                self._in_progress = None

    def _take_new(self, values: Ints, at: Any, fill: int) -> Ints:
        first = None if at is None else self._schedule.tick_of("at", at)
        most = validate.whole("fill", fill, least=0)
        self._check_room((self.ticks if first is None else first) + len(values))
        arrived = arrivals(values, first, self._store, self._schedule, fill=most)
        results = self._append(arrived.new, arrived.gap)[arrived.gap :]
        if not arrived.known:
            return results
        return np.concatenate((self._known_results(arrived.first, arrived.first + arrived.known), results))

    def _append(self, values: Ints, gap: int) -> Ints:
        """Count, add noise and commit; the results of these ticks, with those of the gap."""
        if not len(values):
            return np.empty(0, np.int64)
        if not self._paid:
            self._pay()
        self._dirty = True
        try:
            results, published = self._advance(values)
            self._store.commit(len(values), published, self._state, gap)
            self._dirty = False
        except BaseException:
            self._roll_back()
            raise
        return results

    def _pay(self) -> None:
        """The whole budget, before the first noise; a stream in a file is paid for before it has a file."""
        ledger, spent = self._terms.ledger, self.spent
        if ledger is not None:
            relation = self._terms.neighbours.relation
            spend = ledger.debit(spent, f"{self.name} stream", relation=relation, parameters=self.describe())
            self._paid = True
            with spent_already(spend):
                self._record = ledger.record(spend)
        self._paid = True

    def _roll_back(self) -> None:
        """After a commit that failed: go back to the state that was stored last. What was drawn since is erased."""
        self._store.restore(self._state)
        self._dirty = self._state is not None and self._state.ticks != self.ticks

    def _known_results(self, first: int, stop: int) -> Ints:
        return self._store.log(self._logs[0], first, stop) if self._logs else np.empty(0, np.int64)

    def _check_room(self, ticks: int) -> None:
        most = MAX_CELLS if self._horizon is None else self._horizon
        if ticks > most:
            limit = "the most a stream can hold" if self._horizon is None else "the horizon of this stream"
            given = f"beyond number {most - 1}, the last one"
            raise InvalidInput("tick", given, f"{most} ticks are {limit}; begin another with a budget of its own")

    # ---- how it is stored

    @property
    def _state(self) -> CounterState | None:
        """The counters' state, if there are counters. PRIVATE: seen twice, it gives counts away."""
        return None if self._counters is None else self._counters.state

    def _resume_from(self, store: Store, *, private: bool, record: Mapping[str, str] | None) -> None:
        """Go on from what the store holds. It has been paid for.

        `private` is False if any of its noise came from a test source. `record` is the ledger's line for the debit.
        """
        self._store, self._paid, self._record = store, True, record
        self._seeded = self._seeded or not private
        store.restore(self._state)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """One thread at a time, in the process that owns the stream, and not in the middle of a tick."""
        if os.getpid() != self._process:
            raise PrivateSide("This stream belongs to another process; observe it there, where its state is kept.")
        self._refuse_reentry()
        with self._lock:
            if self._store.closed:
                raise InvalidInput("stream", "closed", "open its file with sparsedp.open_stream(…), or begin another")
            if self._dirty:
                # A disk that was full may have room again; memory that was half changed stays so.
                self._roll_back()
            if self._dirty:
                raise PrivateSide("This stream was interrupted in the middle of a tick; begin another one.")
            yield

    def _refuse_reentry(self) -> None:
        """A signal handler runs in the middle of whatever its thread was doing; other threads wait for the lock."""
        call = None if self._in_progress is None else self._in_progress()
        if call is not None and call.thread == threading.get_ident():
            raise PrivateSide("This stream is in the middle of a tick; a signal handler cannot use it, only raise.")

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise PrivateSide("A stream cannot be copied or pickled: two versions of its state would give counts away.")

    __copy__ = __deepcopy__ = __reduce__ = __getstate__ = _refuse_copy
    __reduce_ex__ = _refuse_copy
