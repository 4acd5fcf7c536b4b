"""What a count leaves out, for the data's owner: exact numbers, and they say that they are."""

import numpy as np
import pandas as pd
import pyarrow as pa

from sparsedp.axes import Calendar, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.ingest import NOT_PRIVATE_losses, count

DOMAIN = Domain([Integers("age", 0, 9), Categories("sex", ["F", "M"])])
TABLE = pa.table(
    {
        "who": [None, "a", "a", "a", "a", "b", "b", "b", "c"],
        "age": ["1", "1", "1", "1", "x", "99", "3", "4", None],
        "sex": ["F", "F", "F", "F", "F", "F", "X", "F", "X"],
        "steps": [1, 2, None, 4, 5, 6, 7, 8, 9],
    }
)


def test_every_record_is_told_of_once() -> None:
    found = NOT_PRIVATE_losses(TABLE, DOMAIN, privacy_unit="who", max_contributions=1)
    assert dict(found) == {
        "read": 9, "broken": 0, "no unit": 1, "age unreadable": 2, "age outside": 1, "sex unreadable": 0,
        "sex outside": 1, "beyond max_contributions": 2, "counted": 2,
    }  # fmt: skip
    sums = {"value": "steps", "clamp": (0, 9), "resolution": 1}
    found = NOT_PRIVATE_losses(TABLE, DOMAIN, privacy_unit="who", max_contributions=3, outside={"age": "clamp"}, **sums)
    assert (found["age outside"], found["steps unreadable"], found["counted"]) == (0, 1, 4)
    assert found["read"] == sum(found.values()) - found["read"]


def test_it_says_that_it_is_not_private() -> None:
    found = NOT_PRIVATE_losses(TABLE, DOMAIN, privacy_unit=None)
    assert "NOT PRIVATE" in repr(found)
    assert "NOT PRIVATE" in f"{found}"
    assert found["counted"] == count(TABLE, DOMAIN, privacy_unit=None).values.sum()


def test_it_agrees_with_the_count_on_many_records() -> None:
    rng = np.random.default_rng(3)
    rows = 5000
    frame = pd.DataFrame(
        {
            "house": rng.integers(0, 50, rows),
            "person": rng.integers(0, 5, rows),
            "day": pd.Timestamp("2023-12-25") + pd.to_timedelta(rng.integers(0, 400, rows), unit="D"),
        }
    )
    domain = Domain([Calendar("day", "2024-01-01", "1mo", 12, zone="Asia/Tokyo")])
    found = NOT_PRIVATE_losses(frame, domain, privacy_unit=["house", "person"], max_contributions=7)
    assert found["counted"] == count(frame, domain, privacy_unit=["house", "person"], max_contributions=7).values.sum()
    assert found["day outside"] > 0
    assert found["beyond max_contributions"] > 0
    empty = NOT_PRIVATE_losses(frame.iloc[:0], domain, privacy_unit="house")
    assert set(empty.values()) == {0}
