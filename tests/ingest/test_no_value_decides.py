"""No value of one person's decides how anybody else's records are read: whatever it is, it stands for itself."""

import struct
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparsedp.axes import Axis, Calendar, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest import count
from sparsedp.ingest._columns import LONGEST

SEX = Domain([Categories("sex", ["F", "M"])])
OTHERS = 30
NAMES = [f"patient {i}" for i in range(OTHERS)]


def broken(*values: bytes) -> Any:
    """Text that says of itself that it is UTF-8."""
    return pa.array(values, pa.binary()).view(pa.string())


def text(values: list[str], more: bytes | None) -> Any:
    return broken(*(value.encode() for value in values), *([] if more is None else [more]))


def int96(folder: Path, more: bytes | None) -> Any:
    """Spark's times beyond what nanoseconds hold."""
    days = [datetime(3000, 1, 1)] * OTHERS + [datetime(2030, 1, 1)] * (more is not None)
    table = pa.table({"who": text(NAMES, more), "day": pa.array(days, pa.timestamp("us"))})
    pq.write_table(table, folder / "a.parquet", use_deprecated_int96_timestamps=True)
    return Calendar("day", "2024-01-01", "1y", 1000)


def nanoseconds(folder: Path, more: bytes | None) -> Any:
    """People who differ by a nanosecond."""
    people = pa.array([*range(OTHERS)] + [10**12] * (more is not None), pa.timestamp("ns"))
    pq.write_table(pa.table({"who": people, "sex": text(["F"] * OTHERS, more)}), folder / "a.parquet")
    return SEX.axes[0]


def far_times(folder: Path, more: bytes | None) -> Any:
    days = pa.array([0] * OTHERS + [2**62] * (more is not None), pa.timestamp("ms"))
    pq.write_table(pa.table({"who": text(NAMES, more), "day": days}), folder / "a.parquet")
    return Calendar("day", "1970-01-01", "1d", 2)


def dates(folder: Path, more: bytes | None) -> Any:
    days = pa.array([0] * OTHERS + [2**31 - 1] * (more is not None), pa.date32())
    pq.write_table(pa.table({"who": text(NAMES, more), "day": days}), folder / "a.parquet")
    return Calendar("day", "1970-01-01", "1d", 2)


@pytest.mark.parametrize("made", [int96, nanoseconds, far_times, dates], ids=lambda made: made.__name__)
@pytest.mark.parametrize("more", [b"\xff\xfe", b"ok", b"F", b"\xed\xa0\x80", b"x" * (LONGEST + 1)], ids=range(5))
def test_one_more_person_in_a_parquet_file(
    made: Callable[[Path, bytes | None], Axis], more: bytes, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"privacy_unit": "who", "key": bytes(16), "outside": "drop"}
    without = count(tmp_path, Domain([made(tmp_path, None)]), **options).values
    assert without.sum() == OTHERS
    found = count(tmp_path, Domain([made(tmp_path, more)]), **options).values
    assert np.abs(found - without).sum() <= 1


@pytest.mark.parametrize("folder", ["sex=M", "SEX=M", "sex=F/sex=M", "Sex=F/sex=M"])
def test_what_is_said_twice_is_refused_by_its_name(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(parents=True)
    own = {} if "/" in folder else {"sex": ["F"]}
    pq.write_table(pa.table({"who": ["1"], **own}), tmp_path / folder / "a.parquet")
    with pytest.raises(InvalidInput, match=r"source is files (in a folder|below two folders) named [sS]"):
        count(tmp_path, SEX, privacy_unit="who")
    # Where nobody needs it, it is nobody's business.
    pq.write_table(pa.table({"who": ["1"], "age": [0]}), tmp_path / folder / "a.parquet")
    assert count(tmp_path, Domain([Integers("age", 0, 1)]), privacy_unit="who").values.tolist() == [1, 0]


def test_people_by_old_times_of_spark_are_refused(tmp_path: Path) -> None:
    table = pa.table({"who": pa.array([1, 2], pa.timestamp("us")), "sex": ["F", "F"]})
    pq.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    with pytest.raises(InvalidInput, match="column 'who' is a column of type INT96"):
        count(tmp_path, SEX, privacy_unit="who")


def test_decimals_with_more_digits_than_they_may_have() -> None:
    words = struct.pack("<qqqqqq", 10**17, 0, 123, 0, 2 * 10**17, 0)
    who = pa.Array.from_buffers(pa.decimal128(4, 2), 3, [None, pa.py_buffer(words)])
    assert count(pa.table({"who": who, "sex": ["F", "F", "F"]}), SEX, privacy_unit="who").values.tolist() == [1, 0]


STRANGE = [
    10**5000, Decimal("sNaN"), Decimal("NaN"), Decimal("1e999999999"), "\ud800", b"1", [1], {}, None, np.nan, pd.NA,
    pd.NaT, 2j, np.array([1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("strange", STRANGE, ids=range(len(STRANGE)))
def test_an_object_that_is_no_value_is_left_out_alone(strange: Any) -> None:
    for column in ([1, strange, 2], [strange, 1, 2]):
        people = pd.Series([0, 0, 0], dtype=object)
        for place, one in enumerate(column):
            people.iat[place] = one
        found = count(pd.DataFrame({"who": people, "sex": ["F"] * 3}), SEX, privacy_unit="who")
        assert found.values.tolist() == [2, 0]


def test_half_a_character_in_text_of_python() -> None:
    texts = pd.Series(["x", "\ud800", "y"], dtype="string[python]")
    for people in (texts, pd.Series(pd.Categorical(texts))):
        frame = pd.DataFrame({"who": people, "sex": ["F"] * 3})
        assert count(frame, SEX, privacy_unit="who").values.tolist() == [2, 0]


def test_objects_that_are_equal_are_one_person() -> None:
    alike: list[list[Any]] = [
        [1, 1.0, True, Decimal("1.00"), np.float32(1), np.int8(1), "1"],
        [0.0, -0.0, 0, Decimal("-0.0")],
        [1.5, Decimal("1.50"), np.float64(1.5)],
        [np.inf, Decimal("Infinity")],
        [datetime(2024, 1, 1), pd.Timestamp("2024-01-01")],
        [10**30, Decimal(10) ** 30],
    ]
    frame = pd.DataFrame({"who": pd.Series([one for several in alike for one in several], dtype=object)})
    found = count(frame.assign(sex="F"), SEX, privacy_unit="who")
    assert found.values.tolist() == [len(alike), 0]
