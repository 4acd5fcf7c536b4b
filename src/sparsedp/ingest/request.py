"""What is asked of a count, checked before any record is looked at."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sparsedp import validate
from sparsedp.axes import Axis
from sparsedp.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest.amounts import Amounts, amounts_of
from sparsedp.ingest.csv_dialect import Dialect, dialect_of
from sparsedp.ingest.outside import Outside, outside_of
from sparsedp.ingest.plain_types import Needed

MOST_CONTRIBUTIONS = 2**20
"""Of one person: so many records of one person are held in memory."""

_A_UNIT = 'name the column that says whose a record is, such as privacy_unit="patient_id"'


@dataclass(frozen=True)
class Request:
    """The domain, who a person is, and what to do with each of their records."""

    domain: Domain
    privacy_unit: tuple[str, ...] | None
    max_contributions: int
    axis_columns: tuple[str, ...]
    outside: tuple[Outside, ...]
    amounts: Amounts | None
    dialect: Dialect
    key: tuple[int, int]

    @property
    def needed(self) -> list[Needed]:
        """The columns of the source that are needed: those that tell people apart, and those that are counted by."""
        value = () if self.amounts is None else (self.amounts.column,)
        people = [Needed(column, person=True) for column in self.privacy_unit or ()]
        return [*people, *(Needed(column) for column in dict.fromkeys((*self.axis_columns, *value)))]

    @property
    def contribution(self) -> int:
        """The most that one person adds, in L1."""
        return self.max_contributions * (1 if self.amounts is None else self.amounts.largest)


def request_of(
    domain: object,
    privacy_unit: object,
    max_contributions: object,
    columns: object,
    outside: object,
    value: object,
    clamp: object,
    resolution: object,
    csv: object,
    key: object,
) -> Request:
    """The arguments of `count`, checked."""
    cells = _domain(domain)
    unit = _unit(privacy_unit)
    most = validate.whole("max_contributions", max_contributions, most=MOST_CONTRIBUTIONS)
    if unit is None and most != 1:
        given = f"{most}, and without a privacy_unit every record is another person's"
        raise InvalidInput("max_contributions", given, f"leave it at 1, or {_A_UNIT}")
    return Request(
        domain=cells,
        privacy_unit=unit,
        max_contributions=most,
        axis_columns=_axis_columns(cells, columns),
        outside=outside_of(cells, outside),
        amounts=amounts_of(value, clamp, resolution),
        dialect=dialect_of(csv),
        key=_key(key),
    )


def _domain(domain: object) -> Domain:
    declared = isinstance(domain, Domain | Axis | Iterable) and not isinstance(domain, bytes)
    if declared and not (isinstance(domain, str) and domain == "auto"):
        return Domain.of(domain)  # type: ignore[arg-type]
    given = "missing" if domain is None else repr(domain) if domain == "auto" else f"of type {type(domain).__name__}"
    example = "sparsedp.Domain([sparsedp.Integers('age', 0, 120)])"
    why = "cells are never read off the data, where the first, the last or a rare one would tell about a single person"
    raise InvalidInput("domain", given, f"declare the cells, such as {example}: {why}")


def _unit(privacy_unit: object) -> tuple[str, ...] | None:
    if privacy_unit is None:
        return None
    several = (privacy_unit,) if isinstance(privacy_unit, str) else privacy_unit
    if not isinstance(several, tuple | list) or not several or not all(isinstance(one, str) and one for one in several):
        given = "empty" if several in ("", (), [], ("",)) else f"of type {type(privacy_unit).__name__}"
        raise InvalidInput("privacy_unit", given, f"{_A_UNIT}, or several columns in a list")
    return tuple(dict.fromkeys(several))


def _axis_columns(domain: Domain, columns: object) -> tuple[str, ...]:
    named: Mapping[object, object] = {}
    if columns is not None:
        if not isinstance(columns, Mapping):
            wanted = 'give the column of each axis that is named otherwise: {"age": "age_in_years"}'
            raise InvalidInput("columns", f"of type {type(columns).__name__}", wanted)
        named = columns
    for axis, column in named.items():
        domain.axis(axis)  # type: ignore[arg-type]  # says so if it is no text
        if not isinstance(column, str):
            raise InvalidInput(f"columns[{axis!r}]", f"of type {type(column).__name__}", "give a column's name")
    return tuple(str(named.get(name, name)) for name in domain.names)


def _key(key: object) -> tuple[int, int]:
    """Two words; fresh ones from the operating system unless a test gives its own."""
    if key is not None and (not isinstance(key, bytes) or len(key) != 16):
        raise InvalidInput("key", "not 16 bytes", "leave it out: a fresh secret is drawn for each count")
    words = secrets.token_bytes(16) if key is None else key
    return int.from_bytes(words[:8], "little"), int.from_bytes(words[8:], "little")
