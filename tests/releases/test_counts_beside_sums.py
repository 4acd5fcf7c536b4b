"""Sums and counts of the same records in one order: one sample, one debit, one file, and what agrees with what."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsedp as sdp
from repeatable_noise import made_once
from sparsedp.errors import BadFile, InvalidInput, PrivateSide
from sparsedp.files.columns_file import Contents, contents_of, open_contents
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from sparsedp.mechanisms.base import private_table
from sparsedp.mechanisms.terms import checked_terms
from sparsedp.releases.means import within
from sparsedp.synopsis import synopsis_of

WARDS = ["north", "east", "south"]
DOMAIN = [f"ward:{','.join(WARDS)}", "day:0..13"]
BUDGETS: list[dict[str, Any]] = [{"epsilon": "1/3"}, {"rho": "0.02"}, {"epsilon": 1, "delta": "1e-9"}]
ASKED: dict[str, Any] = {
    "domain": DOMAIN,
    "privacy_unit": "who",
    "max_contributions": 2,
    "value": "cost",
    "clamp": (0, 2000),
    "resolution": "0.5",
    "with_counts": True,
}


@made_once
def stays() -> pa.Table:
    chance = np.random.default_rng(0)
    ward, day = chance.choice(3, 3000, p=[0.6, 0.3, 0.1]), chance.integers(0, 14, 3000)
    cost = np.round(chance.lognormal(5, 1, 3000), 2)
    return pa.table({"who": chance.integers(0, 900, 3000), "ward": np.array(WARDS)[ward], "day": day, "cost": cost})


def counted(**terms: Any) -> Any:
    return sdp.count(stays(), **{**ASKED, **terms})


# One sample of the records, and what one person changes.

VALUES = [None, -1e9, -2.0, 0.0, 0.25, 1.0, 3.0, float("nan")]
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"who": st.integers(0, 3), "cell": st.sampled_from([0, 1, 2, 9]), "cost": st.sampled_from(VALUES)}
    ),
    max_size=25,
)
SCHEMA = pa.schema([("who", pa.int64()), ("cell", pa.int64()), ("cost", pa.float64())])


@given(records=RECORDS, most=st.integers(1, 4), key=st.binary(min_size=16, max_size=16), low=st.integers(-2, 1))
@settings(max_examples=40)
def test_one_person_changes_both_by_no_more_than_is_said(
    records: list[dict[str, Any]], most: int, key: bytes, low: int
) -> None:
    def tables(kept: list[dict[str, Any]]) -> Any:
        source = pa.Table.from_pylist(kept, schema=SCHEMA)
        options: dict[str, Any] = {"privacy_unit": "who", "max_contributions": most, "key": key}
        options |= {"value": "cost", "clamp": (low, 3), "resolution": "0.5", "with_counts": True}
        return sdp.count(source, ["cell:0..2"], **options)

    everybody = tables(records)
    assert (everybody.contribution, everybody.counts.contribution) == (6 * most, most)
    # A total lies where so many records can have it.
    assert (everybody.values >= 2 * low * everybody.counts.values).all()
    assert (everybody.values <= 6 * everybody.counts.values).all()
    for person in range(4):
        others = tables([record for record in records if record["who"] != person])
        assert np.abs(everybody.values - others.values).sum() <= everybody.contribution
        assert np.abs(everybody.counts.values - others.counts.values).sum() <= everybody.counts.contribution


def test_the_records_that_are_summed_are_those_that_are_counted() -> None:
    """With a value of 1 everywhere, the two tables are one; drawn apart, they would not be."""
    ones = stays().set_column(3, "cost", pa.array(np.ones(3000)))
    terms = {**ASKED, "clamp": (0, 1), "resolution": 1}
    found: Any = sdp.count(ones, **terms)
    assert (found.values == found.counts.values).all()
    assert (sdp.count(ones, **terms).values != found.values).any()  # another draw
    assert found.counts.quantity == sdp.count(ones, DOMAIN, privacy_unit="who").quantity
    assert sdp.count(ones, **{**terms, "with_counts": False}).counts is None


# One budget, divided by a public rule.


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("share", [None, "1/3"])
def test_shares_add_up_to_the_budget_and_buy_the_noise_of_each(budget: dict[str, Any], share: str | None) -> None:
    part = Fraction(1, 4) if share is None else Fraction(share)
    synopsis = sdp.Laplace().measure(counted(), counts_share=share, **budget)
    whole = sdp.Laplace().measure(counted().counts, **budget)
    assert synopsis.spent == whole.spent
    assert synopsis.counts is not None
    assert synopsis.guarantee.total == whole.guarantee.total
    for each, paid, bound in ((synopsis, 1 - part, 2 * 4000), (synopsis.counts, part, 2)):
        law = each.law
        if isinstance(law, DiscreteGaussianLaw):
            rho = whole.guarantee.rho
            assert rho is not None
            assert law.variance_parameter == Fraction(bound) ** 2 / (2 * paid * rho)
        else:
            assert isinstance(law, DiscreteLaplaceLaw)
            assert law.scale == bound / (paid * Fraction(budget["epsilon"]))


def test_the_promise_names_both_bounds() -> None:
    release = sdp.release(counted(), epsilon=1)
    said = "changes the sums by at most 4000 in total (enforced: of each, at most 2 records counted) and, beside them, "
    assert f"{said}the counts by at most 2." in str(release.guarantee)
    replaced = sdp.release(counted(), epsilon=1, neighbours="replace_one")
    assert "adds at most 4000 in total (enforced: of each, at most 2 records counted) to the sums and at most 2 to" in (
        str(replaced.guarantee)
    )


def test_terms_of_other_counts_pay_for_nothing() -> None:
    found = counted()
    terms = checked_terms(1, None, None, found.contribution, "add_remove", None, "sparsedp", None, False, None)
    table = private_table(found, None, None, negative=False)
    with pytest.raises(PrivateSide):
        sdp.Laplace().debited(table, terms)


# One file.


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("mechanism", ["adaptive", "laplace", "hierarchical"])
def test_one_file_carries_both(mechanism: str, budget: dict[str, Any], tmp_path: Path) -> None:
    release = sdp.release(counted(), mechanism=mechanism, **budget)
    opened = sdp.open_release(release.save(tmp_path / "a.parquet"))
    assert (opened.digest, opened.guarantee) == (release.digest, release.guarantee)
    assert opened.counts is not None
    assert release.counts is not None
    assert (opened.counts.values == release.counts.values).all()
    assert opened.counts.guarantee == release.counts.guarantee
    assert opened.counts.quantity == sdp.release([1, 2], epsilon=1).quantity
    columns = pq.read_table(tmp_path / "a.parquet").column_names
    assert columns == ["ward", "day", "total", "stderr", "count", "count_stderr"]
    for kind in ("likely", "guaranteed"):
        box = {"ward": "north"}
        assert opened.counts.interval(box, kind=kind) == release.counts.interval(box, kind=kind)
        assert opened.interval(box, kind=kind) == release.interval(box, kind=kind)
    if mechanism == "adaptive":
        assert opened.verified_synopsis() is not None
    found = opened.sql("select ward, sum(total) / sum(count) as mean from release group by 1 order by 1").fetchall()
    assert [ward for ward, _ in found] == sorted(WARDS)


def test_a_marginal_has_the_marginal_of_the_counts(tmp_path: Path) -> None:
    release = sdp.release(counted(), epsilon=1)
    wards = release.marginal("ward")
    assert wards.counts is not None
    assert release.counts is not None
    assert np.allclose(wards.counts.values, release.counts.values.sum(axis=1))
    opened = sdp.open_release(wards.save(tmp_path / "wards.parquet"))
    assert opened.counts is not None
    assert (opened.counts.values == wards.counts.values).all()
    assert opened.counts.total() == wards.counts.total()


def test_counts_that_are_saved_alone_are_a_release_of_counts(tmp_path: Path) -> None:
    release = sdp.release(counted(), epsilon=1)
    assert release.counts is not None
    alone = sdp.open_release(release.counts.save(tmp_path / "counts.parquet"))
    assert alone.counts is None
    assert alone.verified_synopsis() is not None
    assert str(alone.spent) == "ε = 0.25"


def test_a_signature_holds_for_both(tmp_path: Path) -> None:
    private, public = sdp.new_key(tmp_path / "office")
    sdp.release(counted(), epsilon=1).sign(private).save(tmp_path / "a.parquet")
    assert sdp.open_release(tmp_path / "a.parquet", signer=public).counts is not None


def forged(path: Path, change: Any) -> Path:
    """The file with another description, and a digest that fits."""
    packed = open_contents(path, "release")
    description = json.loads(json.dumps(dict(packed.description)))
    columns = dict(packed.columns)
    change(description, columns)
    other = Contents("release", columns, description, packed.utc, packed.embedded)
    with open(path, "wb") as file:
        other.write(file)
    return path


def cheaper_counts(description: dict[str, Any], _: Any) -> None:
    for guarantee in (description["guarantee"]["counts"], description["counts"]["guarantee"]):
        guarantee["expenses"][0]["epsilon"] = "1/100"


def other_counts(description: dict[str, Any], _: Any) -> None:
    description["counts"]["guarantee"]["expenses"][0]["epsilon"] = "1/100"


def no_counts(description: dict[str, Any], columns: dict[str, Any]) -> None:
    del description["counts"], columns["count"], columns["count_stderr"]


def more_records(description: dict[str, Any], _: Any) -> None:
    for guarantee in (description["guarantee"]["counts"], description["counts"]["guarantee"]):
        guarantee["neighbours"]["contribution"] = 1
        guarantee["neighbours"]["counted"]["records"] = 1


def higher_values(description: dict[str, Any], _: Any) -> None:
    description["quantity"]["clamp"] = ["0", "4000"]


def sums_in_their_place(description: dict[str, Any], _: Any) -> None:
    description["counts"]["quantity"] = description["quantity"]


@pytest.mark.parametrize(
    "change", [cheaper_counts, other_counts, no_counts, more_records, higher_values, sums_in_their_place]
)
@pytest.mark.parametrize("mechanism", ["adaptive", "laplace"])
def test_a_file_that_promises_more_of_its_counts_than_was_done_is_refused(
    change: Any, mechanism: str, tmp_path: Path
) -> None:
    path = sdp.release(counted(), epsilon=1, mechanism=mechanism).save(tmp_path / "a.parquet")
    forged(path, lambda description, columns: None)
    assert sdp.open_release(path).counts is not None
    with pytest.raises(BadFile):
        sdp.open_release(forged(path, change))


def test_a_synopsis_carries_both() -> None:
    synopsis = sdp.Adaptive().measure(counted(), epsilon=1)
    again = synopsis_of(contents_of(synopsis.packed(), "synopsis"), "it")
    assert (again.digest, again.guarantee) == (synopsis.digest, synopsis.guarantee)
    release = again.recover()
    assert release.counts is not None
    assert (release.values == synopsis.recover().values).all()


# Cell by cell consistent.


@given(
    shape=st.sampled_from([(1,), (7,), (8,), (5, 6), (3, 1, 4)]),
    seed=st.integers(0, 2**32),
    low=st.sampled_from([-1.0, 0.0, 0.5]),
)
@settings(max_examples=60)
def test_totals_give_way_to_their_bounds_and_to_nothing_else(shape: tuple[int, ...], seed: int, low: float) -> None:
    chance = np.random.default_rng(seed)
    counts = chance.poisson(1.0, shape).astype(float)
    totals = chance.normal(counts, 1.0)
    found = within(totals, low * counts, 2 * counts)
    assert (found >= low * counts).all()
    assert (found <= 2 * counts).all()
    assert found.sum() == pytest.approx(np.clip(totals.sum(), low * counts.sum(), 2 * counts.sum()))
    possible = np.clip(totals, low * counts, 2 * counts)
    assert np.allclose(within(possible, low * counts, 2 * counts), possible)


def test_sums_of_whole_axes_stay_what_they_are_where_they_can() -> None:
    totals = np.array([[9.0, -1.0, 4.0], [2.0, 2.0, 2.0]])
    counts = np.array([[4.0, 0.0, 4.0], [3.0, 3.0, 3.0]])
    found = within(totals, 0 * counts, 2 * counts)
    assert found.sum(axis=1).tolist() == [12.0, 6.0]
    assert found[1].tolist() == [2.0, 2.0, 2.0]
    assert found[0, 1] == 0.0


@pytest.mark.parametrize("clamp", [(0, 2000), (-500, 1000), (100, 2000)], ids=str)
def test_no_total_of_a_release_is_more_or_less_than_its_count_can_have(clamp: tuple[int, int]) -> None:
    release = sdp.release(counted(clamp=clamp), epsilon="0.1")
    assert release.counts is not None
    assert (release.values >= clamp[0] * release.counts.values).all()
    assert (release.values <= clamp[1] * release.counts.values).all()


def test_unbiased_noise_is_left_alone() -> None:
    synopsis = sdp.Laplace().measure(counted(), epsilon="0.1")
    assert synopsis.recover().values.ravel().tolist() == (synopsis.values * 0.5).tolist()


# From records to a file, and what is refused before anything is spent.


def test_an_order_that_was_stopped_goes_on_with_both(tmp_path: Path) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("stays", epsilon=1)
    terms: dict[str, Any] = {**ASKED, "to": tmp_path / "a.parquet", "epsilon": 1, "ledger": ledger}
    pq.write_table(stays(), tmp_path / "stays.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sdp.Synopsis, "recover", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sdp.publish(tmp_path / "stays.parquet", **terms)
    (entry,) = ledger.entries
    assert entry.state == "stored"
    (tmp_path / "stays.parquet").unlink()
    with pytest.warns(UserWarning, match="no records are read again"):
        release = sdp.publish(tmp_path / "stays.parquet", **terms)
    assert release.counts is not None
    assert ledger.remaining is None
    assert sdp.open_release(tmp_path / "a.parquet").digest == release.digest


def test_the_share_is_part_of_the_order(tmp_path: Path) -> None:
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("stays", epsilon=2)
    pq.write_table(stays(), tmp_path / "stays.parquet")
    terms: dict[str, Any] = {**ASKED, "epsilon": "0.5", "ledger": ledger}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sdp.Synopsis, "recover", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sdp.publish(tmp_path / "stays.parquet", **terms, to=tmp_path / "a.parquet")
    sdp.publish(tmp_path / "stays.parquet", **terms, to=tmp_path / "b.parquet", counts_share="1/2")
    sdp.publish(tmp_path / "stays.parquet", **{**terms, "with_counts": False}, to=tmp_path / "c.parquet")
    assert [entry.state for entry in ledger.entries] == ["stored", "delivered", "delivered"]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"value": None, "clamp": None, "resolution": None}, "with_counts is given without a value"),
    ({"with_counts": 1}, "with_counts is of type int"),
    ({"with_counts": "yes"}, "with_counts is of type str"),
    ({"counts_share": 0}, "counts_share is 0"),
    ({"counts_share": 1}, "counts_share is 1"),
    ({"counts_share": "most"}, "counts_share is"),
    ({"with_counts": False, "counts_share": "0.5"}, "counts_share is given without with_counts"),
    ({"clamp": (2000, 0)}, "clamp is from 2000 to 0"),
    ({"clamp": None}, "clamp is missing"),
    ({"resolution": None}, "resolution is missing"),
    ({"counts_share": "1e-30"}, "epsilon is 1.0e"),
    ({"domain": ["count_stderr:0..3"]}, "axes is a list in which 'count_stderr'"),
]


@pytest.mark.parametrize(("terms", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_said_before_anything_is_spent_or_read(
    terms: dict[str, Any], said: str, tmp_path: Path
) -> None:
    ledger = sdp.Ledger(epsilon=1)
    asked = {**ASKED, "to": tmp_path / "a.parquet", "epsilon": 1, "ledger": ledger, **terms}
    with pytest.raises(InvalidInput, match=f"^{said}"):
        sdp.publish(tmp_path / "no such file.parquet", **asked)
    assert ledger.spent is None
    assert not list(tmp_path.iterdir())


def test_counts_of_records_alone_have_no_share() -> None:
    with pytest.raises(InvalidInput, match="counts_share is given without counts beside sums"):
        sdp.release([1, 2, 3], epsilon=1, counts_share="0.5")


def test_parts_that_are_merged_are_counted_apart() -> None:
    with pytest.raises(InvalidInput, match="counts is sums with counts beside them"):
        sdp.Laplace().sense(counted())


def test_values_that_are_no_numbers_are_neither_summed_nor_counted() -> None:
    source = pa.table({"who": [1, 2, 3], "cell": [0, 0, 0], "cost": [5.0, float("nan"), None]})
    terms: dict[str, Any] = {"value": "cost", "clamp": (0, 9), "resolution": 1, "with_counts": True}
    found: Any = sdp.count(source, ["cell:0..0"], privacy_unit="who", **terms)
    assert (found.values.tolist(), found.counts.values.tolist()) == ([5], [1])
