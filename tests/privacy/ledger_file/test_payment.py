"""A ledger knows the releases that it has paid for, whatever a file says of itself."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.privacy.ledger_file.books import Payment

DOMAIN = ["day:2024-01-01..2024-02-29/1d", "sex:F,M"]
COUNTS = np.arange(120).reshape(60, 2) * 7


@pytest.fixture
def books(tmp_path: Path) -> sdp.LedgerFile:
    found = sdp.open_ledger(tmp_path / "budget.db")
    found.declare("visits", epsilon=2)
    found.declare("others", epsilon=2)
    return found


@pytest.fixture
def path(tmp_path: Path, books: sdp.LedgerFile) -> Path:
    """A release that the second spend has paid for; the first one was for somebody else."""
    sdp.release(COUNTS, epsilon="0.1", domain=DOMAIN, ledger=books["others"])
    return sdp.release(COUNTS, epsilon="0.5", domain=DOMAIN, ledger=books["visits"]).save(tmp_path / "x.parquet")


def found(books: sdp.LedgerFile, release: sdp.Release | sdp.Synopsis, tmp_path: Path) -> Payment | None:
    """As whoever gets the file would ask."""
    path = release.save(tmp_path / "asked.parquet")
    return books.paid_for((sdp.open_synopsis if isinstance(release, sdp.Synopsis) else sdp.open_release)(path))


def test_the_file_that_was_delivered(books: sdp.LedgerFile, path: Path) -> None:
    payment = books.paid_for(sdp.open_release(path))
    assert payment is not None
    assert (payment.data_set, payment.spend.number, payment.by) == ("visits", 2, "release")
    assert payment.spend.state == "delivered"
    assert str(payment.spend.spent.amount) == "ε = 0.5"


def test_signing_does_not_make_it_another(books: sdp.LedgerFile, path: Path, tmp_path: Path) -> None:
    private, _ = sdp.new_key(tmp_path / "office")
    payment = found(books, sdp.open_release(path).sign(private), tmp_path)
    assert payment is not None
    assert payment.by == "release"


def test_recovered_again(books: sdp.LedgerFile, path: Path, tmp_path: Path) -> None:
    release = sdp.open_release(path)
    assert release.synopsis is not None
    for again in (
        replace(release, written_by="sparsedp 0.0.9"),
        release.synopsis.recover(),
        release.marginal("sex"),
        replace(release, record=None),
    ):
        payment = found(books, again, tmp_path)
        assert payment is not None, again
        assert (payment.spend.number, payment.by) == (2, "synopsis")


def test_recovered_again_when_the_stored_measurement_is_gone(books: sdp.LedgerFile, path: Path, tmp_path: Path) -> None:
    for stored in (tmp_path / "budget.db.synopses").iterdir():
        stored.unlink()
    payment = found(books, replace(sdp.open_release(path), record=None), tmp_path)
    assert payment is not None
    assert payment.by == "synopsis"
    assert payment.spend.synopsis_path is None


def test_the_synopsis_itself(books: sdp.LedgerFile, path: Path) -> None:
    (stored,) = (tmp for tmp in path.parent.joinpath("budget.db.synopses").iterdir() if tmp.name.startswith("2-"))
    payment = books.paid_for(sdp.open_synopsis(stored))
    assert payment is not None
    assert (payment.spend.number, payment.by) == (2, "synopsis")


def test_a_spend_that_was_stored_and_not_delivered(books: sdp.LedgerFile, tmp_path: Path) -> None:
    ledger = books["visits"]
    synopsis = sdp.Adaptive().measure(COUNTS.ravel(), epsilon="0.5")
    spend = ledger.debit(synopsis.spent, "by hand")
    ledger.settle(spend, synopsis)
    payment = found(books, synopsis.recover(), tmp_path)
    assert payment is not None
    assert (payment.spend.number, payment.spend.state, payment.by) == (1, "stored", "synopsis")


def test_the_true_measurement_under_false_numbers_is_not_ours(
    books: sdp.LedgerFile, path: Path, tmp_path: Path
) -> None:
    release = sdp.open_release(path)
    values = release.values.copy()
    values[3, 1] += 1
    assert release.record is not None
    for forged in (
        replace(release, values=values),
        replace(release, record={**release.record, "left": "ε = 2"}),
        replace(release, mechanism="laplace"),
        replace(release, domain=sdp.Domain.parse(["day:2025-01-01..2025-03-01/1d", "sex:F,M"])),
        replace(release, guarantee=replace(release.guarantee, expenses=release.guarantee.expenses[:1])),
    ):
        try:
            assert found(books, forged, tmp_path) is None, forged
        except sdp.BadFile:  # a contradiction may be seen even when the file is opened
            continue


def test_what_others_have_published_is_not_ours(books: sdp.LedgerFile, path: Path, tmp_path: Path) -> None:
    same = sdp.release(COUNTS, epsilon="0.5", domain=DOMAIN)
    assert found(books, same, tmp_path) is None
    record = sdp.open_release(path).record
    assert found(books, replace(same, record=record), tmp_path) is None
    assert found(books, sdp.release(COUNTS.ravel(), epsilon="0.5", mechanism="laplace"), tmp_path) is None
