"""What killed writers told: every noise they drew, every version of the state they wrote, what was acknowledged."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from durable_streams import HORIZON, raw_count
from hidden_integers import telling


@dataclass(frozen=True)
class Attempt:
    """One commit that was tried: its ticks, and every number that went into it or out of it."""

    first: int
    stop: int
    noises: frozenset[int]
    published: dict[str, list[int]]
    state: tuple[int, ...]

    @property
    def results(self) -> frozenset[int]:
        """What it would publish."""
        return frozenset(number for entries in self.published.values() for number in entries)

    @property
    def exact(self) -> frozenset[int]:
        """What must never be on a disk: its counts and running sums, whatever their signs, and its noises."""
        ticks = range(self.first, self.stop)
        return frozenset(map(raw_count, ticks)).union(self.noises, (running_sums()[tick] for tick in ticks))


@dataclass
class History:
    """Grows with the file that the writers tell it in; `acknowledged` holds what each tick's sender heard."""

    file: Path
    attempts: list[Attempt] = field(default_factory=list)
    acknowledged: dict[int, Any] = field(default_factory=dict)
    redelivered: int = 0
    _read: int = 0

    def read_on(self) -> list[Attempt]:
        """The attempts told since the last time."""
        known = len(self.attempts)
        content = self.file.read_bytes() if self.file.exists() else b""
        for line in content[self._read :].splitlines():
            # A line that its writer did not live to finish speaks of a commit that was never begun, or not heard of.
            with suppress(json.JSONDecodeError):
                self._take_in(json.loads(line))
        self._read = len(content)
        return self.attempts[known:]

    def _take_in(self, told: dict[str, Any]) -> None:
        if told["event"] == "draws":
            stop = told["first"] + told["ticks"]
            attempt = Attempt(told["first"], stop, frozenset(told["noises"]), told["published"], tuple(told["state"]))
            self.attempts.append(attempt)
            return
        for tick, result in enumerate(told["results"], told["first"]):
            self.redelivered += tick in self.acknowledged
            assert self.acknowledged.setdefault(tick, result) == result, "a tick was published twice, differently"

    def committed(self, ticks: int) -> list[Attempt]:
        """Those that are in a stream of so many ticks: each tick by the last attempt at it."""
        kept: list[Attempt] = []
        for attempt in self.attempts:
            while kept and kept[-1].stop > attempt.first:
                kept.pop()
            kept.append(attempt)
        while kept and kept[-1].stop > ticks:
            kept.pop()
        return kept


@cache
def running_sums() -> list[int]:
    """The exact sum of the ticks up to each one."""
    return [signed_64(total) for total in accumulate(map(raw_count, range(HORIZON)))]


def signed_64(number: int) -> int:
    """Modulo 2⁶⁴, as an int64 holds it."""
    return (number + 2**63) % 2**64 - 2**63


def numbers_drawn(attempts: list[Attempt]) -> set[int]:
    """Every number of these attempts that can be searched for."""
    return telling(number for each in attempts for number in (*each.exact, *each.results, *each.state))
