"""An order is known again by public facts alone, in every version; what is wrong with it is said before any record."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sparsedp as sdp
from sparsedp.axes import domain as domains
from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.ingest import count, counted
from sparsedp.ingest.request import Request
from sparsedp.mechanisms.base import private_table
from sparsedp.privacy.ledger_file.store import LedgerStore
from sparsedp.publishing import checked_mechanism
from sparsedp.publishing.order import FileDelivery, Order
from sparsedp.publishing.run import Run

WIDE = ["day:2024-01-01..2024-03-31/1d", "sex:F,M,other", "age:0..120/5"]
CSV = {"delimiter": ";", "decimal": ",", "date_format": "%d.%m.%Y"}
SUMS: dict[str, Any] = {"value": "cost", "clamp": (0, 500), "resolution": "0.01", "csv": CSV}
SUMS |= {"columns": {"age": "years"}, "outside": {"age": "clamp", "sex": "other"}}
PERSON: dict[str, Any] = {"privacy_unit": "patient_id", "max_contributions": 3}


def order(
    request: Request,
    budget: sdp.Budget,
    mechanism: object = "adaptive",
    to: str | Path = "/out/a.parquet",
    **terms: Any,
) -> Order:
    return Order.of(request, budget, checked_mechanism(mechanism), FileDelivery(to), **{"ledger": None, **terms})


HALF = sdp.Budget(epsilon="0.5")
KNOWN = {
    "4b890aa74228aaec75076b219e594827f929d19a3bff876fac2ad6a8fcd1b898": order(
        Request.of("/data/visits.parquet", WIDE, **PERSON), HALF
    ),
    "25668508715e49ddd945d0934cd1b27fcfea5a83781b440842e2757c591faeb2": order(
        Request.of("/data/visits.csv", WIDE, **PERSON, **SUMS),
        sdp.Budget(rho="1/8"),
        "adaptive:cells",
        neighbours="replace_one",
    ),
    "6072e1b37954c67c551b6e7f19dd136121cfafb540d3c982887e2b9c11cbbf80": order(
        Request.of("/data/visits.parquet", ["sex:F,M"], privacy_unit=["a", "b"]),
        sdp.Budget(epsilon=1, delta="1e-9"),
        sdp.Compressive(sparsity=2, seed=1),
        constraints=sdp.Constraints(total=100, integers=True),
    ),
    "47c40a427e270aa8f0168ca2be3341499b8415a6b80282b2df7681faab95da9a": order(
        Request.of(io.BytesIO(), "hour:0..23", privacy_unit=None), sdp.Budget(epsilon=1), "laplace"
    ),
}


@pytest.mark.parametrize("identity", KNOWN)
def test_orders_of_earlier_versions_are_known_again(identity: str) -> None:
    """These stand in ledgers: an order that got another one would pay a second time."""
    assert KNOWN[identity].identity == identity


def test_records_of_a_file_are_known_wherever_their_release_goes() -> None:
    file, memory = Request.of("/data/visits.parquet", WIDE, **PERSON), Request.of(io.BytesIO(), WIDE, **PERSON)
    assert order(file, HALF, to="/a.parquet").identity == order(file, HALF, to="/b.parquet").identity
    assert order(memory, HALF, to="/a.parquet").identity != order(memory, HALF, to="/b.parquet").identity


@pytest.mark.parametrize(
    "request_", [KNOWN[identity].request for identity in KNOWN], ids=["plain", "sums", "two", "all"]
)
def test_what_is_promised_is_what_counting_enforces(request_: Request) -> None:
    """The terms are made before a record is read; the counts come with the same bound and the same words."""
    columns = [*(request_.privacy_unit or ()), *request_.axis_columns, "cost"]
    empty = pd.DataFrame({name: pd.Series([], dtype="str") for name in columns})
    request = request_.asked_of(empty)
    table = private_table(counted(request), None, None, negative=False)
    neighbours = order(request, HALF).terms.neighbours
    assert (neighbours.contribution, neighbours.counted) == (table.contribution, table.counted)
    assert (request.quantity, request.negative) == (table.quantity, table.negative)


def test_counts_with_another_bound_than_was_promised_are_not_paid_for() -> None:
    ledger = sdp.Ledger(epsilon=1)
    records = pd.DataFrame({"patient_id": [1, 2], "sex": ["F", "M"]})
    promised = order(Request.of(records, ["sex:F,M"], privacy_unit="patient_id"), HALF, ledger=ledger)
    table = private_table(count(records, ["sex:F,M"], **PERSON), None, None, negative=False)
    with pytest.raises(PrivateSide, match="another bound"):
        promised.mechanism.debited(table, promised.terms)
    assert ledger.spent is None


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"epsilon": "1e-30"}, "epsilon is 1.0e-30, so small that the noise would not fit"),
        ({"constraints": sdp.Constraints(total=5), **SUMS, "csv": None}, "constraints is given for the sums"),
        ({"constraints": sdp.Constraints(monotone={"sex": "increasing"})}, "monotone is along an axis of categories"),
    ],
)
def test_public_refusals_come_before_any_record_is_read(terms: dict[str, Any], says: str, tmp_path: Path) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    asked = {"domain": WIDE, **PERSON, "epsilon": 1, "mechanism": "laplace", **terms}
    with pytest.raises(InvalidInput) as refused:
        sdp.publish(tmp_path / "there is none.parquet", to=tmp_path / "out.parquet", ledger=ledger, **asked)
    assert str(refused.value).startswith(says)
    assert ledger.spent is None


def test_an_order_does_not_show_its_records() -> None:
    records = pd.DataFrame({"patient_id": [7234567], "sex": ["F"]})
    asked = order(Request.of(records, ["sex:F,M"], privacy_unit="patient_id"), HALF)
    assert "7234567" not in repr(asked) + repr(asked.request) + repr(Run(asked))


def test_a_publication_opens_the_ledger_four_times_and_reads_the_domain_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One look before anything is decided, and one commit each for debit, measurement and delivery: every one of them
    must be on disk before the next thing is done."""
    seen: list[str] = []

    def noted(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def called(*arguments: Any, **settings: Any) -> Any:
            seen.append(name)
            return real(*arguments, **settings)

        monkeypatch.setattr(owner, name, called)

    records = pd.DataFrame({"patient_id": [1, 2, 3], "sex": ["F", "M", "F"]})
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    noted(LedgerStore, "reading")
    noted(LedgerStore, "writing")
    noted(domains, "parse_axis")
    release = sdp.publish(
        records, to=tmp_path / "a.parquet", domain=["sex:F,M"], privacy_unit="patient_id", epsilon="0.5", ledger=ledger
    )
    assert seen == ["parse_axis", "reading", "writing", "writing", "writing"]
    (entry,) = ledger.entries
    assert (entry.state, entry.release_digest) == ("delivered", release.digest)
    assert release.record == ledger.record(entry)


def test_what_is_debited_between_two_looks_is_seen_by_the_debit(tmp_path: Path) -> None:
    """The check before counting may be stale; the debit's own is not."""
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    records = pd.DataFrame({"patient_id": [1, 2, 3], "sex": ["F", "M", "F"]})
    request = Request.of(records, ["sex:F,M"], privacy_unit="patient_id")
    run = Run(order(request, HALF, to=tmp_path / "a.parquet", ledger=ledger))
    ledger.debit(sdp.Budget(epsilon="0.6"), "somebody else's")
    run.check()
    with pytest.raises(sdp.BudgetExceeded):
        run.carried_out()
    assert len(ledger.entries) == 1
    assert not (tmp_path / "a.parquet").exists()
    assert run.paid is None
