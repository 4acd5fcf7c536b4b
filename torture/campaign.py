"""How many faults of which kind meet what, and the table of what became of them."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

import sparsedp as sdp
from torture.ledger import Spending
from torture.process import FULL, KINDS, RACE, READ_ONLY, Apart, can_be_read_only, can_mount, episode
from torture.publishing import Publishing, spilling
from torture.scenario import STAGES, Scenario, Verdict
from torture.streams import KINDS as STREAMS
from torture.streams import Commanded, Observing

Make = Callable[[int], Scenario]
"""A scenario for an episode, by the episode's number."""


@dataclass(frozen=True)
class Part:
    """A scenario and its weight in the whole."""

    make: Make
    weight: float
    kinds: tuple[str, ...] = KINDS


def parts() -> dict[str, Part]:
    """All that is tortured, by name."""
    found = {
        "ledger": Part(lambda _: Spending(), 2.5),
        "release, adaptive": Part(lambda _: Publishing(mechanism="adaptive"), 1.4),
        "release, compressive": Part(lambda _: Publishing(mechanism="compressive"), 1.4),
        "release, spilling": Part(lambda _: spilling(), 0.3, ("KILL", "TERM", "HUP", "INT")),
        "stream, command line": Part(lambda _: Commanded(), 1.0),
    }
    for kind in STREAMS:
        found[f"stream, {kind}"] = Part(_observing(kind), 1.2)
    return found


def _observing(kind: str) -> Make:
    return lambda number: Observing(kind=kind, exact=number % 2 == 1)


SHARES = {"KILL": 0.34, "TERM": 0.14, "HUP": 0.12, "INT": 0.14, FULL: 0.12, READ_ONLY: 0.07, RACE: 0.07}
"""Of the kinds of faults."""


@dataclass
class Campaign:
    """Faults, counted."""

    faults: int
    seed: int
    only: Sequence[str] = ()
    kinds: Sequence[str] = KINDS
    disks: bool = True
    """Whether to mount a small disk to fill up, where that is allowed."""
    planted: Callable[[], None] | None = None
    tell: Callable[[str], None] = lambda line: None
    hits: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By scenario, kind of fault, and stage."""
    violations: list[str] = field(default_factory=list)
    missed: int = 0

    def run(self) -> Campaign:
        """All of them."""
        warm_up()
        with tempfile.TemporaryDirectory(prefix="torture-") as name:
            root = Path(name)
            root.chmod(0o711)  # workers that are not root work in it
            disks = self.disks and can_mount()
            if not disks and not can_be_read_only():
                self.tell("root can write everywhere, and nobody cannot read the library: no place is read-only here")
                self.kinds = [kind for kind in self.kinds if kind != READ_ONLY]
            with suppress(KeyboardInterrupt):  # told to stop: what was counted so far is told, too
                for scenario, kinds in self._episodes():
                    self._episode(root, scenario, kinds, disks=disks)
        return self

    def run_by(self, jobs: int) -> Campaign:
        """The same by several processes at once, each with a part of the faults. SIGTERM and Ctrl-C end it early."""
        warm_up()
        ends = [self.faults * job // jobs for job in range(jobs + 1)]
        parts = [Apart(partial(self._counts, ends[job + 1] - ends[job], job)) for job in range(jobs)]

        def stop(*_: object) -> None:
            for part in parts:
                with suppress(ProcessLookupError):
                    os.kill(part.child, signal.SIGTERM)

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        for part in parts:
            hits, violations, missed = part.result()
            self.hits.update(hits)
            self.violations += violations
            self.missed += missed
        return self

    def _counts(self, faults: int, job: int) -> tuple[Counter[tuple[str, str, str]], list[str], int]:
        def stop(*_: object) -> None:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            raise KeyboardInterrupt

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, stop)
        part = replace(self, faults=faults, seed=self.seed * 1000 + job, hits=Counter(), violations=[])
        part.run()
        return part.hits, part.violations, part.missed

    @property
    def injected(self) -> int:
        """Faults that met their worker."""
        return sum(self.hits.values())

    def _episodes(self) -> Iterator[tuple[Scenario, list[str]]]:
        """Scenarios and the faults that meet them, one after the other, until there are enough."""
        chance = random.Random(self.seed)  # noqa: S311  # which fault comes when is no secret
        known = {name: part for name, part in parts().items() if not self.only or name in self.only}
        due: Counter[tuple[str, str]] = Counter()
        for name, part in known.items():
            weights = {kind: SHARES[kind] for kind in part.kinds if kind in self.kinds}
            share = self.faults * part.weight / sum(each.weight for each in known.values())
            for kind, weight in weights.items():
                due[name, kind] = max(1, round(share * weight / sum(weights.values())))
        number: Counter[str] = Counter()
        while self.injected < self.faults:
            open_pairs = [pair for pair, count in due.items() if count > self._done(*pair)]
            names = sorted({name for name, _ in open_pairs}) or sorted(known)
            name = chance.choice(names)
            scenario = known[name].make(number[name])
            scenario.planted = self.planted
            scenario.chance = chance
            number[name] += 1
            left = [
                kind for kind in SHARES if (name, kind) in due for _ in range(due[name, kind] - self._done(name, kind))
            ] or [kind for kind in known[name].kinds if kind in self.kinds]
            chance.shuffle(left)
            yield scenario, left[: scenario.faults_of_an_episode]

    def _done(self, name: str, kind: str) -> int:
        return sum(self.hits[name, kind, stage] for stage in STAGES)

    def _episode(self, root: Path, scenario: Scenario, kinds: list[str], *, disks: bool) -> None:
        number = len(list(root.glob("*.told")))
        with episode(root, f"episode {number}", disk=disks and bool({FULL, READ_ONLY} & set(kinds))) as place:
            scenario.prepare(place)
            scenario.usual = scenario.measure(place)
            for kind in kinds:
                fault = scenario.fault(kind, scenario.chance)
                if self.injected >= self.faults:
                    return
                verdict = scenario.harm(place, fault)
                self._note(scenario.name, kind, str(fault), verdict)

    def _note(self, name: str, kind: str, fault: str, verdict: Verdict) -> None:
        if not verdict.hit:
            self.missed += 1
        else:
            self.hits[name, kind, verdict.stage] += 1
        for violation in verdict.violations:
            self.violations.append(f"{name}: {kind}: {violation}")
            self.tell(f"VIOLATION {name}, {fault}: {violation}")
        if self.injected % 50 == 0:
            self.tell(f"{self.injected} of {self.faults} faults, {len(self.violations)} violations")

    def table(self) -> str:
        """Scenario by fault: how many, where they hit, and what was violated."""
        head = ("scenario", "fault", "faults", *STAGES, "violations")
        rows: list[tuple[str, ...]] = [head]
        for name, kind in sorted({(name, kind) for name, kind, _ in self.hits}, key=_in_order):
            stages = [self.hits[name, kind, stage] for stage in STAGES]
            wrong = sum(each.startswith(f"{name}: {kind}: ") for each in self.violations)
            rows.append((name, kind, *map(str, (sum(stages), *stages, wrong))))
        sums = [sum(self.hits[key] for key in self.hits if key[2] == stage) for stage in STAGES]
        rows.append(("all", "", *map(str, (self.injected, *sums, len(self.violations)))))
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        lines = []
        for row in rows:
            cells = (
                text.ljust(width) if n < 2 else text.rjust(width)
                for n, (text, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("| " + " | ".join(cells) + " |")
        rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
        return "\n".join((lines[0], rule, *lines[1:]))


def _in_order(pair: tuple[str, str]) -> tuple[str, int]:
    return pair[0], KINDS.index(pair[1])


def warm_up() -> None:
    """Load and compile, without a thread of any library: what is forked from here begins at once."""
    import duckdb  # noqa: F401
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

    from sparsedp.cli import _release, _release_run  # noqa: F401
    from sparsedp.cli._app import app  # noqa: F401

    for mechanism in ("adaptive", "compressive"):
        sdp.release(np.arange(64) * 7, epsilon=1, mechanism=mechanism)
    for make in STREAMS.values():
        with make(epsilon=1) as stream:
            stream.observe_many([1, 2, 3, 4, 5])
            stream.synopsis()


def spoken(begun: float) -> Callable[[str], None]:
    """Say a line on standard error, with the time it took to get there."""
    return lambda line: print(f"{time.monotonic() - begun:7.0f} s  {line}", file=sys.stderr, flush=True)
