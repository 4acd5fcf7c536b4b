"""From records to a file in one call: the promise, the ledger's line, and what an interruption costs."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sparsedp as sdp
from sparsedp.errors import BadFile, BudgetExceeded, InvalidInput
from sparsedp.files import parquet_claims
from sparsedp.privacy.ledger_file import DataSetLedger
from sparsedp.releases import claims

DOMAIN = sdp.Domain([sdp.Categories("sex", ["F", "M"]), sdp.Integers("hour", 0, 23)])


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    rows = [(person, "FM"[person % 2], (person * 7 + visit) % 24) for person in range(500) for visit in range(4)]
    path = tmp_path / "visits.parquet"
    pd.DataFrame(rows, columns=["patient_id", "sex", "hour"]).to_parquet(path)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> sdp.Ledger:
    return sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)


def published(source: Any, to: Path, ledger: sdp.Ledger | None = None, **terms: Any) -> sdp.Release:
    asked = {"domain": DOMAIN, "privacy_unit": "patient_id", "max_contributions": 3, "epsilon": "0.5", **terms}
    return sdp.publish(source, to=to, ledger=ledger, **asked)


def test_records_become_a_file_with_the_promise_and_the_ledgers_line(
    visits: Path, ledger: sdp.Ledger, tmp_path: Path
) -> None:
    to = tmp_path / "visits.release.parquet"
    release = published(visits, to, ledger)
    again = sdp.open_release(to)
    assert again.digest == release.digest
    assert (again.values == release.values).all()
    assert "all records with the same patient_id" in str(again.guarantee)
    assert again.guarantee.neighbours.contribution == 3
    assert again.record is not None
    assert (again.record["data_set"], again.record["left"]) == ("visits", "ε = 0.5")
    (entry,) = ledger.entries
    assert (entry.state, entry.release_digest) == ("delivered", release.digest)
    # 1,500 records are kept of 2,000, give or take what the noise of one release adds.
    assert abs(release.values.sum() - 1500) < 400


def test_the_last_of_the_budget_is_refused_with_what_is_left(visits: Path, ledger: sdp.Ledger, tmp_path: Path) -> None:
    published(visits, tmp_path / "a.parquet", ledger)
    with pytest.raises(BudgetExceeded, match=r"ε = 0\.5 is left"):
        published(visits, tmp_path / "b.parquet", ledger, epsilon="0.6")
    assert not (tmp_path / "b.parquet").exists()
    with pytest.raises(BudgetExceeded):  # before any record is read
        published(tmp_path / "no such file.parquet", tmp_path / "b.parquet", ledger, epsilon="0.6")
    published(visits, tmp_path / "b.parquet", ledger)


@pytest.mark.parametrize("spoil", ["exists", "folder", "no folder", "csv", "number"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spent(
    spoil: str, visits: Path, ledger: sdp.Ledger, tmp_path: Path
) -> None:
    to: Any = tmp_path / "out.parquet"
    if spoil == "exists":
        to.write_text("kept")
    elif spoil == "folder":
        to.mkdir()
    elif spoil == "no folder":
        to = tmp_path / "nowhere" / "out.parquet"
    elif spoil == "csv":
        to = tmp_path / "out.csv"
    else:
        to = 3
    with pytest.raises((InvalidInput, BadFile)):
        published(visits, to, ledger)
    assert ledger.spent is None
    if spoil == "exists":
        assert to.read_text() == "kept"


def test_bad_terms_spend_nothing_and_read_nothing(visits: Path, ledger: sdp.Ledger, tmp_path: Path) -> None:
    wrong: list[dict[str, Any]] = [
        {"epsilon": 0},
        {"epsilon": None},
        {"mechanism": "laplas"},
        {"neighbours": "nobody"},
        {"domain": "auto"},
        {"max_contributions": 0},
        {"privacy_unit": "patient"},
        {"overwrite": "yes"},
        {"outside": {"age": "clamp"}},
        {"ledger": "budget.db"},
        {"columns": "hour"},
        {"outside": 5},
        {"outside": None},
        {"constraints": 5},
        {"csv": {"quote": "''"}},
        {"clamp": (0, 5)},
    ]
    for terms in wrong:
        asked = {"ledger": ledger, **terms}
        with pytest.raises(InvalidInput):
            published(visits, tmp_path / "out.parquet", **asked)
    assert ledger.spent is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["budget.db", "visits.parquet"]


def test_a_ledger_that_is_none_is_refused_with_what_would_do(visits: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"ledger is of type str; give .*open_ledger.*, or None if you keep count"):
        published(visits, tmp_path / "out.parquet", "budget.db")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["path", "text", "pandas", "polars", "arrow"])
def test_records_that_are_given_for_counts_are_sent_where_they_are_counted(kind: str, visits: Path) -> None:
    frame = pd.read_parquet(visits)
    given: Any = {
        "path": visits,
        "text": str(visits),
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
    }[kind]
    ledger = sdp.Ledger(epsilon=1)
    with pytest.raises(InvalidInput, match=r"^counts is .*`sparsedp\.publish` counts records, and publishes that\."):
        sdp.release(given, epsilon=1, ledger=ledger)
    assert ledger.spent is None


def test_a_frame_of_counts_is_a_table_like_any_other(visits: Path) -> None:
    frame = pd.read_parquet(visits)
    assert sdp.release(pd.crosstab(frame["sex"], frame["hour"]), epsilon=1).shape == (2, 24)
    with pytest.raises(InvalidInput, match=r"^epsilon is"):
        sdp.release(pd.crosstab(frame["sex"], frame["hour"]), epsilon=0)


def test_overwriting_is_said_aloud(visits: Path, tmp_path: Path) -> None:
    to = tmp_path / "out.parquet"
    first = published(visits, to)
    second = published(visits, to, overwrite=True)
    assert sdp.open_release(to).digest == second.digest != first.digest


class Stopped(Exception):
    """Stands for whatever stops a run."""


@contextmanager
def stopped_at(place: Any, name: str) -> Iterator[list[str]]:
    """Runs stop at this function; gives the notes that the exception carries."""

    def stop(*_: object, **__: object) -> None:
        raise Stopped

    notes: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, name, stop)
        try:
            yield notes
        except Stopped as stopped:
            notes += stopped.__notes__
        else:
            pytest.fail("the run was not stopped")


def test_a_run_stopped_after_the_measurement_goes_on_for_free(visits: Path, ledger: sdp.Ledger, tmp_path: Path) -> None:
    to = tmp_path / "out.parquet"
    with stopped_at(sdp.Synopsis, "recover") as notes:
        published(visits, to, ledger)
    assert any("ε = 0.5 was debited" in note for note in notes)
    (entry,) = ledger.entries
    assert entry.state == "stored"
    visits.unlink()  # nothing is read again
    with pytest.warns(UserWarning, match="no records are read again"):
        release = published(visits, to, ledger)
    assert sdp.open_release(to).digest == release.digest
    (entry,) = ledger.entries
    assert (entry.state, entry.release_digest) == ("delivered", release.digest)
    assert str(ledger.remaining) == "ε = 0.5"


def test_a_large_table_goes_on_as_well_though_little_was_measured_of_it(
    visits: Path, ledger: sdp.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's file of many cells and few sums is refused; the measurement of one's own order is not lost by it."""
    to = tmp_path / "out.parquet"
    with stopped_at(sdp.Synopsis, "recover"):
        published(visits, to, ledger)
    monkeypatch.setattr(parquet_claims, "_USUAL_MEMORY", 100_000)
    monkeypatch.setattr(parquet_claims, "_TIMES_ITS_SIZE", 0)
    monkeypatch.setattr(claims, "_RECOVERED_BYTES", 10_000)
    path = ledger.entries[0].synopsis_path or ledger.stored(ledger.entries[0]).synopsis_path
    with pytest.raises(BadFile, match="memory="):
        sdp.open_synopsis(str(path))
    with pytest.warns(UserWarning, match="no records are read again"):
        published(visits, to, ledger)
    assert to.is_file()


def test_a_run_stopped_before_the_measurement_has_spent_and_says_so(
    visits: Path, ledger: sdp.Ledger, tmp_path: Path
) -> None:
    to = tmp_path / "out.parquet"
    with stopped_at(sdp.Adaptive, "_measured"):
        published(visits, to, ledger)
    assert str(ledger.spent) == "ε = 0.5 for one person (all records with the same patient_id)"
    with pytest.warns(UserWarning, match="stays spent, and this run spends again"):
        published(visits, to, ledger)
    assert ledger.remaining is None


def test_a_run_stopped_between_the_file_and_the_books_closes_them(
    visits: Path, ledger: sdp.Ledger, tmp_path: Path
) -> None:
    to = tmp_path / "out.parquet"
    with stopped_at(DataSetLedger, "deliver"):
        published(visits, to, ledger)
    written = to.read_bytes()
    with pytest.warns(UserWarning, match="nothing more is spent"):
        published(visits, to, ledger)
    assert to.read_bytes() == written
    (entry,) = ledger.entries
    assert entry.state == "delivered"


def test_what_was_stored_goes_to_another_file_for_free(visits: Path, ledger: sdp.Ledger, tmp_path: Path) -> None:
    with stopped_at(sdp.Synopsis, "recover"):
        published(visits, tmp_path / "full disk.parquet", ledger)
    with pytest.warns(UserWarning, match="of the records as they were then, is published"):
        release = published(visits, tmp_path / "another.parquet", ledger)
    assert sdp.open_release(tmp_path / "another.parquet").digest == release.digest
    assert [entry.state for entry in ledger.entries] == ["delivered"]


def test_data_in_memory_are_known_by_where_their_release_goes(visits: Path, ledger: sdp.Ledger, tmp_path: Path) -> None:
    """Nobody could tell that they are the same, and looking at them would compare what is private."""
    frame = pd.read_parquet(visits)
    with stopped_at(sdp.Synopsis, "recover"):
        published(frame, tmp_path / "a.parquet", ledger)
    published(frame, tmp_path / "b.parquet", ledger)
    assert [entry.state for entry in ledger.entries] == ["stored", "delivered"]
    with pytest.warns(UserWarning, match="nothing more is spent"):
        published(frame, tmp_path / "a.parquet", ledger)


OTHERS: list[dict[str, Any]] = [
    {"domain": ["hour:0..23"]},
    {"max_contributions": 2},
    {"epsilon": "0.25"},
    {"mechanism": "laplace"},
    {"neighbours": "add_remove", "constraints": sdp.Constraints(integers=True)},
    {"outside": {"hour": "clamp"}},
    {"columns": {"sex": "other"}},
    {"csv": {"quote": "'"}},
]


@pytest.mark.parametrize("terms", OTHERS, ids=[" ".join(terms) for terms in OTHERS])
def test_another_order_to_the_same_file_does_not_take_up_what_was_left(
    terms: dict[str, Any], visits: Path, ledger: sdp.Ledger, tmp_path: Path
) -> None:
    records = tmp_path / "visits.csv"
    pd.read_parquet(visits).assign(other="M").to_csv(records, index=False)
    with stopped_at(sdp.Synopsis, "recover"):
        published(records, tmp_path / "a.parquet", ledger)
    published(records, tmp_path / "a.parquet", ledger, **terms)
    assert [entry.state for entry in ledger.entries] == ["stored", "delivered"]


def test_killed_in_the_middle_the_books_are_true(visits: Path, tmp_path: Path) -> None:
    """A real process, killed at the very moment it has drawn its noise: the debit is on disk, and no file is there."""
    sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    to = tmp_path / "out.parquet"
    code = textwrap.dedent(
        f"""
        import os, signal
        import sparsedp as sdp
        real = sdp.Adaptive._measured
        def killed(*args, **terms):
            real(*args, **terms)
            os.kill(os.getpid(), signal.SIGKILL)
        sdp.Adaptive._measured = killed
        domain = sdp.Domain([sdp.Categories("sex", ["F", "M"]), sdp.Integers("hour", 0, 23)])
        sdp.publish({str(visits)!r}, to={str(to)!r}, domain=domain, privacy_unit="patient_id", max_contributions=3,
                    epsilon="0.5", ledger=sdp.open_ledger({str(tmp_path / "budget.db")!r}, "visits"))
        """
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ}, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert not to.exists()
    ledger = sdp.open_ledger(tmp_path / "budget.db", "visits")
    assert [(entry.spent.amount, entry.state) for entry in ledger.entries] == [("ε = 0.5", "debited")]


KILLED_ONCE_STORED = """
import os, signal, sys
import sparsedp as sdp
from sparsedp.cli import main
sdp.Synopsis.recover = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("mechanism", ["adaptive", "compressive"])
def test_the_same_command_after_a_kill_goes_on_from_what_is_stored(
    mechanism: str, visits: Path, ledger: sdp.Ledger, tmp_path: Path
) -> None:
    """Also of a mechanism that draws a public seed in every run: the one that was stored holds."""
    words = "--by hour:0..31 --unit patient_id --epsilon 0.5 --ledger budget.db -o out.parquet --mechanism"
    command = ["release", visits.name, *words.split(), mechanism]

    def run(code: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "-c", code, *command], cwd=tmp_path, capture_output=True)

    assert run(KILLED_ONCE_STORED).returncode == -signal.SIGKILL
    (stored,) = ledger.entries
    assert stored.state == "stored"
    (synopsis,) = (tmp_path / "budget.db.synopses").iterdir()
    ended = run("import sys; from sparsedp.cli import main; sys.exit(main(sys.argv[1:]))")
    assert ended.returncode == 0, ended.stderr
    assert b"nothing more is spent" in ended.stderr
    (delivered,) = ledger.entries
    assert (delivered.token, delivered.state) == (stored.token, "delivered")
    release = sdp.open_release(tmp_path / "out.parquet")
    assert (release.values == sdp.open_synopsis(synopsis).recover().values).all()


def test_a_seed_that_was_chosen_is_part_of_the_order(visits: Path, ledger: sdp.Ledger, tmp_path: Path) -> None:
    with stopped_at(sdp.Synopsis, "recover"):
        published(visits, tmp_path / "a.parquet", ledger, mechanism=sdp.Compressive(sparsity=2, seed=1))
    published(visits, tmp_path / "b.parquet", ledger, mechanism=sdp.Compressive(sparsity=2, seed=2))
    assert [entry.state for entry in ledger.entries] == ["stored", "delivered"]
    with pytest.warns(UserWarning, match="nothing more is spent"):
        published(visits, tmp_path / "a.parquet", ledger, mechanism=sdp.Compressive(sparsity=2, seed=1))
    assert [entry.state for entry in ledger.entries] == ["delivered", "delivered"]


def test_a_place_whose_links_go_round_in_circles_is_refused_before_anything_is_spent(
    visits: Path, tmp_path: Path, ledger: sdp.Ledger
) -> None:
    loop = tmp_path / "loop.parquet"
    loop.symlink_to(loop)
    with pytest.raises(InvalidInput, match="links lead nowhere"):
        published(visits, loop, ledger)
    assert not ledger.entries
