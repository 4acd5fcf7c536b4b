"""What is read of records and what is left out, for their owner: the same as a count reads, and it says what it is."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from random_tables import Drawn, tables

from sparsedp.axes import Calendar, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest import Check, check, count, counted, refuse_empty
from sparsedp.ingest.request import Request

DOMAIN = Domain([Integers("age", 0, 9), Categories("sex", ["F", "M"])])
TABLE = pa.table(
    {
        "who": [None, "a", "a", "a", "a", "b", "b", "b", "c"],
        "age": ["1", "1", "1", "1", "x", "99", "3", "4", None],
        "sex": ["F", "F", "F", "F", "F", "F", "X", "F", "X"],
        "steps": [1, 2, None, 4, 5, 6, 7, 8, 9],
    }
)


def rows(found: Check) -> dict[str, int]:
    """Those of the failures that there are."""
    return {f"{each.axis or each.column} {each.what}".strip(): each.rows for each in found.failures if each.rows}


def test_every_way_to_fail_is_told_by_itself() -> None:
    found = check(TABLE, DOMAIN, privacy_unit="who")
    assert rows(found) == {
        "who missing": 1, "age missing": 1, "age unreadable": 1, "age outside": 1, "sex outside": 2
    }  # fmt: skip
    assert (found.rows, found.counted, found.cut, found.people, found.people_cut) == (9, 2, 2, 2, 1)
    assert found.refusal is None
    sums: dict[str, Any] = {"value": "steps", "clamp": (0, 7), "resolution": 1}
    found = check(TABLE, DOMAIN, privacy_unit="who", max_contributions=3, outside={"age": "clamp"}, **sums)
    assert (rows(found)["age outside"], rows(found)["steps missing"], rows(found)["steps outside"]) == (1, 1, 2)
    assert {each.then for each in found.failures if each.what == "outside"} == {"clamped", "dropped"}
    assert (found.counted, found.cut) == (4, 0)


def test_a_bound_that_a_release_is_to_choose_leaves_out_nothing_yet() -> None:
    found = check(TABLE, DOMAIN, privacy_unit="who", max_contributions="auto")
    assert (found.counted, found.cut, found.max_contributions) == (4, None, "auto")
    assert "How many of these a bound leaves out is open" in str(found)


def test_collected_values_are_outside_all_the_same() -> None:
    """Labels that are written otherwise than declared would all be collected, in silence."""
    found = check(TABLE, DOMAIN, privacy_unit=None, outside={"sex": "M"})
    (sex,) = [each for each in found.failures if each.axis == "sex" and each.what == "outside"]
    assert (sex.rows, sex.then, sex.examples) == (2, "collected in 'M'", ("X",))
    assert (found.counted, found.cut, found.people) == (6, None, None)


def test_three_values_are_shown_the_most_frequent_first(tmp_path: Path) -> None:
    days = ["05.03.2024"] * 3 + ["06.03.2024"] * 5 + ["soon", "later "] + ["2024-03-05"]
    path = tmp_path / "a.csv"
    path.write_text("".join(["who,day\n", *(f"{place},{day}\n" for place, day in enumerate(days)), "x\n", 'y,"z\n']))
    found = check(path, ["day:2024-01-01..2024-12-31/1d"], privacy_unit="who")
    broken, _, _, unreadable, _ = found.failures
    assert unreadable.examples == ("06.03.2024", "05.03.2024", "later")
    assert (unreadable.rows, unreadable.why) == (10, "not a time such as 2024-03-05 or 2024-03-05T14:30")
    assert (broken.rows, broken.examples) == (2, ("x", 'y,"z'))
    assert (found.rows, found.counted) == (13, 1)
    assert "such as '06.03.2024', '05.03.2024', 'later'" in str(found)


def test_typed_values_are_shown_as_people_know_them(tmp_path: Path) -> None:
    moments = pa.array([0, 10**15, None, 2**62], pa.timestamp("us"))
    table = pa.table(
        {"at": moments, "on": pa.array([0, 19_800, None, 2**31 - 1], pa.date32()), "n": [0.5, 1e9, None, 1]}
    )
    pq.write_table(table.append_column("x", pa.array([float("nan")] * 4)), tmp_path / "a.parquet")
    axes = ["at:2024-01-01..2024-12-31/1d", "on:2024-01-01..2024-12-31/1d", "n:0..9", "x:[0,1,2]"]
    found = {(each.axis, each.what): each for each in check(tmp_path / "a.parquet", axes, privacy_unit=None).failures}
    assert found["at", "outside"].examples == ("1970-01-01", "2001-09-09 01:46:40", 2**62)  # beyond all calendars
    assert found["on", "outside"].examples[0] == "1970-01-01"
    assert found["on", "missing"].rows == 1
    assert found["n", "unreadable"].examples == (0.5,)
    assert found["n", "outside"].examples == (1e9,)
    assert found["x", "missing"].rows == 4


def test_an_axis_is_named_with_its_column() -> None:
    found = check(TABLE, ["years:0..9"], privacy_unit="who", columns={"years": "age"})
    assert "years (column age) is outside (not in 0..9): dropped" in str(found)


def test_it_says_that_it_is_not_private() -> None:
    found = check(TABLE, DOMAIN, privacy_unit=None)
    assert repr(found).startswith("NOT PRIVATE")
    assert f"{found}".startswith("NOT PRIVATE")
    assert found.describe()["not_private"] is True
    assert found.private is False


@given(tables())
def test_it_agrees_with_the_count(drawn: Drawn) -> None:
    """The same rows are counted, whatever is in them and whatever is declared."""
    options = {name: each for name, each in drawn.options.items() if name not in ("value", "clamp", "resolution")}
    total = count(drawn.source(), **options).values.sum()
    del options["key"]
    found = check(drawn.source(), **options)
    assert (found.counted, found.rows) == (total, len(drawn.records))
    if "value" in drawn.options:
        options = {name: each for name, each in drawn.options.items() if name != "key"}
        assert check(drawn.source(), **options).counted <= total
    assert max(map(len, str(found).splitlines())) <= 80


def test_it_agrees_with_the_count_on_many_records() -> None:
    rng = np.random.default_rng(3)
    length = 5000
    frame = pd.DataFrame(
        {
            "house": rng.integers(0, 50, length),
            "person": rng.integers(0, 5, length),
            "day": pd.Timestamp("2023-12-25") + pd.to_timedelta(rng.integers(0, 400, length), unit="D"),
        }
    )
    domain = Domain([Calendar("day", "2024-01-01", "1mo", 12, zone="Asia/Tokyo")])
    asked: dict[str, Any] = {"privacy_unit": ["house", "person"], "max_contributions": 7}
    found = check(frame, domain, **asked)
    assert found.counted == count(frame, domain, **asked).values.sum()
    assert rows(found)["day outside"] > 0
    assert found.cut is not None
    assert found.rows == found.counted + found.cut + rows(found)["day outside"]


def test_it_keeps_within_eighty_columns() -> None:
    name = "a column with a name that goes on and on and on, as they do in questionnaires of long ago"
    long = "value " * 30 + "\x1b[31m"
    table = pa.table({name: [long, "x" * 400], "who": [long, None]})
    found = check(table, Domain([Categories(name, ["a"])]), privacy_unit=["who", name], max_contributions=9)
    assert all(len(line) <= 80 and line.isprintable() for line in str(found).splitlines())


# What is said where not one row comes into the table: to the owner, and no value.

SECRET = "Sonnenschein"  # noqa: S105
AGES: dict[str, Any] = {"domain": ["age:0..9"], "privacy_unit": "who"}


def refusal_of(source: Any, **asked: Any) -> str:
    """What a release would say."""
    with pytest.raises(InvalidInput) as caught:
        counted(Request.of(source, **asked), if_none=refuse_empty)
    return str(caught.value)


@pytest.mark.parametrize(
    ("ages", "says"),
    [
        ([SECRET, SECRET], "in every row age is unreadable (not a whole number)"),
        ([SECRET, None], "in every row age is unreadable (not a whole number) or missing"),
        ([None, None], "in every row age is missing"),
        (["4321", "4321"], "in every row age is outside (not in 0..9)"),
        ([], "without a single row"),
    ],
)
def test_the_column_that_keeps_everybody_out_is_named(ages: list[str | None], says: str) -> None:
    table = pa.table({"who": pa.array([SECRET] * len(ages), pa.string()), "age": pa.array(ages, pa.string())})
    for source in (table, pa.RecordBatchReader.from_batches(table.schema, table.to_batches())):
        said = refusal_of(source, **AGES)
        assert says in said
        assert "nothing was spent" in said
        assert SECRET not in said
        assert "4321" not in said


def test_no_column_alone_keeps_everybody_out() -> None:
    table = pa.table({"who": ["a", None, None], "age": ["x", "1", "2"]})
    assert "every row fails in something, most often in that who is missing" in refusal_of(table, **AGES)


def test_what_csv_may_have_to_declare_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("who;day;cost\na;05.03.2024;1,5\nb;;2,5\n")
    asked: dict[str, Any] = {"privacy_unit": "who", "value": "cost", "clamp": (0, 9), "resolution": "0.5"}
    said = refusal_of(path, domain=["day:2024-01-01..2024-12-31/1d"], csv={"delimiter": ";"}, **asked)
    assert "day is unreadable" in said
    assert "cost is unreadable (not a number such as 1.5)" in said
    assert 'how numbers are written, csv={"decimal": ","} and how times are written, csv={"date_format"' in said
    said = refusal_of(
        io.BytesIO(path.read_bytes()),
        domain=["day:2024-01-01..2024-12-31/1d"],
        csv={"delimiter": ";", "decimal": ",", "date_format": "%d/%m/%Y"},
        **asked,
    )
    assert "in every row day is unreadable (not a time written as '%d/%m/%Y') or missing" in said
    path.write_text("who,age\n" + f'{SECRET},1,2\n"{SECRET}\n')
    assert "in every row a line of CSV is broken" in refusal_of(path, **AGES)


def test_records_that_are_there_only_once_are_read_once() -> None:
    """A reader is not read again to say why nothing was counted: what came first of it is."""
    given_out: list[int] = []

    def batches() -> Iterator[Any]:
        for place in range(3):
            given_out.append(place)
            yield pa.record_batch({"who": ["a"], "age": ["no"]})

    reader = pa.RecordBatchReader.from_batches(pa.schema([("who", pa.string()), ("age", pa.string())]), batches())
    assert "in every row age is unreadable" in refusal_of(reader, **AGES)
    assert given_out == [0, 1, 2]


def test_sums_of_zeros_are_not_an_empty_table() -> None:
    table = pa.table({"who": ["a", "b"], "age": [1, 2], "cost": [0, 0]})
    request = Request.of(table, value="cost", clamp=(0, 9), resolution=1, **AGES)
    assert not counted(request, if_none=refuse_empty).values.any()
