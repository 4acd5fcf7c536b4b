"""Durable streams: paid for, begun, observed tick by tick; by the library, and on the command line."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import sparsedp as sdp
from sparsedp.cli import main
from sparsedp.errors import BadFile, SparsedpError
from sparsedp.noise.source import NoiselessSource
from sparsedp.privacy.ledger import Spend
from sparsedp.privacy.ledger_file import DataSetLedger, open_ledger
from sparsedp.streams import Stream
from sparsedp.streams.durable._sealing import KeyPlace
from sparsedp.streams.durable._stream_file import StreamFile
from torture.process import RACE, Fault, Place, Tell, race, run
from torture.scenario import STAGES, Scenario, Verdict, at_method, at_point

LOUD = Fraction(1, 2**45)
"""An ε whose noise has some fifty bits: no exact count is found in a file by chance."""

HORIZON, TICKS = 2**12, 30
"""Of a stream, and of one worker."""

KINDS: dict[str, Callable[..., Stream]] = {
    "adaptive": sdp.ContinualAdaptive,
    "totals": lambda **terms: sdp.ContinualAdaptive(totals="0.3", totals_every=4, horizon=HORIZON, **terms),
    "difference": lambda **terms: sdp.ContinualDifference(horizon=HORIZON, **terms),
    "compressive": lambda **terms: sdp.ContinualCompressive(horizon=HORIZON, rows=5, **terms),
}

ANEW = 0.4
"""How often a fault meets a stream that is not begun yet."""

PAYING = ("before the debit", "before the commit", "debited", "delivered")
COMMITTING = ("before a commit", "after a commit", "before a key", "after a key")


def exact_count(tick: int) -> int:
    """What is counted in a tick: 58 bits that depend on the tick alone, and are found in no file by chance."""
    return int.from_bytes(blake2b(f"tick {tick}".encode(), digest_size=8).digest(), "big") >> 6


@dataclass
class Observing(Scenario):
    """One stream an episode. `exact`: without noise, so that it can be told whether every tick was counted once."""

    kind: str = "adaptive"
    exact: bool = False
    places = ("books", "out")
    faults_of_an_episode = 5

    def __post_init__(self) -> None:
        self._gone = self._stopped = 0
        """Debits for streams that are gone, and for beginnings of this one that were stopped."""

    @property
    def name(self) -> str:
        """By its kind."""
        return f"stream, {self.kind}"

    @property
    def points(self) -> tuple[str, ...]:
        """Where it pays, where ticks are committed and, of counters, where the key of their state is written."""
        return (*PAYING, *COMMITTING) if self.kind != "adaptive" else (*PAYING, *COMMITTING[:2])

    def prepare(self, place: Place) -> None:
        """A ledger; the stream is begun by whoever comes first."""
        open_ledger(place / "books" / "budget.db").declare("visits", epsilon=1)

    def measure(self, place: Place) -> float:
        """A stream that is begun, observed and closed, and is of no further interest."""
        seconds = run(place, self._work, prepare=self.planted).seconds
        self._anew(place)
        return seconds

    def harm(self, place: Place, fault: Fault) -> Verdict:
        """Observe under the fault, then unharmed; often from the beginning, so that it meets that too."""
        if self.chance.random() < ANEW:
            self._anew(place)
        debits, begun = len(_ledger(place).entries), _stream(place).exists()
        if fault.kind == RACE:
            ended = race(place, self._work, prepare=self.planted, after=self.usual / 2)
        else:
            ended = [run(place, self._work, fault, usual=self.usual, prepare=self._prepared(fault))]
        if not begun and (fault.kind == RACE or not _stream(place).exists()):
            self._stopped += sum(each.code != 0 for each in ended)
        violations = [complaint for each in ended for complaint in each.complaints()]
        violations += self._leaks(place)
        first = self.judged(lambda: self._judge(place, debits))
        again = run(place, self._work, prepare=self.planted)
        if again.code:
            violations.append(f"it did not go on: {again.errors[-300:]} {place.tellings()[-1:]}")
        second = self.judged(lambda: self._judge(place, debits))
        violations += [*first.violations, *second.violations, *self._leaks(place)]
        return Verdict(first.stage, tuple(dict.fromkeys(violations)), any(each.hit for each in ended))

    def _anew(self, place: Place) -> None:
        """Forget the stream: the next worker begins another."""
        for path in (place / "out").iterdir():
            path.unlink()
        place.told.write_text("")
        self._gone, self._stopped = len(_ledger(place).entries), 0

    def _terms(self) -> dict[str, Any]:
        return {"epsilon": LOUD, "source": NoiselessSource() if self.exact else None}

    def _work(self, place: Place, tell: Tell) -> int:
        """Open it, deliver its last ticks again, and go on."""
        try:
            ledger = _ledger(place)
            with sdp.open_stream(_stream(place), KINDS[self.kind](**self._terms(), ledger=ledger)) as stream:
                first = max(0, stream.ticks - 3)
                stop = stream.ticks + TICKS
                while first < stop:
                    batch = 1 + first % 3
                    counts = [exact_count(tick) for tick in range(first, first + batch)]
                    results = stream.observe_many(counts, at=first)
                    heard = [None] * batch if results is None else results.tolist()
                    tell({"first": first, "heard": heard})
                    first += batch
        except SparsedpError as error:
            return _in_use(error, tell)
        return 0

    def _prepared(self, fault: Fault) -> Callable[[], None]:
        def prepare() -> None:
            if self.planted is not None:
                self.planted()
            if fault.point in PAYING:
                at_point(fault)
            elif fault.point in COMMITTING:
                owner: type = StreamFile if fault.point.endswith("commit") else KeyPlace
                method = "commit" if owner is StreamFile else "overwrite"
                at_method(fault, owner, method, after=fault.point.startswith("after"), number=4)

        return prepare

    def _judge(self, place: Place, debits: int) -> Verdict:
        ledger = _ledger(place)
        violations = _payments(place, ledger.entries[self._gone :], self._stopped)
        told = place.tellings()
        for line in told:
            if not str(line.get("refused", ".")).endswith("."):
                violations.append(f"a refusal is not one sentence: {line}")
        heard = {line["first"] + n: value for line in told if "first" in line for n, value in enumerate(line["heard"])}
        if not _stream(place).exists():
            lost = ["ticks were acknowledged, and there is no stream"] if heard else []
            return Verdict(STAGES[1] if len(ledger.entries) > debits else STAGES[0], (*violations, *lost))
        with sdp.open_stream(_stream(place), KINDS[self.kind](**self._terms())) as stream:
            violations += _lost(stream, heard)
            if self.exact and stream.ticks:
                violations += _miscounted(stream)
            extra = stream.ticks > max(heard, default=-1) + 1
        return Verdict(STAGES[2] if extra else STAGES[3], tuple(violations))

    def _leaks(self, place: Place) -> list[str]:
        """Exact counts, and sums of them, as SQLite, numpy and text would write them."""
        if self.exact:
            return []
        counts = [exact_count(tick) for tick in range(8 * TICKS)]
        totals = [int(total) for total in np.cumsum(np.array(counts, np.uint64)).astype(np.int64)]
        numbers = [*counts, *totals]
        needles = [number.to_bytes(8, order, signed=True) for number in numbers for order in ("big", "little")]
        needles += [str(number).encode() for number in counts]
        return [f"an exact count is in {name}" for name in place.files_with(needles)]


class Commanded(Observing):
    """The same by `sparsedp stream init` and `sparsedp stream observe --follow`."""

    @property
    def name(self) -> str:
        """Whatever its kind."""
        return "stream, command line"

    def _terms(self) -> dict[str, Any]:
        return {"epsilon": LOUD}

    def _work(self, place: Place, tell: Tell) -> int:
        file = "out/cases.stream"
        if not _stream(place).exists():
            begin = f"stream init {file} --epsilon 1/{2**45} --ledger books/budget.db --dataset visits"
            code = int(main(begin.split()))
            if code:
                return _told_refusal(code, tell)
        try:
            with sdp.open_stream(_stream(place)) as stream:
                first = max(0, stream.ticks - 3)
        except SparsedpError as error:
            return _in_use(error, tell)
        lines = "".join(f"{tick},{exact_count(tick)}\n" for tick in range(first, first + TICKS))
        sys.stdin = io.TextIOWrapper(io.BytesIO(lines.encode()))
        sys.stdout = _Heard(tell)
        return _told_refusal(int(main(["stream", "observe", file, "--follow"])), tell)


class _Heard(io.StringIO):
    """Standard output, of which every line is what the world has seen."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell

    def write(self, text: str) -> int:
        """A line of `tick,count`."""
        tick, comma, count = text.strip().partition(",")
        if comma and tick.isdigit():
            self._tell({"first": int(tick), "heard": [int(count)]})
        return len(text)


def _in_use(error: SparsedpError, tell: Tell) -> int:
    """A refusal; that another has the file is none."""
    tell({"refused": str(error)})
    return 0 if isinstance(error, BadFile) and "in use" in str(error) else 1


def _told_refusal(code: int, tell: Tell) -> int:
    if code:
        tell({"refused": "."})
    return code


def _stream(place: Place) -> Path:
    return place / "out" / "cases.stream"


def _ledger(place: Place) -> DataSetLedger:
    return open_ledger(place / "books" / "budget.db", "visits")


def _payments(place: Place, entries: tuple[Spend, ...], stopped: int) -> list[str]:
    """A stream that is there is paid for by one debit that it names; others were for beginnings that were stopped."""
    found = []
    if len(entries) > stopped + 1:
        found.append(f"{len(entries)} debits for one stream, of which {stopped} beginnings were stopped")
    if _stream(place).exists():
        with sdp.open_stream(_stream(place)) as stream:
            record = stream.record
        if record is None or all(str(spend.number) != record["spend"] for spend in entries):
            found.append("a stream that its ledger has not paid for")
    return found


def _lost(stream: Stream, heard: dict[int, Any]) -> list[str]:
    if stream.ticks <= max(heard, default=-1):
        return [f"{max(heard) + 1} ticks were acknowledged, and {stream.ticks} are there"]
    return [
        f"tick {tick} was acknowledged as {value}, and is another now"
        for tick, value in heard.items()
        if stream.observe(0, at=tick) != value
    ]


def _miscounted(stream: Stream) -> list[str]:
    """Without noise the synopsis is Φ D: every tick is in it once."""
    synopsis = stream.synopsis()
    exact = np.array([exact_count(tick) for tick in range(stream.ticks)])
    if (synopsis.values == synopsis.sensing.apply(exact)).all():
        return []
    return ["a tick was counted twice, or not at all"]
