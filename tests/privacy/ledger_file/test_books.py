"""A ledger file: made by the first declaration, totals that never change, names that cannot be mixed up."""

import json
import sqlite3
import stat
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_places import TENTH, memory_folder

from sparsedp.errors import BadFile, BudgetExceeded, InvalidInput, UnknownName
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.privacy.ledger_file import open_ledger


def test_opening_makes_nothing_and_says_how_to_begin(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    books = open_ledger(path)
    for use in (lambda: books.names, lambda: books["visits"], lambda: open_ledger(path, "visits")):
        with pytest.raises(BadFile, match=r"no ledger .*`sparsedp ledger init .*budget\.db --dataset NAME --eps"):
            use()
    assert not list(tmp_path.iterdir())


def test_declared_once_it_is_there_for_everyone(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    visits = open_ledger(path).declare("visits", epsilon=2)
    open_ledger(path).declare("genomes", epsilon=1, delta="1e-6")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["budget.db"], "no log or journal is left beside it"
    books = open_ledger(str(path))
    assert (books.names, list(books), "visits" in books) == (("visits", "genomes"), ["visits", "genomes"], True)
    assert isinstance(books["visits"], Ledger)
    assert (books["visits"].total, visits.total) == (Budget(epsilon=2), Budget(epsilon=2))
    assert books["genomes"].total == Budget(epsilon=1, delta="1e-6")
    assert "visits, total: ε = 2; left: ε = 2" in repr(visits)
    assert "visits, genomes" in repr(books)


def test_a_total_never_changes(tmp_path: Path) -> None:
    books = open_ledger(tmp_path / "budget.db")
    books.declare("visits", epsilon=2)
    assert books.declare("visits", epsilon="2.0").total == Budget(epsilon=2)
    with pytest.raises(InvalidInput, match="total is ε = 3 for 'visits', whose total stands at ε = 2; leave it"):
        books.declare("visits", epsilon=3)
    with pytest.raises(InvalidInput, match="whose total stands at ε = 2"):
        books.declare("visits", rho=2)
    books.declare("mixed", epsilon=1, delta="1e-6", composition="zcdp")
    with pytest.raises(InvalidInput, match="counted by 'basic' for 'mixed', whose total ε = 1, δ = 1e-6 is by 'zcdp'"):
        books.declare("mixed", epsilon=1, delta="1e-6")
    assert books["visits"].remaining == Budget(epsilon=2)
    with pytest.raises(AttributeError):
        books["visits"].total = Budget(epsilon=3)  # type: ignore[misc]


@pytest.mark.parametrize("name", ["", " ", "a" * 65, "vis/its", "a\nb", "-x", "x ", "../x", 7, None, "a\0"])
def test_names_are_short_and_plain(name: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"dataset is .* give up to 64 letters"):
        open_ledger(tmp_path / "budget.db").declare(name, epsilon=1)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_names_that_look_the_same_are_the_same(tmp_path: Path) -> None:
    books = open_ledger(tmp_path / "budget.db")
    books.declare("caf\u00e9", epsilon=1)
    assert books["cafe\u0301"].name == "caf\u00e9"
    for alike in ("Caf\u00e9", "\uff43af\u00e9"):
        with pytest.raises(InvalidInput, match="would be a second budget"):
            books.declare(alike, epsilon=1)
    with pytest.raises(UnknownName, match=r"did you mean 'café'\? the ledger has café; .*declare"):
        books["cafe"]
    assert books.names == ("caf\u00e9",)


def test_every_data_set_has_a_budget_of_its_own(tmp_path: Path) -> None:
    books = open_ledger(tmp_path / "budget.db")
    one, other = books.declare("one", epsilon=1), books.declare("other", epsilon=1)
    one.debit(Budget(epsilon=1), "all of it")
    assert (one.remaining, other.remaining) == (None, Budget(epsilon=1))
    assert other.debit(TENTH, "a little").number == 2, "spends are numbered across the file"
    assert [entry.purpose for entry in other.entries] == ["a little"]


def test_one_relation_a_data_set(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    ledger.debit(TENTH, "first", relation="add_remove")
    with pytest.raises(InvalidInput, match="neighbours is 'replace_one' on a ledger whose spends are for 'add_remove'"):
        open_ledger(tmp_path / "budget.db", "visits").debit(TENTH, "second", relation="replace_one")
    assert len(ledger.entries) == 1


def test_what_is_kept_is_given_back(tmp_path: Path) -> None:
    """Exact rationals, whom a budget is for, the public parameters; and the ρ behind an (ε, δ)."""
    books = open_ledger(tmp_path / "budget.db")
    ledger = books.declare("mixed", epsilon=1, delta="1e-6", composition="zcdp")
    made = [
        ledger.debit(Budget(epsilon="1/30").counted_for("one event"), "pure", parameters={"axes": ["a", 1], "c": 3}),
        ledger.debit(Budget(rho="1/700"), "ρ", relation="replace_one", request="a request"),
        ledger.debit(Budget(epsilon="0.1", delta="1e-9"), "both", rho=Fraction(1, 5000)),
    ]
    found = open_ledger(tmp_path / "budget.db", "mixed").entries
    assert list(found) == made
    assert found[0].spent.protects == found[0].budget.protects == "one event"
    assert [entry.spent.rho for entry in found] == [Fraction(1, 1800), Fraction(1, 700), Fraction(1, 5000)]
    with pytest.raises(InvalidInput, match="say which rho was spent on it"):
        ledger.debit(Budget(epsilon="0.1", delta="1e-9"), "no ρ behind it")


@given(st.lists(st.fractions(min_value=Fraction(1, 97), max_value=1, max_denominator=97), max_size=6))
def test_it_decides_as_the_ledger_in_memory_does(requests: list[Fraction]) -> None:
    with memory_folder() as folder:
        ledger, plain = open_ledger(folder / "budget.db").declare("visits", epsilon=2), Ledger(epsilon=2)
        for request in requests:
            answers = []
            for each in (ledger, plain):
                try:
                    each.debit(Budget(epsilon=request), "test")
                    answers.append("taken")
                except BudgetExceeded as refusal:
                    answers.append(str(refusal))
            assert answers[0] == answers[1]
        assert (ledger.spent, ledger.remaining) == (plain.spent, plain.remaining)


def test_nothing_private_has_a_place_in_it(tmp_path: Path) -> None:
    """No rows, no durations, no sources, no digests of the data: these are all the columns there are."""
    open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1).debit(TENTH, "laplace, 3 cells")
    columns = "number data_set time purpose relation protects epsilon delta rho charged_epsilon charged_delta"
    columns += " charged_rho parameters request token state synopsis_digest release_digest"
    file = sqlite3.connect(tmp_path / "budget.db")
    assert [row[1] for row in file.execute("PRAGMA table_info(spends)")] == columns.split()
    (time, epsilon, parameters) = file.execute("SELECT time, epsilon, parameters FROM spends").fetchone()
    file.close()
    assert (len(time), time[-1], epsilon, json.loads(parameters)) == (20, "Z", "1/10", {})


@pytest.mark.parametrize(
    ("argument", "value"),
    [("parameters", {"rows": object()}), ("parameters", {"x": float("nan")}), ("request", 7), ("request", "x" * 70000)],
)
def test_what_a_ledger_cannot_keep(argument: str, value: object, tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    for each in (ledger, Ledger(epsilon=1)):
        with pytest.raises(InvalidInput, match=argument):
            each.debit(TENTH, "test", **{argument: value})  # type: ignore[arg-type]
        assert each.entries == ()
