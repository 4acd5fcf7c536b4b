"""Whole numbers in a column of records, whatever type the column has."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput
from sparsedp.validate import kind_of


def within(values: npt.NDArray[Any], first: int, last: int) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Each value as int64, and whether it is a whole number from `first` to `last`; where it is not, the first.

    Columns with gaps are floats: 3.0 is 3, and a missing value is outside, as 3.5 is.
    """
    kind = values.dtype.kind
    if kind == "O":
        values = np.array([_from_object(value) for value in values.ravel()], dtype=object).reshape(values.shape)
        inside = np.array([value is not None and first <= value <= last for value in values.ravel()], dtype=np.bool_)
        inside = inside.reshape(values.shape)
    elif kind in "iub":
        # Python's numbers are compared exactly, also with unsigned ones beyond 2⁶³.
        inside = (values >= first) & (values <= last)
    elif kind == "f":
        # The bounds are rounded to floats in comparing; what is whole and rounds to them is looked at once more below.
        inside = (values >= first) & (values <= last) & (values == np.floor(values)) & (np.abs(values) < 2.0**63)
    else:
        raise InvalidInput("values", kind_of(values), "give an array of numbers")
    numbers = np.full(values.shape, first, dtype=np.int64)
    numbers[inside] = values[inside].astype(np.int64)
    inside &= (numbers >= first) & (numbers <= last)
    return np.where(inside, numbers, first), inside


def _from_object(value: object) -> int | None:
    if isinstance(value, Integral) and not isinstance(value, np.timedelta64):
        return int(value)
    try:
        number = value if isinstance(value, Real) or hasattr(value, "is_finite") else None
        return int(number) if number is not None and number == int(number) else None  # type: ignore[call-overload]
    except (ValueError, OverflowError, ArithmeticError):
        return None  # not a number, or infinite
