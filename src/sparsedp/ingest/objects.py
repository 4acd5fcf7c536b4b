"""Python objects as text, each by itself: numbers that are equal are written alike, whatever they are made of."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

MOST_DIGITS = 4000
"""Of a number in plain notation: Python writes no longer ones, and nobody is counted by them."""


def text_of(value: object) -> str | None:
    """None for what is missing, for what is no value, and for what cannot be written; never an error."""
    try:
        return _text_of(value)
    except Exception:
        return None


def _text_of(value: object) -> str | None:
    if isinstance(value, str):
        value.encode()  # half a character is none
        return str(value)
    if isinstance(value, date):
        return None if value != value else value.isoformat()  # NaT is a date that is not itself
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, Real):
        return _real(value)
    return None


def _decimal(value: Decimal) -> str | None:
    if not value.is_finite():
        return None if value.is_nan() else str(float(value))
    if abs(value.adjusted()) > MOST_DIGITS:
        return None
    text = format(value, "f")
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0")
    return f"{whole}.{decimals}" if decimals else str(int(whole))


def _real(value: Any) -> str | None:
    if value != value:
        return None
    if value in (inf, -inf):
        return str(float(value))
    if value == int(value):
        return str(int(value))
    return str(float(value)) if value == float(value) else str(value)
