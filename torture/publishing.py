"""`sparsedp release`: records with planted ids, a ledger, and whatever ends the command on the way."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import sparsedp as sdp
from sparsedp.cli import main
from sparsedp.privacy.ledger import Spend
from sparsedp.privacy.ledger_file import DataSetLedger, open_ledger
from torture.process import RACE, SIGNALS, Ended, Fault, Place, Tell, Work, race, run
from torture.scenario import LEDGER_POINTS, STAGES, Scenario, Verdict

CANARY = "RAW-ID-"
"""Begins every id: found anywhere but in the records, it has leaked."""

TAKEN_UP, PAID_AGAIN = "nothing more is spent", "this run spends again"


@dataclass
class Publishing(Scenario):
    """One order after the other; each is harmed, and then given again, as whoever ran it would."""

    mechanism: str = "adaptive"
    people: int = 1500
    width: int = 24
    memory: str = "256MB"
    title: str = ""
    points = LEDGER_POINTS
    places = ("books", "out", "tmp")
    named = 0.55  # most of the time goes by before the debit

    def __post_init__(self) -> None:
        self._orders = 0

    @property
    def name(self) -> str:
        """By its mechanism, mostly."""
        return self.title or f"release, {self.mechanism}"

    def prepare(self, place: Place) -> None:
        """Records and a ledger."""
        write_records(place / "in" / "visits.csv", self.people, self.width)
        open_ledger(place / "books" / "budget.db").declare("visits", epsilon=1000)

    def measure(self, place: Place) -> float:
        """An unharmed release."""
        self._orders += 1
        return run(place, self._released(self._output()), prepare=self.planted).seconds

    def harm(self, place: Place, fault: Fault) -> Verdict:
        """Release under the fault, and once more unharmed."""
        self._orders += 1
        if fault.kind == RACE:
            return self._raced(place)
        output = self._output()
        before = self._known(place)
        ended = run(place, self._released(output), fault, usual=self.usual, prepare=self.prepared(fault))
        first = self.judged(lambda: _judge(place, output, before, ended, fault.kind))
        swept = ended.code != -SIGNALS["KILL"]
        leaks = self._leaks(place) if swept else []
        if not ended.hit:
            return Verdict(first.stage, (*first.violations, *leaks), hit=False)
        middle = self._known(place)
        delivered = first.stage == STAGES[3]
        again = None if delivered else run(place, self._released(output), prepare=self.planted)
        if again is None:
            violations = (*first.violations, *leaks)
        else:
            second = self.judged(lambda: _judge_again(place, output, before, middle, again))
            violations = (*first.violations, *leaks, *again.complaints(), *second.violations)
        if delivered and not swept:  # any later command sweeps
            run(place, self._released("out/unused.release.parquet", "--dry-run"), prepare=self.planted)
        return Verdict(first.stage, tuple(dict.fromkeys((*violations, *self._leaks(place)))))

    def _raced(self, place: Place) -> Verdict:
        """Eight commands for the same order, each to a file of its own: each debit has one noise."""
        before = self._known(place)
        outputs = [f"out/{self._orders}.{racer}.release.parquet" for racer in range(8)]
        claims = place / "in" / f"claims.{self._orders}"
        claims.mkdir()

        def released(place: Place, tell: Tell) -> int:
            return self._released(_claimed(claims, outputs))(place, tell)

        ended = race(place, released, prepare=self.planted)
        complaints = [complaint for each in ended for complaint in each.complaints()]
        found = self.judged(lambda: _judge_race(place, outputs, before, ended))
        return Verdict(found.stage, (*found.violations, *complaints, *self._leaks(place)))

    def _output(self) -> str:
        return f"out/{self._orders}.release.parquet"

    def _released(self, output: str, *more: str) -> Work:
        words = "release in/visits.csv --by hour:0..63 --unit patient_id --max-contributions 3 --epsilon 0.5"

        def released(place: Place, tell: Tell) -> int:
            os.environ.update(SPARSEDP_MEMORY=self.memory, SPARSEDP_THREADS="1")
            ledger = ("--ledger", "books/budget.db", "--mechanism", self.mechanism, "-o", output)
            return int(main([*words.split(), *ledger, *more]))

        return released

    def _known(self, place: Place) -> dict[str, str]:
        """The state of every spend, by its name."""
        return {spend.token: spend.state for spend in _ledger(place).entries}

    def _leaks(self, place: Place) -> list[str]:
        return [f"a raw id is left in {name}" for name in place.files_with([CANARY.encode()])]


def write_records(path: Path, people: int, width: int) -> None:
    """Three records each, every id with the canary in it."""
    lines = (f"{CANARY}{row % people:0{width}d},{row * 7 % 64}" for row in range(3 * people))
    path.write_text("\n".join(("patient_id,hour", *lines, "")))


def spilling() -> Publishing:
    """Records that do not fit in the memory that is allowed, so that ids go to temporary files while it counts."""
    return Publishing(people=140_000, width=180, memory="100MB", title="release, spilling")


def _ledger(place: Place) -> DataSetLedger:
    return open_ledger(place / "books" / "budget.db", "visits")


def _claimed(claims: Path, outputs: list[str]) -> str:
    """The first output that no other racer has claimed."""
    for number, output in enumerate(outputs):
        try:
            os.close(os.open(claims / str(number), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return output
    raise AssertionError("more racers than outputs")


def _judge(place: Place, output: str, before: dict[str, str], ended: Ended, kind: str) -> Verdict:
    """Just after the fault: at most one debit, no half-written file, and what was said is true."""
    violations = ended.complaints()
    new = [spend for spend in _ledger(place).entries if spend.token not in before]
    violations += _changed(place, before)
    if len(new) > 1:
        violations.append(f"one command made {len(new)} debits")
    spend = new[0] if new else None
    target = place / output
    if target.exists():
        violations += _unlike(place, target, spend)
        if spend is None or spend.state == "debited":
            violations.append(f"there is a release that is {'not paid for' if spend is None else 'stored nowhere'}")
    if ended.code == 0 and (spend is None or spend.state != "delivered" or not target.exists()):
        violations.append("the command said that it was done, and it was not")
    if ended.code not in (0, -SIGNALS["KILL"]) and not ended.is_killed:
        violations += _untrue(ended, spend)
    return Verdict(_stage(spend), tuple(violations))


def _judge_again(place: Place, output: str, before: dict[str, str], middle: dict[str, str], again: Ended) -> Verdict:
    """After the same command once more: paid once if something was stored, and what is there is what was paid for."""
    violations = _changed(place, middle)
    if again.code:
        return Verdict(STAGES[0], (*violations, f"the same command did not go on: {again.errors[-500:]}"))
    entries = _ledger(place).entries
    ours = [spend for spend in entries if spend.token not in before]
    old = [token for token in middle if token not in before]
    stored = bool(old) and middle[old[0]] == "stored"
    if stored and len(ours) != 1:
        violations.append("paid twice, although the measurement was stored")
    if len(ours) > len(old) + 1:
        violations.append(f"two runs made {len(ours)} debits")
    if len(ours) == 2 and PAID_AGAIN not in again.errors:
        violations.append("paid again without a word")
    if old and len(ours) == 1 and TAKEN_UP not in again.errors:
        violations.append("taken up without a word")
    paid = ours[-1] if ours else None
    if paid is None or paid.state != "delivered":
        return Verdict(STAGES[0], (*violations, "the ledger does not know of the delivery"))
    return Verdict(STAGES[3], (*violations, *_unlike(place, place / output, paid)))


def _judge_race(place: Place, outputs: list[str], before: dict[str, str], ended: list[Ended]) -> Verdict:
    violations = _changed(place, before)
    new = [spend for spend in _ledger(place).entries if spend.token not in before]
    done = sum(each.code == 0 for each in ended)
    noises: dict[str, str] = {}
    for output in outputs:
        if (place / output).exists():
            release = sdp.open_release(place / output)
            number = str((release.record or {}).get("spend"))
            if noises.setdefault(number, release.digest) != release.digest:
                violations.append(f"two noises for spend {number}")
            violations += _unlike(
                place, place / output, next((spend for spend in new if str(spend.number) == number), None)
            )
    if len(new) > len(ended):
        violations.append(f"{len(ended)} commands made {len(new)} debits")
    if done != sum((place / output).exists() for output in outputs):
        violations.append("not as many files as commands that were done")
    return Verdict(STAGES[3] if done == len(ended) else STAGES[2], tuple(violations))


def _changed(place: Place, before: dict[str, str]) -> list[str]:
    """Spends that were there are there, and no further than they can be."""
    now = {spend.token: spend.state for spend in _ledger(place).entries}
    order = ("debited", "stored", "delivered")
    return [
        f"a spend was lost, or went back: {token}"
        for token, state in before.items()
        if token not in now or order.index(now[token]) < order.index(state)
    ]


def _unlike(place: Place, target: Path, spend: Spend | None) -> list[str]:
    """What is there opens, and is what this spend has paid for."""
    release = sdp.open_release(target)
    if spend is None:
        return ["a release without a debit"]
    found = []
    if (release.record or {}).get("spend") != str(spend.number):
        found.append("the release names another spend")
    if spend.release_digest not in (None, release.digest):
        found.append("the ledger knows another release of this spend")
    stored = _ledger(place).stored(spend).synopsis_path
    if stored is None:
        found.append("the measurement of a release is not stored")
    elif not _is_of(release, sdp.open_synopsis(stored)):
        found.append("two noises for one debit: the stored measurement is another")
    return found


def _is_of(release: sdp.Release, stored: sdp.Synopsis) -> bool:
    """Whether a release was made of this measurement: it holds it, or is what is recovered from it."""
    if release.synopsis is not None:
        return release.synopsis.digest == stored.digest
    return bool((stored.recover().values == release.values).all())


def _untrue(ended: Ended, spend: Spend | None) -> list[str]:
    """What a command says when it is stopped but can still speak."""
    said = ended.errors.strip().splitlines()
    if not said:
        return ["it ended without a word"]
    spent = any(word in ended.errors for word in ("stays spent", "is spent"))
    if spend is not None and not spent:
        return [f"it was debited and did not say so: {said[-1]}"]
    if spend is None and spent:
        return [f"it said that it was debited, and it was not: {said[-1]}"]
    return []


def _stage(spend: Spend | None) -> str:
    states = {"debited": STAGES[1], "stored": STAGES[2], "delivered": STAGES[3]}
    return STAGES[0] if spend is None else states[spend.state]
