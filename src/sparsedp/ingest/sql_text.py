"""Names and numbers in the text of a query, quoted so that they mean what they say."""

from __future__ import annotations

from collections.abc import Sequence


def name(identifier: str) -> str:
    """A column's name, whatever is in it."""
    return '"' + identifier.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text."""
    return "'" + value.replace("'", "''") + "'"


def double(value: float) -> str:
    """A float, digit by digit: a bare decimal would be read as a decimal number first, and rounded twice."""
    return f"CAST('{value!r}' AS DOUBLE)"


def whole(value: int) -> str:
    """A whole number of up to 128 bits."""
    return f"({value})" if -(2**63) < value < 2**63 else f"CAST('{value}' AS HUGEINT)"


def stepwise(value: str, thresholds: Sequence[str], results: Sequence[int]) -> str:
    """results[i] where i of the rising thresholds are at most `value`; a balanced tree of comparisons."""
    if not thresholds:
        return str(results[0])
    middle = len(thresholds) // 2
    above = stepwise(value, thresholds[middle + 1 :], results[middle + 1 :])
    below = stepwise(value, thresholds[:middle], results[: middle + 1])
    return f"CASE WHEN {value} >= {thresholds[middle]} THEN {above} ELSE {below} END"
