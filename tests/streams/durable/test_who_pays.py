"""A stream in a file has been paid for before the file exists, and the file knows by what."""

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from durable_streams import KINDS

import sparsedp as sdp
from sparsedp.errors import BadFile, BudgetExceeded, InvalidInput
from sparsedp.privacy.ledger_file import DataSetLedger

EVERY = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def ledger(tmp_path: Path) -> DataSetLedger:
    return sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=10)


def paid(ledger: sdp.Ledger) -> list[str]:
    return [spend.budget.amount for spend in ledger.entries]


@EVERY
def test_closed_before_the_first_tick_and_opened_without_a_ledger_it_is_paid_for(
    kind: str, tmp_path: Path, ledger: DataSetLedger
) -> None:
    sdp.open_stream(tmp_path / "a.stream", KINDS[kind](epsilon=5, ledger=ledger)).close()
    with sdp.open_stream(tmp_path / "a.stream") as stream:
        stream.observe_many([1, 2, 3])
        release = stream.release()
    assert paid(ledger) == ["ε = 5"]
    assert [spend.state for spend in ledger.entries] == ["delivered"]
    assert release.record == ledger.record(ledger.entries[0])


@EVERY
def test_a_ledger_without_room_begins_nothing(kind: str, tmp_path: Path) -> None:
    small = sdp.Ledger(epsilon="0.1")
    with pytest.raises(BudgetExceeded):
        sdp.open_stream(tmp_path / "a.stream", KINDS[kind](epsilon=5, ledger=small))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadFile, match="There is no file"):
        sdp.open_stream(tmp_path / "a.stream")


def test_a_ledger_in_memory_pays_too_and_is_not_asked_again(tmp_path: Path) -> None:
    memory = sdp.Ledger(epsilon=5)
    sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=5, ledger=memory)).close()
    for given in (None, sdp.ContinualAdaptive(epsilon=5), sdp.ContinualAdaptive(epsilon=5, ledger=memory)):
        with sdp.open_stream(tmp_path / "a.stream", given) as stream:
            stream.observe(1)
    assert paid(memory) == ["ε = 5"]


def test_another_ledger_is_refused_and_debited_nothing(tmp_path: Path, ledger: DataSetLedger) -> None:
    sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1, ledger=ledger)).close()
    others = [
        sdp.Ledger(epsilon=5),
        sdp.open_ledger(tmp_path / "budget.db").declare("others", epsilon=5),
        sdp.open_ledger(tmp_path / "other.db").declare("visits", epsilon=5),
    ]
    for other in others:
        with pytest.raises(
            InvalidInput, match=r"ledger is not the one that paid for .*: spend 1 of 'visits'; give that"
        ):
            sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1, ledger=other))
        assert paid(other) == []
    with sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1, ledger=ledger)) as stream:
        stream.observe(1)
    assert paid(ledger) == ["ε = 1"]


@EVERY
@pytest.mark.parametrize("ticks", [0, 3])
def test_begun_without_a_ledger_it_is_debited_when_it_is_first_opened_with_one(
    kind: str, ticks: int, tmp_path: Path, ledger: DataSetLedger
) -> None:
    with sdp.open_stream(tmp_path / "a.stream", KINDS[kind](epsilon=1)) as stream:
        for _ in range(ticks):
            stream.observe(1)
        assert stream.record is None
    for _ in range(2):
        with sdp.open_stream(tmp_path / "a.stream", KINDS[kind](epsilon=1, ledger=ledger)) as stream:
            assert stream.record is not None
        assert paid(ledger) == ["ε = 1"]
    with pytest.raises(InvalidInput, match="ledger"):
        sdp.open_stream(tmp_path / "a.stream", KINDS[kind](epsilon=1, ledger=sdp.Ledger(epsilon=5)))


def test_begun_without_a_ledger_it_is_not_opened_with_one_that_has_no_room(tmp_path: Path) -> None:
    sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1)).close()
    with pytest.raises(BudgetExceeded):
        sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1, ledger=sdp.Ledger(epsilon="0.5")))
    with sdp.open_stream(tmp_path / "a.stream") as stream:
        assert stream.record is None


@pytest.mark.parametrize(("ticks", "debits"), [(0, 1), (2, 0)])
def test_files_that_do_not_say_who_paid(ticks: int, debits: int, tmp_path: Path, ledger: DataSetLedger) -> None:
    """Those of earlier versions: a ledger was debited with the first tick."""
    path = tmp_path / "a.stream"
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as stream:
        for _ in range(ticks):
            stream.observe(1)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE stream SET description = json_remove(description, '$.paid')")
    connection.close()
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1, ledger=ledger)) as stream:
        stream.observe(1)
    assert len(paid(ledger)) == debits


@pytest.mark.parametrize("said", ["3", '{"token": "a"}', '{"record": {"spend": 1, "data_set": "a"}, "token": "a"}'])
def test_a_file_that_says_it_in_other_words_is_refused(said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.stream"
    sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE stream SET description = json_set(description, '$.paid', json(?))", (said,))
    connection.close()
    with pytest.raises(BadFile, match="describes a stream that this version does not know"):
        sdp.open_stream(path)


def test_what_stops_it_after_the_debit_says_that_it_stays_spent(
    tmp_path: Path, ledger: DataSetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.link", full)
        patched.setattr("os.rename", full)
        with pytest.raises(BadFile) as caught:
            sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1, ledger=ledger))
    assert any("ε = 1 was debited" in note and note.endswith("stays spent.") for note in caught.value.__notes__)
    with (
        pytest.warns(UserWarning, match="debited ε = 1 and was stopped before it had a stream"),
        sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1, ledger=ledger)) as stream,
    ):
        stream.observe(1)
    assert paid(ledger) == ["ε = 1", "ε = 1"]


def test_eight_processes_that_begin_the_same_stream_pay_once(tmp_path: Path, ledger: DataSetLedger) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        ended = pool.map(_begin, [(str(tmp_path / "a.stream"), str(ledger.path))] * 8)
    assert set(ended) <= {"opened", "in use"}
    assert "opened" in ended
    assert paid(ledger) == ["ε = 1"]


def _begin(places: tuple[str, str]) -> str:
    path, books = places
    try:
        sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1, ledger=sdp.open_ledger(books, "visits"))).close()
    except BadFile as error:
        return "in use" if "in use" in str(error) else str(error)
    return "opened"
