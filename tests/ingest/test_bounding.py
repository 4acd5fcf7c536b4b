"""What one person adds is at most c, exactly, whoever else is in the data, and in whatever order they come."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import Drawn, tables
from slow_count import slow_count

from sparsedp.arrays import Ints
from sparsedp.axes import Bins, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.bases.haar import Haar
from sparsedp.ingest import count
from sparsedp.ingest.bounding import Reservoir
from sparsedp.mechanisms.selection.tail_scores import TailScores, tail_scores

Record = dict[str, Any]
SCHEMA = pa.schema([("who", pa.int64()), ("place", pa.string()), ("age", pa.float64()), ("steps", pa.int64())])
DOMAINS = [
    Domain([Integers("age", 0, 2)]),
    Domain([Categories("place", ["a", "b"]), Bins("age", [0, 1.5, 3])]),
    Domain([Bins("age", [-np.inf, 1, np.inf]), Categories("place", ["b"])]),
]
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "who": st.sampled_from([None, 0, 1, 2, -(2**63)]),
            "place": st.sampled_from([None, "a", "b", "c"]),
            "age": st.sampled_from([None, 0.0, 1.0, 1.5, 3.0, float("nan")]),
            "steps": st.sampled_from([None, -7, -1, 0, 3]),
        }
    ),
    max_size=25,
)
KEYS = st.binary(min_size=16, max_size=16)


def counted(records: list[Record], domain: Domain, **options: Any) -> tuple[Ints, int]:
    found = count(pa.Table.from_pylist(records, schema=SCHEMA), domain, **options)
    return found.values, found.contribution


@given(records=RECORDS, domain=st.sampled_from(DOMAINS), most=st.integers(1, 4), key=KEYS, sums=st.booleans())
@settings(max_examples=25)
def test_one_person_changes_the_counts_by_at_most_c(
    records: list[Record], domain: Domain, most: int, key: bytes, sums: bool
) -> None:
    value = {"value": "steps", "clamp": (-7, 3), "resolution": 1} if sums else {}
    options = {"privacy_unit": "who", "max_contributions": most, "key": key, **value}
    everybody, c = counted(records, domain, **options)
    assert c == most * (7 if sums else 1)
    assert everybody.tolist() == slow_count(records, domain, "who", most, key, "steps" if sums else None).tolist()
    for person in sorted({record["who"] for record in records} - {None}):
        without, _ = counted([record for record in records if record["who"] != person], domain, **options)
        assert np.abs(everybody - without).sum() <= c


@given(drawn=tables())
@settings(max_examples=30)
def test_any_one_person_of_any_table_changes_the_counts_by_at_most_c(drawn: Drawn) -> None:
    everybody = count(drawn.source(), **drawn.options)
    clamp = drawn.options.get("clamp", (0, "0.5"))
    steps = max(abs(Fraction(bound)) / Fraction(1, 2) for bound in clamp)
    assert everybody.contribution == drawn.options["max_contributions"] * steps
    for person in {drawn.person(record) for record in drawn.records}:
        without = count(drawn.source(person), **drawn.options)
        changed = np.abs(everybody.values - without.values).sum()
        assert changed <= (0 if None in person else everybody.contribution)


def test_a_bound_that_is_wrong_is_seen_to_be_broken() -> None:
    """The same comparison fails where a person may have more than is said, so it can fail."""
    records = [{"who": person, "place": "a", "age": float(n % 3), "steps": 1} for person in (1, 2) for n in range(6)]
    options = {"privacy_unit": "who", "max_contributions": 4, "key": bytes(16)}
    everybody, c = counted(records, DOMAINS[0], **options)
    without, _ = counted(records[:6], DOMAINS[0], **options)
    assert np.abs(everybody - without).sum() == c == 4  # no smaller bound would hold
    # Bounded by record, and not by person: every one of them counts.
    everybody, c = counted(records, DOMAINS[0], privacy_unit=None)
    without, _ = counted(records[:6], DOMAINS[0], privacy_unit=None)
    assert np.abs(everybody - without).sum() == 6 > c == 1


@given(records=RECORDS, key=KEYS, order=st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_records_changes_nothing(records: list[Record], key: bytes, order: Any) -> None:
    options = {"privacy_unit": "who", "max_contributions": 2, "key": key}
    shuffled = order.sample(records, len(records))
    assert counted(records, DOMAINS[1], **options)[0].tolist() == counted(shuffled, DOMAINS[1], **options)[0].tolist()


def big_table(rows: int, *, text: bool) -> pa.Table:
    rng = np.random.default_rng(5)
    who: Any = rng.zipf(1.4, rows) % 5000
    if text:
        who = [f"patient {number:05}" for number in who]
    return pa.table({"who": who, "age": rng.integers(0, 50, rows), "amount": rng.normal(size=rows).round(2)})


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
def test_batches_threads_and_memory_change_nothing(text: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many batches, one of which a single person fills; the hash of DuckDB gives the same on every thread."""
    table = big_table(400_000, text=text)
    domain = Domain([Integers("age", 0, 49)])
    found = []
    for threads, rows in (
        ("1", table),
        ("4", table),
        ("2", table.take(np.random.default_rng(1).permutation(len(table)))),
    ):
        monkeypatch.setenv("SPARSEDP_THREADS", threads)
        monkeypatch.setenv("SPARSEDP_MEMORY", "200MB")
        options: dict[str, Any] = {"value": "amount", "clamp": (-1, 1), "resolution": "0.01"}
        found.append(count(rows, domain, privacy_unit="who", max_contributions=7, key=b"k" * 16, **options).values)
    assert found[0].tolist() == found[1].tolist() == found[2].tolist()
    people = np.unique(table["who"].to_numpy(), return_counts=True)[1]
    kept = count(table, domain, privacy_unit="who", max_contributions=7).values
    assert kept.sum() == np.minimum(people, 7).sum()


def test_each_record_of_a_person_is_kept_with_the_same_chance() -> None:
    """Of 100 records in one cell and one in another, a person keeps three; and another person another three."""
    people = 4000
    who = np.repeat(np.arange(people), 101)
    cell = np.tile(np.arange(101) // 100, people)
    domain = Domain([Integers("cell", 0, 1)])
    table = pa.table({"who": who, "cell": cell})
    values = count(table, domain, privacy_unit="who", max_contributions=3, key=b"0123456789abcdef").values
    assert values.sum() == 3 * people
    expected = people * 3 / 101
    assert abs(values[1] - expected) < 4 * expected**0.5
    # If it were uniform over cells, half of the people would keep the rare one.
    assert values[1] < people / 4


def test_the_draw_is_uniform_over_places() -> None:
    people, records, most = 6000, 12, 5
    reservoir = Reservoir(records, most, (1, 2), sums=False)
    starts = np.tile(np.arange(records) == 0, people)
    seeds = np.repeat(np.arange(people), records).astype(np.uint64)
    cells = np.tile(np.arange(records), people).astype(np.int32)
    reservoir.add(starts, seeds, cells, np.ones(len(cells), dtype=np.int64))
    totals = reservoir.totals()
    assert totals.sum() == people * most
    share = most / records
    statistic = ((totals - people * share) ** 2).sum() / (people * share * (1 - share)) * (records - 1) / records
    assert statistic < 31.26  # chi-squared with 11 degrees of freedom, 0.1 %


def test_a_fresh_key_keeps_other_records() -> None:
    table = big_table(20_000, text=False)
    domain = Domain([Integers("age", 0, 49)])
    first, second = (count(table, domain, privacy_unit="who").values for _ in range(2))
    assert first.sum() == second.sum()
    assert first.tolist() != second.tolist()


@given(steps=st.lists(st.sampled_from([2**50, -(2**50), 2**61, 2**62, -(2**62), 2**63 - 1, -(2**63), 1, -1])))
def test_sums_beyond_64_bits_are_exact_and_then_clamped(steps: list[int]) -> None:
    reservoir = Reservoir(2, 1, (0, 0), sums=True)
    for batch in (steps[::2], steps[1::2]):
        some, places = len(batch), np.zeros(len(batch), dtype=np.int32)
        people = np.ones(some, np.bool_), np.zeros(some, np.uint64)
        reservoir.add(*people, places, np.array(batch, dtype=np.int64))
    assert reservoir.totals().tolist() == [min(max(sum(steps), -(2**62)), 2**62), 0]


def test_a_sum_at_the_end_of_64_bits_moves_by_what_one_person_adds() -> None:
    """36,893 people of the largest value add up to less than 2⁶³, 36,894 to more: no choice may tell them apart."""

    def tail(people: int) -> TailScores:
        table = pa.table({"who": np.arange(people), "at": np.zeros(people, np.int64), "paid": np.full(people, 2.5e8)})
        amounts: Any = {"value": "paid", "clamp": (0, 250_000_000), "resolution": "0.000001"}
        found = count(table, Domain([Integers("at", 0, 63)]), privacy_unit="who", **amounts)
        found_values.append(found.values)
        assert found.contribution == 250_000_000_000_000
        return tail_scores(Haar(64), found.values, [1], distance=found.contribution)

    found_values: list[Ints] = []
    with_one, without = tail(36_894), tail(36_893)
    assert abs(int(found_values[0][0]) - int(found_values[1][0])) <= 250_000_000_000_000
    assert abs(with_one.scores[0] - without.scores[0]) * with_one.step <= with_one.sensitivity
