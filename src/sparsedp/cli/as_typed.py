"""Refusals name what was typed: which option named an axis, a column, or how CSV is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sparsedp.errors import InvalidInput, UnknownName


def check_axes(option: str, named: Iterable[str], axes: Sequence[str]) -> None:
    """Refuse what an option says of an axis that is not there."""
    for name in named:
        if name not in axes:
            raise UnknownName(option, name, axes)


@contextmanager
def columns_as_typed(
    unit: str | Sequence[str] | None, counting: Mapping[str, Any], axes: Sequence[str]
) -> Iterator[None]:
    """What is said of a column of the records is said of the option that names it.

    `counting`: what `sparsedp.count` was given beside the unit and the domain; `axes`: of --by.
    """
    columns, csv = counting.get("columns") or {}, counting.get("csv") or {}
    named = {
        "--by": [axis for axis in axes if axis not in columns],
        "--column": list(columns.values()),
        "--value": [counting.get("value")],
        "--unit": [unit] if isinstance(unit, str) else list(unit or ()),
    }
    try:
        yield
    except InvalidInput as error:
        if error.argument == "csv" and csv:
            option: str | None = f"--{next(iter(csv)).replace('_', '-')}"
        else:
            found = (option for option, names in named.items() if _is_about(error, names))
            option = next(found, None) if error.argument == "column" else None
        if option is None:
            raise
        raise InvalidInput(option, error.given, error.remedy) from None


def _is_about(error: InvalidInput, names: Iterable[str | None]) -> bool:
    return any(name is not None and error.given.startswith(f"{name!r}, ") for name in names)
