"""`publish` says what the bound left out, and chooses one if asked: paid together, kept in files, taken up again."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sparsedp as sdp
from sparsedp.errors import BadFile, BudgetExceeded, InvalidInput
from sparsedp.files import columns_file
from sparsedp.ingest.contributions import PURPOSE, Look
from sparsedp.releases import saved_form
from sparsedp.releases.claims import check_look

HOURS = ["hour:0..23"]
PEOPLE = 3000


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Half of the people have two records, and half of them eight."""
    who = np.repeat(np.arange(PEOPLE), np.where(np.arange(PEOPLE) % 2, 8, 2))
    path = tmp_path / "visits.parquet"
    pd.DataFrame({"who": who, "hour": np.arange(len(who)) % 24, "cost": 1.0}).to_parquet(path)
    return path


def published(source: Any, to: Path, ledger: sdp.Ledger | None = None, **terms: Any) -> sdp.Release:
    asked = {"domain": HOURS, "privacy_unit": "who", "max_contributions": 4, "epsilon": 10, **terms}
    return sdp.publish(source, to=to, ledger=ledger, **asked)


BUDGETS: list[dict[str, Any]] = [{"epsilon": 10}, {"epsilon": None, "rho": 5}, {"epsilon": 10, "delta": "1e-6"}]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("mechanism", ["adaptive", "laplace"])
def test_a_release_says_what_was_cut(budget: dict[str, Any], mechanism: str, visits: Path, tmp_path: Path) -> None:
    release = published(visits, tmp_path / "x.parquet", mechanism=mechanism, **budget)
    cut = release.cut
    assert cut is not None
    assert cut.bound == 4
    assert 0.2 < cut.low < 0.4 < cut.likely_high < 0.6  # 6,000 of 15,000 records; by far more than any noise
    look, *others = release.guarantee.expenses
    assert look.purpose == PURPOSE
    whole = release.guarantee.total
    part = look.budget.rho if whole.rho is not None else look.budget.epsilon
    assert part == (whole.rho if whole.rho is not None else whole.epsilon) / 50  # type: ignore[operator]
    assert others
    assert release.spent.describe() == sdp.Budget(**{k: v for k, v in budget.items() if v}).describe()


def test_it_survives_files_signatures_and_marginals(visits: Path, tmp_path: Path) -> None:
    key, _ = sdp.new_key(tmp_path / "clinic")
    release = published(visits, tmp_path / "x.parquet", sign=key, domain=[*HOURS, "cost:0..2"])
    again = sdp.open_release(tmp_path / "x.parquet")
    assert again.cut == release.cut
    assert again.digest == release.digest
    assert again.signature is not None
    assert again.verified_synopsis() is not None
    assert again.marginal("hour").cut == release.cut
    assert release.synopsis is not None
    assert isinstance(release.synopsis, sdp.Synopsis)
    synopsis = sdp.open_synopsis(release.synopsis.save(tmp_path / "s.parquet"))
    assert synopsis.cut == release.cut
    assert synopsis.recover().cut == release.cut
    assert "of the records were left out" in release.report(tmp_path / "x.html").read_text()


def test_nothing_is_spent_where_nothing_can_be_cut_or_nobody_asked(visits: Path, tmp_path: Path) -> None:
    without: list[dict[str, Any]] = [{"privacy_unit": None, "max_contributions": 1}, {"cut_share": "0"}]
    for terms in without:
        release = published(visits, tmp_path / "x.parquet", overwrite=True, **terms)
        assert release.cut is None
        assert PURPOSE not in {expense.purpose for expense in release.guarantee.expenses}
        assert release.guarantee.total.epsilon == 10
    assert sdp.release(np.arange(24), epsilon=1).cut is None


def test_a_share_of_ones_own(visits: Path, tmp_path: Path) -> None:
    release = published(visits, tmp_path / "x.parquet", cut_share="0.3", value="cost", clamp=(0, 2), resolution="0.5")
    assert release.guarantee.expenses[0].budget.epsilon == 3
    assert release.cut is not None
    assert release.guarantee.total.epsilon == 10
    assert release.cut.estimate == pytest.approx(0.4, abs=0.1)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("bound", [4, "auto"])
def test_beside_sums_with_counts(bound: Any, budget: dict[str, Any], visits: Path, tmp_path: Path) -> None:
    sums = {"value": "cost", "clamp": (0, 2), "resolution": "0.5", "with_counts": True, "max_contributions": bound}
    release = published(visits, tmp_path / "x.parquet", **budget, **sums)
    assert release.cut is not None
    assert release.counts is not None
    asked = sdp.Budget(**{name: amount for name, amount in budget.items() if amount})
    assert release.guarantee.total == asked.part(Fraction(1))
    assert release.spent.describe() == asked.describe()
    again = sdp.open_release(tmp_path / "x.parquet")
    assert again.cut == release.cut
    assert again.counts is not None
    assert again.guarantee == release.guarantee
    assert again.verified_synopsis() is not None
    assert release.counts.guarantee.neighbours.contribution == release.cut.bound
    alone = [expense.purpose for expense in release.counts.guarantee.expenses]
    assert (PURPOSE in alone) == (bound == "auto"), "who tells a bound that a look chose says what the look cost"
    assert [expense.purpose for expense in release.guarantee.expenses].count(PURPOSE) == (bound != "auto")
    opened = sdp.open_release(release.counts.save(tmp_path / "counts.parquet"))
    assert opened.guarantee == again.counts.guarantee == release.counts.guarantee


def test_counts_that_hide_what_the_look_for_their_bound_cost_are_refused(visits: Path, tmp_path: Path) -> None:
    """As `check_look` reads a promise: a bound that was chosen was paid for."""
    sums: dict[str, Any] = {
        "value": "cost",
        "clamp": (0, 2),
        "resolution": "0.5",
        "with_counts": True,
        "max_contributions": "auto",
    }
    release = published(visits, tmp_path / "x.parquet", mechanism="laplace", **sums)
    assert release.counts is not None
    honest = release.counts.guarantee
    hiding = replace(honest, expenses=tuple(each for each in honest.expenses if each.purpose != PURPOSE))
    check_look(honest, None)
    with pytest.raises(InvalidInput, match="for a bound that a look chose"):
        check_look(hiding, None)


# ---- the bound chosen


def test_a_bound_is_chosen_and_named(visits: Path, tmp_path: Path) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=10)
    release = published(visits, tmp_path / "x.parquet", ledger, max_contributions="auto")
    assert release.cut is not None
    assert release.cut.chosen
    assert release.cut.bound == release.guarantee.neighbours.contribution == 8
    assert "at most 8 records counted, a bound that a private look at the records chose" in str(release.guarantee)
    assert release.guarantee.expenses[0].budget.epsilon == sdp.Budget(epsilon="1/2").epsilon
    (spend,) = ledger.entries
    assert "as many records are counted as a private look chooses" in spend.parameters["neighbours"]
    assert spend.spent.epsilon == 10
    again = sdp.open_release(tmp_path / "x.parquet")
    assert str(again.guarantee) == str(release.guarantee)
    assert again.cut == release.cut
    assert abs(release.values.sum() - 15_000) < 1000


def test_sums_of_great_values_have_lower_bounds_to_choose_from(visits: Path, tmp_path: Path) -> None:
    sums: dict[str, Any] = {"value": "cost", "clamp": (0, 2**40), "resolution": 1}
    release = published(visits, tmp_path / "x.parquet", max_contributions="auto", mechanism="laplace", **sums)
    assert release.cut is not None
    assert release.guarantee.neighbours.contribution == release.cut.bound * 2**40 <= 2**48


def test_records_that_are_gone_once_read_are_refused(visits: Path, tmp_path: Path) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=10)
    table = pd.read_parquet(visits)
    reader = pa.Table.from_pandas(table).to_reader()
    with pytest.raises(InvalidInput, match="read only once"):
        published(reader, tmp_path / "x.parquet", ledger, max_contributions="auto")
    with pytest.raises(InvalidInput, match="every record is another person's"):
        published(visits, tmp_path / "x.parquet", ledger, max_contributions="auto", privacy_unit=None)
    with pytest.raises(InvalidInput, match="cut_share"):
        published(visits, tmp_path / "x.parquet", ledger, max_contributions="auto", cut_share=0)
    with pytest.raises(InvalidInput, match="give a number"):
        sdp.count(visits, HOURS, privacy_unit="who", max_contributions="auto")  # type: ignore[arg-type]
    assert ledger.spent is None
    assert not (tmp_path / "x.parquet").exists()


# ---- check, debit, draw; and taken up again


@pytest.mark.parametrize("bound", [4, "auto"])
def test_nothing_is_drawn_before_the_debit(
    bound: Any, visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=10)
    looks: list[int] = []
    honest = Look._noisy

    def seen(self: Look, people: Any, bins: Any) -> tuple[int, ...]:
        looks.append(len(ledger.entries))
        return honest(self, people, bins)

    monkeypatch.setattr(Look, "_noisy", seen)
    published(visits, tmp_path / "x.parquet", ledger, max_contributions=bound)
    assert looks == [1]
    with pytest.raises(BudgetExceeded):
        published(visits, tmp_path / "y.parquet", ledger, max_contributions=bound)
    assert looks == [1]


class Stopped(Exception):
    """A stand-in for a kill."""


@pytest.mark.parametrize("bound", [4, "auto"])
def test_an_order_that_is_taken_up_has_its_cut(
    bound: Any, visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=10)
    terms = {"max_contributions": bound}
    with monkeypatch.context() as patch:

        def stop(*_: Any) -> Any:
            raise Stopped

        patch.setattr(sdp.Synopsis, "recover", stop)
        with pytest.raises(Stopped):
            published(visits, tmp_path / "x.parquet", ledger, **terms)
    (spend,) = ledger.entries
    path = ledger.stored(spend).synopsis_path
    assert path is not None
    stored = sdp.open_synopsis(path).cut
    visits.unlink()
    with pytest.warns(UserWarning, match="Taken up"):
        release = published(visits, tmp_path / "x.parquet", ledger, **terms)
    assert stored is not None
    assert release.cut == stored
    assert len(ledger.entries) == 1
    # Another share is another order: it is not taken for that one.
    with pytest.raises(BudgetExceeded):
        published(visits, tmp_path / "z.parquet", ledger, cut_share="0.4", **terms)


# ---- files that say what was not done


def forged(release: sdp.Release, path: Path, **other: Any) -> Path:
    """The file of a release that claims another cut, with a digest that fits."""
    columns = saved_form.columns(release)
    contents = saved_form.contents(release, columns)
    description = {**contents.description, **other}
    return columns_file.save(path, columns_file.Contents("release", columns, description))


def test_files_that_claim_a_cut_that_was_not_paid_for(visits: Path, tmp_path: Path) -> None:
    release = published(visits, tmp_path / "x.parquet", mechanism="laplace")
    assert release.cut is not None
    honest = release.cut.describe()
    assert sdp.open_release(forged(release, tmp_path / "same.parquet", cut=honest)).cut == release.cut
    quieter = {**honest, "noise": {"name": "discrete_laplace", "scale": "1/10"}}
    with pytest.raises(BadFile, match="look at the numbers of records"):
        sdp.open_release(forged(release, tmp_path / "a.parquet", cut=quieter))
    other = {**honest, "bound": 5}
    with pytest.raises(BadFile):
        sdp.open_release(forged(release, tmp_path / "b.parquet", cut=other))
    unpaid = published(visits, tmp_path / "y.parquet", mechanism="laplace", cut_share=0)
    with pytest.raises(BadFile, match="look at the numbers of records"):
        sdp.open_release(forged(unpaid, tmp_path / "c.parquet", cut=honest))
