"""Run as a program: a small sample of the torture, and mistakes that it must find. What it found is printed as JSON."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torture.campaign import Campaign
from torture.ledger import DRAWN, Spending
from torture.process import Fault, episode
from torture.publishing import CANARY, Publishing
from torture.scenario import Scenario
from torture.streams import Observing

SAMPLE = (
    Campaign(14, 3, ("ledger", "stream, totals", "stream, adaptive"), disks=False),
    Campaign(2, 3, ("release, compressive",), ("KILL", "INT"), disks=False),
)


def _planted(owner: Any, name: str, mistake: Any) -> None:
    setattr(owner, name, mistake)


def debits_after_the_draw() -> None:
    """The ledger names a spend at once, and writes it when there is something to store."""
    from sparsedp.privacy.ledger import Spend, now
    from sparsedp.privacy.ledger_file import DataSetLedger

    debit, settle = DataSetLedger.debit, DataSetLedger.settle

    def late(self: DataSetLedger, budget: Any, purpose: str, **terms: Any) -> Spend:
        return Spend(0, budget, budget, purpose, now(), token=os.urandom(8).hex())

    def settled(self: DataSetLedger, spend: Spend, synopsis: Any) -> Spend:
        return settle(self, debit(self, spend.budget, spend.purpose, request="the table"), synopsis)

    _planted(DataSetLedger, "debit", late)
    _planted(DataSetLedger, "settle", settled)


def acknowledges_before_the_commit() -> None:
    """The stream keeps each tick in memory until the next one comes."""
    from sparsedp.streams.durable._stream_file import StreamFile

    commit = StreamFile.commit
    waiting: list[tuple[Any, ...]] = []

    def later(self: StreamFile, ticks: int, published: Any, counter: Any, gap: int) -> None:
        if waiting:
            self.ticks -= waiting[0][0]
            commit(self, *waiting.pop())
        waiting.append((ticks, {name: entries.copy() for name, entries in published.items()}, counter, gap))
        self.ticks += ticks

    _planted(StreamFile, "commit", later)


def counts_a_tick_again() -> None:
    """A tick that is delivered again is counted again."""
    from sparsedp.streams import base

    def all_new(values: Any, first: Any, kept: Any, time: Any, *, fill: int) -> Any:
        from sparsedp.streams._store import Arrivals

        return Arrivals(kept.ticks, 0, 0, values)

    _planted(base, "arrivals", all_new)


def knows_no_order_again() -> None:
    """The seed that was drawn is part of the order."""
    from sparsedp.mechanisms.compressive import Compressive

    _planted(Compressive, "chosen", property(repr))


def leaves_ids_behind() -> None:
    """What was written while records were counted is not removed."""
    real = tempfile.mkdtemp

    def folder(*arguments: Any, **settings: Any) -> str:
        place = str(real(*arguments, **settings))
        Path(place, "spilled").write_text(f"{CANARY}7")
        return place

    _planted(tempfile, "mkdtemp", folder)
    _planted(shutil, "rmtree", lambda *_, **__: None)


def writes_files_in_place() -> None:
    """A release is written under its own name from the first byte on, and a kill comes at the middle one."""
    from sparsedp.files import columns_file

    def in_place(target: Path, write: Callable[[Any], Any], *, replacing: bool = True) -> Path:
        whole = io.BytesIO()
        write(whole)
        target.write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
        if target.name.endswith(".release.parquet"):
            os.kill(os.getpid(), signal.SIGKILL)
        target.write_bytes(whole.getvalue())
        return target

    _planted(columns_file, "written_whole", in_place)


def pays_with_the_first_tick() -> None:
    """A stream's file is made before its ledger is debited."""
    from sparsedp.streams.durable import _opening
    from sparsedp.streams.durable._schema import create

    def unpaid(path: Path, stream: Any) -> bool:
        create(path, {**stream.describe(), "paid": None}, stream._logs, counters=stream._state is not None)
        return True

    _planted(_opening, "begin", unpaid)
    _planted(_opening, "reconcile", lambda file, paid, path, stream: paid)


MISTAKES: dict[str, tuple[Callable[[], None], Callable[[], Scenario], Fault]] = {
    "debits after the draw": (debits_after_the_draw, Spending, Fault("KILL", point=DRAWN)),
    "acknowledges before the commit": (
        acknowledges_before_the_commit,
        Observing,
        Fault("KILL", point="after a commit"),
    ),
    "counts a tick again": (
        counts_a_tick_again,
        lambda: Observing(kind="difference", exact=True),
        Fault("KILL", point="after a key"),
    ),
    "pays with the first tick": (pays_with_the_first_tick, Observing, Fault("KILL", point="before a commit")),
    "knows no order again": (
        knows_no_order_again,
        lambda: Publishing(mechanism="compressive"),
        Fault("KILL", point="stored"),
    ),
    "leaves ids behind": (leaves_ids_behind, Publishing, Fault("INT", point="debited")),
    "writes files in place": (writes_files_in_place, Publishing, Fault("KILL", share=60)),
}


def found(root: Path, name: str) -> list[str]:
    """What the torture says of a mistake."""
    planted, make, fault = MISTAKES[name]
    scenario = make()
    with episode(root, name, disk=False) as place:
        scenario.prepare(place)
        scenario.planted = planted
        scenario.chance.seed(1)
        return list(scenario.harm(place, fault).violations)


if __name__ == "__main__":
    for campaign in SAMPLE:
        campaign.run()
    with tempfile.TemporaryDirectory() as folder:
        mistakes = {name: found(Path(folder), name) for name in MISTAKES}
    faults = sum(campaign.injected for campaign in SAMPLE)
    violations = [violation for campaign in SAMPLE for violation in campaign.violations]
    print(json.dumps({"faults": faults, "violations": violations, "mistakes": mistakes}))
