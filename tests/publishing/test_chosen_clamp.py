"""Values are clamped to what a private look chooses: what is spent on it, what is said, and what is refused."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparsedp as sdp
from repeatable_noise import made_once
from sparsedp.errors import InvalidInput
from sparsedp.ingest import counted
from sparsedp.ingest.clamps import PURPOSE
from sparsedp.ingest.request import Request
from sparsedp.privacy.budget import asked_for
from sparsedp.publishing import run
from sparsedp.publishing.order import FileDelivery, Order
from sparsedp.publishing.run import Run

ASKED: dict[str, Any] = {
    "domain": ["ward:north,south"],
    "privacy_unit": "who",
    "max_contributions": 2,
    "value": "cost",
    "clamp": "auto",
    "resolution": "0.5",
    "with_counts": True,
    "ledger": None,
}
BUDGETS: list[dict[str, Any]] = [{"epsilon": 1}, {"rho": "0.1"}, {"epsilon": 1, "delta": "1e-9"}]


@made_once
def stays() -> pa.Table:
    """4,000 records of people with two each; all costs but a few are below 1,024."""
    chance = np.random.default_rng(0)
    cost = np.minimum(np.round(chance.lognormal(5, 0.7, 4000), 2), 1000.0)
    cost[:3] = 1e9
    ward = np.array(["north", "south"])[chance.integers(0, 2, 4000)]
    return pa.table({"who": np.arange(4000) // 2, "ward": ward, "cost": cost})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    pq.write_table(stays(), tmp_path / "stays.parquet")
    return tmp_path / "stays.parquet"


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_clamp_is_chosen_for_a_share_and_everything_is_calibrated_to_it(
    budget: dict[str, Any], source: Path, tmp_path: Path
) -> None:
    release = sdp.publish(source, to=tmp_path / "a.parquet", **{**ASKED, **budget})
    again = sdp.open_release(tmp_path / "a.parquet")
    assert (again.digest, again.guarantee) == (release.digest, release.guarantee)
    assert again.spent == asked_for(budget.get("epsilon"), budget.get("rho"), budget.get("delta"))
    clamp = again.quantity.clamp
    assert clamp is not None
    low, high = clamp
    assert low == 0
    # Noise cannot hide where thousands of costs are; three among them it does.
    assert Fraction(128) <= high <= 1024
    steps = high / Fraction(1, 2)
    assert steps.numerator & (steps.numerator - 1) == 0
    assert again.guarantee.neighbours.contribution == 2 * steps
    look = next(expense for expense in again.guarantee.expenses if expense.purpose == PURPOSE)
    whole = again.guarantee.total
    amounts = [each.rho if each.epsilon is None else each.epsilon for each in (look.budget, whole)]
    assert amounts[0] == amounts[1] * Fraction(1, 20)  # type: ignore[operator]
    assert again.counts is not None
    assert again.nonnegative
    assert 100 < again.mean().estimate < 300  # type: ignore[operator]


def test_what_is_wide_costs_noise_so_few_large_values_are_cut_off(source: Path, tmp_path: Path) -> None:
    """And many are not: the rule looks at both."""
    many = stays().set_column(2, "cost", pa.array(np.where(np.arange(4000) % 4 == 0, 1e6, 100.0)))
    release = sdp.publish(many, to=tmp_path / "a.parquet", **{**ASKED, "epsilon": 1})
    assert release.quantity.clamp is not None
    assert 1e6 <= release.quantity.clamp[1] < 2e6


def test_a_side_below_zero_has_a_bound_of_its_own(tmp_path: Path) -> None:
    both = stays().set_column(2, "cost", pa.array(np.where(np.arange(4000) % 2 == 0, -30.0, 100.0)))
    release = sdp.publish(both, to=tmp_path / "a.parquet", **{**ASKED, "epsilon": 1})
    assert release.quantity.clamp == (Fraction(-32), Fraction(128))
    assert not release.nonnegative


def test_the_budget_is_debited_before_the_look_is_drawn(source: Path, tmp_path: Path) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("stays", epsilon=1)
    terms = {**ASKED, "epsilon": 1, "ledger": ledger, "to": tmp_path / "a.parquet"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Order, "clamp_of", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError) as stopped:
            sdp.publish(source, **terms)
    assert any("was debited" in note for note in stopped.value.__notes__)
    (entry,) = ledger.entries
    assert entry.state == "debited"
    assert "within bounds that a private look chooses" in str(entry.parameters)
    assert ledger.remaining is None


def test_a_stored_measurement_is_taken_up_with_its_clamp(source: Path, tmp_path: Path) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("stays", epsilon=1)
    terms = {**ASKED, "epsilon": 1, "ledger": ledger, "to": tmp_path / "a.parquet"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sdp.Synopsis, "recover", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sdp.publish(source, **terms)
    source.unlink()
    with pytest.warns(UserWarning, match="no records are read again"):
        release = sdp.publish(source, **terms)
    assert release.quantity.clamp is not None
    assert ledger.entries[0].state == "delivered"


def test_what_is_counted_again_is_within_what_was_chosen(source: Path, tmp_path: Path) -> None:
    """Twice as many records, or the widest clamp, would have to be paid for."""
    asked: list[Any] = []

    def noted(request: Any, **more: Any) -> Any:
        asked.append(request)
        return counted(request, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "counted", noted)
        release = sdp.publish(source, to=tmp_path / "a.parquet", **{**ASKED, "epsilon": 1})
    first, last = asked
    assert first.amounts.highest > last.amounts.highest
    assert release.quantity.clamp == tuple(bound / Fraction(2) for bound in (last.amounts.lowest, last.amounts.highest))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"clamp_share": 0}, "clamp_share is 0"),
    ({"clamp_share": "all"}, "clamp_share is"),
    ({"clamp_share": "0.99"}, "clamp_share is all that cut_share leaves"),
    ({"clamp": (0, 500), "clamp_share": "0.1"}, "clamp_share is given beside bounds"),
    ({"max_contributions": "auto"}, "clamp is 'auto' beside max_contributions='auto'"),
    ({"resolution": None}, "resolution is missing"),
    ({"value": None, "with_counts": False}, "clamp is given without a value"),
    ({"clamp": "automatic"}, "clamp is of type str"),
    ({"epsilon": "1e-30"}, "epsilon is 1.0e-30"),
]


@pytest.mark.parametrize(("terms", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_said_before_anything_is_spent_or_read(
    terms: dict[str, Any], said: str, tmp_path: Path
) -> None:
    ledger = sdp.Ledger(epsilon=1)
    asked = {**ASKED, "to": tmp_path / "a.parquet", "epsilon": 1, "ledger": ledger, "cut_share": "0.02", **terms}
    with pytest.raises(InvalidInput, match=f"^{said}"):
        sdp.publish(tmp_path / "no such file.parquet", **asked)
    assert ledger.spent is None


def test_records_that_can_be_read_once_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    ledger = sdp.Ledger(epsilon=1)
    reader = stays().to_reader()
    with pytest.raises(InvalidInput, match=r"^clamp is 'auto' for records that can be read only once; save them"):
        sdp.publish(reader, to=tmp_path / "a.parquet", **{**ASKED, "epsilon": 1, "ledger": ledger})
    assert ledger.spent is None


def test_counting_alone_chooses_nothing() -> None:
    terms = {name: ASKED[name] for name in ("domain", "privacy_unit", "value", "clamp", "resolution")}
    with pytest.raises(InvalidInput, match=r"^clamp is 'auto'; give bounds: only `sparsedp\.publish`"):
        sdp.count(stays(), **terms)


def test_a_small_budget_has_a_narrower_choice(tmp_path: Path) -> None:
    """The widest clamp that can be chosen is a public fact: that whose noise fits 64 bits."""
    declared = {name: ASKED[name] for name in ("privacy_unit", "value", "clamp", "resolution", "max_contributions")}
    widest = []
    for epsilon in ("1e-2", "1e-6"):
        request = Request.of("nothing.parquet", ASKED["domain"], **declared)
        to = FileDelivery(tmp_path / "a.parquet")
        order = Order.of(request, asked_for(epsilon), sdp.Laplace(), to, ledger=None)
        assert Run(order).stored is None
        assert order.request.amounts is not None
        widest.append(order.request.amounts.highest)
    assert widest[0] > widest[1] > 1
