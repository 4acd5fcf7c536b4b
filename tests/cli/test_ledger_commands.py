"""Ledgers from the shell."""

import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cli_terminal import in_own_folder, ok, refused

import sparsedp as sdp
from sparsedp.privacy.accounting import composed
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import epsilon_of
from sparsedp.privacy.ledger_file import DataSetLedger, open_ledger


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


def test_a_ledger_is_declared_and_shown() -> None:
    assert "ε = 2 for visits" in ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2").text
    ok("ledger", "init", "budget.db", "--dataset", "trials", "--rho", "1/8")
    ledger = open_ledger("budget.db", "visits")
    digest = sdp.release([1, 2, 3], epsilon="0.5", ledger=ledger).digest
    text = ok("ledger", "show", "budget.db").text
    assert "visits: total ε = 2; spent ε = 0.5; left ε = 1.5." in text
    assert "trials: total ρ = 0.125; spent nothing" in text
    assert re.split(r" {2,}", text.splitlines()[2])[-3:] == ["3 cells", "adaptive", f"delivered ({digest[:12]})"]
    only = ok("ledger", "show", "budget.db", "--dataset", "visits", "--json").json["data_sets"]
    assert [each["left"] for each in only] == [{"epsilon": "3/2"}]
    assert only[0]["spends"][0]["state"] == "delivered"


def test_what_all_spends_come_to() -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    ledger = open_ledger("budget.db", "visits")
    for _ in range(3):
        sdp.release([1, 2, 3], epsilon="0.5", ledger=ledger)
    assert "All spends together: ε = 1.5, δ = 1e-9." in ok("ledger", "show", "budget.db", "--delta", "1e-9").text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show",), "name its file"),
        (("show", "missing.db"), "`sparsedp ledger init missing.db --dataset NAME --epsilon 2`"),
        (("show", "missing.db", "--dataset", "my visits"), "There is no ledger"),
        (("show", "budget.db", "--dataset", "visit"), "did you mean 'visits'?"),
        (("init", "budget.db", "--dataset", "visits", "--epsilon", "3"), "a total never changes"),
        (("init", "budget.db", "--dataset", "other"), "epsilon"),
        (("init", "budget.db", "--dataset", "other", "--epsilon", "-1"), "epsilon"),
        (("init", "no/such/folder.db", "--dataset", "other", "--epsilon", "1"), "no/such"),
    ],
)
def test_refusals(arguments: tuple[str, ...], says: str) -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    assert says in refused("ledger", *arguments)


def test_the_project_files_ledger_is_shown() -> None:
    ok("init")
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    assert "visits: total ε = 2" in ok("ledger", "show").text


DOMAIN = sdp.Domain.parse(["day:2024-01-01..2024-01-31/1d", "sex:F,M"])


def test_every_spend_says_what_it_bought_and_how_far_it_came() -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "5")
    ledger = open_ledger("budget.db", "visits")
    sdp.release(np.zeros(DOMAIN.shape, int), epsilon="0.5", domain=DOMAIN, ledger=ledger)
    sdp.release([1, 2], epsilon="0.5", mechanism=sdp.Adaptive(workload="cells"), ledger=ledger)
    sdp.release([1, 2], epsilon="0.5", mechanism=sdp.Hierarchical(branching=4), ledger=ledger)
    ledger.debit(Budget(epsilon="0.1"), "something else")
    stored = ledger.debit(Budget(epsilon="0.1"), "laplace, 3 cells")
    ledger.settle(stored, sdp.Laplace().measure([1, 2, 3], epsilon="0.1"))
    rows = [re.split(r" {2,}", line.strip())[3:] for line in ok("ledger", "show", "budget.db").text.splitlines()[2:]]
    assert rows[0][:2] == ["day (31) × sex (2)", "adaptive"]
    assert [row[1] for row in rows[1:3]] == ["adaptive:cells", "hierarchical (branching 4)"]
    assert rows[3] == ["something else", "something else", "spent; nothing is stored"]
    assert rows[4] == ["3 cells", "laplace", "spent; stored, not delivered"]


def test_mixed_spends_of_a_zcdp_ledger_come_to_less_than_their_sum() -> None:
    ok("ledger", "init", "b.db", "--dataset", "visits", "--epsilon", "3", "--delta", "1e-6", "--composition", "zcdp")
    ledger = open_ledger("b.db", "visits")
    for epsilon, rho in (("0.3", None), (None, "1/200"), ("0.4", None), (None, "1/100")):
        sdp.release([1, 2, 3], epsilon=epsilon, rho=rho, ledger=ledger, mechanism="laplace")
    said = ok("ledger", "show", "b.db", "--delta", "1e-6").text.splitlines()[-1]
    expected = composed(ledger.entries, "1e-6")
    assert expected is not None
    assert said == f"All spends together: {expected}."
    assert expected.epsilon is not None
    plainly_added = Fraction("0.7") + epsilon_of(Fraction("0.015"), Fraction("1e-6"))
    assert Fraction("0.7") < expected.epsilon < plainly_added
    assert ok("ledger", "show", "b.db", "--delta", "1e-6", "--json").json["data_sets"][0]["composed"] == str(expected)


def test_what_cannot_be_composed_is_said_before_anything_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    sdp.release([1, 2, 3], epsilon="0.5", ledger=open_ledger("budget.db", "visits"))
    assert "--delta is 2" in refused("ledger", "show", "budget.db", "--delta", "2")
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    assert "pip install" in refused("ledger", "show", "budget.db", "--delta", "1e-6")


@pytest.fixture
def paid() -> DataSetLedger:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    return open_ledger("budget.db", "visits")


def test_a_lost_release_is_written_again_for_nothing(paid: DataSetLedger) -> None:
    first = sdp.release(np.ones(DOMAIN.shape, int), epsilon="0.5", domain=DOMAIN, ledger=paid)
    assert "Nothing more was spent." in ok("ledger", "recover", "budget.db", "--spend", "1", "-o", "a.parquet").text
    again = sdp.open_release("a.parquet")
    assert again.digest == first.digest
    assert again.record == first.record
    found = ok("ledger", "recover", "budget.db", "--spend", "1", "-o", "a.csv", "--json").json
    assert found["as_delivered"] is True
    assert len(paid.entries) == 1
    assert "exists already" in refused("ledger", "recover", "budget.db", "--spend", "1", "-o", "a.parquet")
    assert "does not hold" in refused("ledger", "recover", "budget.db", "--spend", "2", "-o", "b.parquet")
    next(Path("budget.db.synopses").iterdir()).write_bytes(b"changed")
    assert "no stored measurement" in refused("ledger", "recover", "budget.db", "--spend", "1", "-o", "b.parquet")
    assert not Path("b.parquet").exists()


def test_what_was_never_delivered_is_then(paid: DataSetLedger) -> None:
    stored = paid.debit(Budget(epsilon="0.5"), "laplace, 3 cells")
    paid.settle(stored, sdp.Laplace().measure([1, 2, 3], epsilon="0.5"))
    lost = paid.debit(Budget(epsilon="0.5"), "laplace, 3 cells")
    ok("ledger", "recover", "budget.db", "--spend", str(stored.number), "-o", "a.parquet")
    assert [entry.state for entry in paid.entries] == ["delivered", "debited"]
    assert paid.entries[0].release_digest == sdp.open_release("a.parquet").digest
    sentence = refused("ledger", "recover", "budget.db", "--spend", str(lost.number), "-o", "b.parquet")
    assert "stopped before there was any" in sentence
