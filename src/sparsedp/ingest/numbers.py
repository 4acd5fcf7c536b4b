"""Numbers in a column of any type, as SQL: NULL for what is missing, unreadable or not a number."""

from __future__ import annotations

from sparsedp.ingest.columns import WHOLE, SourceColumn

A_WHOLE_NUMBER = r"^[ \t]*[+-]?[0-9]+([.]0*)?[ \t]*$"
A_NUMBER = r"^[ \t]*[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF])[ \t]*$"
"""Plain decimal notation and nothing else: no 1_000, no 1.000,00, no 0x1F, whatever DuckDB's casts take. A decimal
comma stands for the point where it is declared, and then alone."""

_EXACT_DIGITS = 15
"""A decimal of so many digits is turned into the nearest float by one division; a longer one goes through text."""


def whole_number(column: SourceColumn, wanted: str) -> str:
    """The column's whole numbers as BIGINT or HUGEINT; 3.0 is 3, and 3.5 is not one. Infinite ones are very large."""
    value = column.sql
    if (column.kind == "whole numbers" and column.type in WHOLE) or column.kind == "truth values":
        return f"CAST({value} AS BIGINT)"
    if column.type == "UBIGINT":
        return f"CAST({value} AS HUGEINT)"
    if column.kind == "floats":
        # Beyond all 64-bit integers any place is as good as another; 1e300 would not fit in 128 bits.
        near = f"greatest(-1e19::DOUBLE, least(1e19::DOUBLE, CAST({value} AS DOUBLE)))"
        return f"CASE WHEN NOT isnan({value}) AND floor({value}) = {value} THEN CAST({near} AS HUGEINT) END"
    if column.kind == "decimals":
        # Cut, and not rounded down: below a decimal of 38 places there may be no other.
        return f"CASE WHEN trunc({value}) = {value} THEN TRY_CAST({value} AS HUGEINT) END"
    if column.kind == "text":
        return _from_text(column, A_WHOLE_NUMBER, "HUGEINT")
    raise column.refuse(wanted)


def real_number(column: SourceColumn, wanted: str) -> str:
    """The column's numbers as DOUBLE, each the nearest float; no number is NULL, and infinite ones stay."""
    value = column.sql
    if column.kind == "floats":
        return f"CASE WHEN NOT isnan({value}) THEN CAST({value} AS DOUBLE) END"
    if column.kind == "decimals":
        exact = column.digits[0] <= _EXACT_DIGITS
        return f"CAST({value} AS DOUBLE)" if exact else f"TRY_CAST(CAST({value} AS VARCHAR) AS DOUBLE)"
    if column.kind == "text":
        return _from_text(column, A_NUMBER, "DOUBLE")
    if column.kind in ("whole numbers", "truth values"):
        return f"CAST({f'CAST({value} AS BIGINT)' if column.kind == 'truth values' else value} AS DOUBLE)"
    raise column.refuse(wanted)


def _from_text(column: SourceColumn, pattern: str, kind: str) -> str:
    """One look with the pattern, then the cast."""
    value, number = column.sql, column.sql
    if column.point == ",":
        pattern, number = pattern.replace("[.]", "[,]"), f"replace({value}, ',', '.')"
    return f"CASE WHEN regexp_matches({value}, '{pattern}') THEN TRY_CAST({number} AS {kind}) END"
