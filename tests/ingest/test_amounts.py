"""Sums of a value: whole steps of a grid, within bounds, whatever the column's type."""

import math
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedp.axes import Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest import count


def steps_found(column: Any, clamp: Any, resolution: Any) -> list[int]:
    """The steps of each value, in a cell of its own."""
    length = len(column)
    table = pa.table({"v": column, "record": np.arange(length)})
    domain = Domain([Integers("record", 0, length - 1)])
    found = count(table, domain, privacy_unit=None, value="v", clamp=clamp, resolution=resolution)
    return [int(one) for one in found.values]


def test_values_are_rounded_to_the_grid_and_clamped() -> None:
    values = [0.0, 1.234, 1.235, 499.999, 500.01, -3.0, 1e308, math.inf, -math.inf, 0.29, math.nan, None]
    expected = [0, 123, 124, 50000, 50000, 0, 50000, 50000, 0, 29, 0, 0]
    assert steps_found(values, (0, 500), "0.01") == expected
    assert steps_found(np.array(values[:6], dtype=np.float32), (0, 500), "0.01")[:2] == [0, 123]
    text = ["1.234", " 7 ", "1,5", "", None, "abc", "1e1", "-9"]
    assert steps_found(text, (0, 500), "0.01") == [123, 700, 0, 0, 0, 0, 1000, 0]
    money = pa.array([Decimal("1.23"), Decimal("-0.07"), None]).cast(pa.decimal128(30, 4))
    assert steps_found(money, (-1, 500), Fraction(1, 100)) == [123, -7, 0]
    assert steps_found(np.array([-5, 2, 700]), (-2, 500), 2) == [-1, 1, 250]
    assert steps_found(np.array([True, False]), (0, 1), 1) == [1, 0]


@given(
    values=st.lists(st.floats(-1000, 1000), min_size=1, max_size=20),
    resolution=st.sampled_from(["0.01", "1/3", "2", "0.125"]),
)
@settings(max_examples=15)
def test_a_value_gets_the_nearest_step(values: list[float], resolution: str) -> None:
    step = Fraction(resolution)
    bound = 300 * step
    scaled = [Decimal(value * step.denominator / step.numerator) for value in values]
    nearest = [int(one.quantize(Decimal(1), ROUND_HALF_UP)) for one in scaled]
    assert steps_found(values, (-bound, bound), resolution) == [max(-300, min(300, one)) for one in nearest]


def test_grid_values_are_exact_however_large() -> None:
    cents = [2**50 - 1, 10**15 + 7, 1, 99]
    money = pa.array([Decimal(cent) / 100 for cent in cents]).cast(pa.decimal128(20, 2))
    assert steps_found(money, (0, Fraction(2**50, 100)), "0.01") == cents


def test_a_person_adds_at_most_the_largest_value_for_each_record() -> None:
    table = pa.table({"who": [1, 1, 1, 2], "age": [0, 0, 1, 1], "v": [-20.0, 5, 5, 1]})
    domain = Domain([Integers("age", 0, 1)])
    found = count(table, domain, privacy_unit="who", max_contributions=3, value="v", clamp=(-10, 4), resolution="0.5")
    assert found.values.tolist() == [-20 + 8, 8 + 2]
    assert found.contribution == 3 * 20
    assert found.negative
    assert (found.quantity.value, found.quantity.resolution) == ("v", Fraction(1, 2))
    found = count(table, domain, privacy_unit="who", value="v", clamp=(1, 4), resolution="0.5")
    assert (found.contribution, found.negative) == (8, False)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"value": "v", "resolution": 1}, "clamp is missing"),
        ({"value": "v", "clamp": (0, 1)}, "resolution is missing"),
        ({"clamp": (0, 1)}, "clamp is given without a value"),
        ({"resolution": 1}, "resolution is given without a value"),
        ({"value": "v", "clamp": (0, 1), "resolution": 0}, "resolution is 0"),
        ({"value": "v", "clamp": (0, "1.005"), "resolution": "0.01"}, "multiples of the resolution"),
        ({"value": "v", "clamp": (2, 1), "resolution": 1}, "clamp is from 2 to 1"),
        ({"value": "v", "clamp": (0, 0), "resolution": 1}, "clamp is from 0 to 0"),
        ({"value": "v", "clamp": 5, "resolution": 1}, "clamp is of type int"),
        ({"value": "v", "clamp": (0, math.inf), "resolution": 1}, "clamp is 'inf'"),
        ({"value": "v", "clamp": (0, 2**51), "resolution": 1}, "coarser resolution"),
        ({"value": "v", "clamp": (0, 1), "resolution": Fraction(1, 2**60)}, "fewer digits"),
        ({"value": 5, "clamp": (0, 1), "resolution": 1}, "value is of type int"),
        ({"value": "w", "clamp": (0, 1), "resolution": 1}, "column is 'w', which is not known"),
        ({"value": "day", "clamp": (0, 1), "resolution": 1}, "column 'day' is a column of dates"),
    ],
)
def test_what_cannot_be_summed(given: dict[str, Any], complaint: str) -> None:
    table = pa.table({"who": [1], "age": [0], "v": [1.0], "day": pa.array([1], pa.date32())})
    with pytest.raises(InvalidInput, match=complaint):
        count(table, Domain([Integers("age", 0, 1)]), privacy_unit="who", **given)
