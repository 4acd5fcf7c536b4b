"""Ledgers from the shell."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused

import sparsedp as sdp
from sparsedp.privacy.ledger_file import open_ledger


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


def test_a_ledger_is_declared_and_shown() -> None:
    assert "ε = 2 for visits" in ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2").text
    ok("ledger", "init", "budget.db", "--dataset", "trials", "--rho", "1/8")
    ledger = open_ledger("budget.db", "visits")
    sdp.release([1, 2, 3], epsilon="0.5", ledger=ledger)
    text = ok("ledger", "show", "budget.db").text
    assert "visits: total ε = 2; spent ε = 0.5; left ε = 1.5." in text
    assert "trials: total ρ = 0.125; spent nothing" in text
    assert "adaptive, 3 cells" in text
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
