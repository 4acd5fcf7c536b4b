"""A file that cannot be used: one clear sentence, and nothing spent; the sentence says so."""

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ledger_places import TENTH

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.privacy.ledger_file import DataSetLedger, open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> DataSetLedger:
    made = open_ledger(tmp_path / "budget.db", wait=0.2).declare("visits", epsilon=1)
    made.debit(TENTH, "first")
    return made


def sentence_of(action: Callable[[], object]) -> str:
    with pytest.raises(BadFile) as caught:
        action()
    said = str(caught.value)
    assert said.endswith(".")
    assert "\n" not in said
    assert "sqlite" not in said.lower()
    return said


def write_pragma(path: Path, pragma: str) -> None:
    file = sqlite3.connect(path)
    file.execute(pragma)
    file.commit()
    file.close()


def make_foreign(path: Path) -> None:
    path.unlink()
    write_pragma(path, "CREATE TABLE counts (n)")


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 512)


def spoil(path: Path) -> None:
    """Every page but the first is garbage."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


HARMS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "no ledger .* begin one"),
    "a folder": (make_folder, "is not a file; give the path of a ledger"),
    "text": (lambda path: path.write_text("day,count\n" * 300), "not a sparsedp ledger"),
    "another database": (make_foreign, "not a sparsedp ledger"),
    "of a later version": (
        lambda path: write_pragma(path, "PRAGMA user_version = 2"),
        "of format 2, .* update",
    ),
    "cut short": (cut_short, "damaged, cut short or was changed"),
    "garbage": (spoil, "damaged, cut short or was changed"),
    "with another table": (lambda path: write_pragma(path, "CREATE TABLE more (x)"), "changed by another program"),
    "without a trigger": (lambda path: write_pragma(path, "DROP TRIGGER spends_stay"), "changed by another program"),
    "empty": (lambda path: os.truncate(path, 0), "no ledger .* begin one"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_what_is_not_a_whole_ledger_is_refused(harm: str, ledger: DataSetLedger) -> None:
    spoiled, expected = HARMS[harm]
    spoiled(ledger.path)
    before = ledger.path.read_bytes() if ledger.path.is_file() else None
    assert re.search(expected, sentence_of(lambda: open_ledger(ledger.path, "visits")))
    if harm not in ("missing", "empty"):
        assert re.search(expected, sentence_of(lambda: open_ledger(ledger.path)))
        assert re.search(expected, sentence_of(lambda: open_ledger(ledger.path).declare("visits", epsilon=9)))
    said = sentence_of(lambda: ledger.debit(TENTH, "while it was open"))
    assert said.endswith("Nothing was spent.")
    assert before == (ledger.path.read_bytes() if ledger.path.is_file() else None), "and it is left as it is"


def test_moved_away_while_open(ledger: DataSetLedger) -> None:
    ledger.path.rename(ledger.path.with_name("elsewhere.db"))
    said = sentence_of(lambda: ledger.debit(TENTH, "second"))
    assert "was moved or deleted while it was in use; put it back" in said
    assert not ledger.path.exists(), "and none is begun in its place"
    ledger.path.with_name("elsewhere.db").rename(ledger.path)
    assert ledger.debit(TENTH, "second").number == 2


def test_books_do_not_begin_another_in_its_place(tmp_path: Path) -> None:
    books = open_ledger(tmp_path / "budget.db")
    books.declare("visits", epsilon=1)
    books.path.unlink()
    assert "was moved or deleted" in sentence_of(lambda: books.declare("visits", epsilon=1))
    assert not books.path.exists()


def test_replaced_by_another_ledger_while_open(ledger: DataSetLedger, tmp_path: Path) -> None:
    other = open_ledger(tmp_path / "other.db").declare("visits", epsilon=1)
    os.replace(other.path, ledger.path)
    said = sentence_of(lambda: ledger.debit(TENTH, "second"))
    assert "was replaced by another while it was in use" in said
    assert said.endswith("Nothing was spent.")
    assert open_ledger(ledger.path, "visits").spent is None


def test_an_older_copy_put_back_while_open(ledger: DataSetLedger, tmp_path: Path) -> None:
    shutil.copy(ledger.path, tmp_path / "backup.db")
    ledger.debit(TENTH, "second")
    os.replace(tmp_path / "backup.db", ledger.path)
    said = sentence_of(lambda: ledger.debit(TENTH, "third"))
    assert "lacks spends that it held before: an older copy was put back" in said


def test_deleted_between_check_and_commit(ledger: DataSetLedger) -> None:
    """The debit went into a file that has no name any more: no noise may be drawn on it."""
    ledger._store.reached = lambda point: ledger.path.unlink() if point == "before the commit" else None
    said = sentence_of(lambda: ledger.debit(TENTH, "second"))
    assert "moved or deleted" in said or "full or fails" in said
    assert "No noise was drawn" in said or "no noise was drawn" in said or "Nothing was spent" in said


@pytest.mark.parametrize("how", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_locked_by_another_program(how: str, ledger: DataSetLedger) -> None:
    holder = sqlite3.connect(ledger.path, isolation_level=None)
    holder.execute(how)
    started = time.monotonic()
    said = sentence_of(lambda: ledger.debit(TENTH, "second"))
    assert time.monotonic() - started < 5
    assert "has been in use by another process for 0.2 seconds; try again" in said
    assert said.endswith("Nothing was spent.")
    holder.execute("ROLLBACK")
    holder.close()
    assert ledger.debit(TENTH, "second").number == 2


def test_a_reader_that_does_not_let_go(ledger: DataSetLedger) -> None:
    """The commit waits for it, then gives up, and the debit is taken back."""
    holder = sqlite3.connect(ledger.path, isolation_level=None)
    holder.execute("BEGIN")
    holder.execute("SELECT * FROM spends").fetchall()
    said = sentence_of(lambda: ledger.debit(TENTH, "second"))
    assert "in use by another process" in said
    assert said.endswith("Nothing was spent.")
    holder.execute("ROLLBACK")
    holder.close()
    assert len(ledger.entries) == 1


def as_nobody(action: Callable[[], object]) -> str:
    """What an action says in a process whose user may not write here: root may write everywhere."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            try:
                os.write(writing, f"done: {action()}".encode())
            except BadFile as error:
                os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("what", ["the file", "its folder"])
def test_read_only(what: str) -> None:
    from ledger_places import memory_folder

    with memory_folder() as folder:
        ledger = open_ledger(folder / "budget.db").declare("visits", epsilon=1)
        folder.chmod(0o555 if what == "its folder" else 0o777)
        ledger.path.chmod(0o444 if what == "the file" else 0o666)
        said = as_nobody(lambda: ledger.debit(TENTH, "second"))
        assert "cannot be written: it, or its folder, is read-only or not yours; make both writable" in said
        assert said.endswith("Nothing was spent.")
        assert as_nobody(lambda: open_ledger(ledger.path, "visits").remaining) == "done: ε = 1", "but it can be read"
        assert "cannot be written" in as_nobody(lambda: open_ledger(ledger.path).declare("more", epsilon=1))
        if what == "its folder":
            said = as_nobody(lambda: open_ledger(folder / "new.db").declare("visits", epsilon=1))
            assert re.search("Could not create the ledger .*: Permission denied", said)
        ledger.path.chmod(0o000)
        assert "Permission denied; check who may use it" in as_nobody(lambda: open_ledger(ledger.path).names)
        folder.chmod(0o755)
        assert ledger.entries == ()


def test_no_folder_for_it(tmp_path: Path) -> None:
    said = sentence_of(lambda: open_ledger(tmp_path / "no" / "budget.db").declare("visits", epsilon=1))
    assert re.search("Could not create the ledger .*: there is no folder", said)


@pytest.mark.parametrize("path", [7, None, "", "a\0b"])
def test_what_is_no_path(path: object) -> None:
    with pytest.raises(InvalidInput, match=r"path is .*; give the path of a ledger"):
        open_ledger(path)  # type: ignore[call-overload]


def test_a_link_leads_to_the_same_ledger(ledger: DataSetLedger, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(ledger.path)
    open_ledger(tmp_path / "link.db", "visits").debit(TENTH, "second")
    assert [entry.purpose for entry in ledger.entries] == ["first", "second"]
    (tmp_path / "loop.db").symlink_to(tmp_path / "loop.db")
    with pytest.raises(BadFile):
        open_ledger(tmp_path / "loop.db")


def test_the_working_folder_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = open_ledger("budget.db").declare("visits", epsilon=1)
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    assert ledger.debit(TENTH, "first").number == 1
    assert not list((tmp_path / "else").iterdir())
