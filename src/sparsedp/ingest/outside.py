"""What is done with records that are outside the domain: declared by the publisher, axis by axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparsedp.axes import Axis, Categories
from sparsedp.domain import Domain
from sparsedp.errors import InvalidInput

DROP, CLAMP = "drop", "clamp"


@dataclass(frozen=True)
class Outside:
    """Dropped, unless values beyond the ends of an axis go to its end cells, or other labels are collected in one."""

    clamp: bool = False
    collects: int | None = None
    """The cell of the label that stands for every other one, for what is missing and for what cannot be read."""


def outside_of(domain: Domain, declared: object) -> tuple[Outside, ...]:
    """One declaration for each axis, from "drop" or from a mapping of axes' names."""
    if isinstance(declared, str) and declared == DROP:
        return tuple(Outside() for _ in domain.axes)
    if not isinstance(declared, Mapping):
        given = repr(declared[:40]) if isinstance(declared, str) else f"of type {type(declared).__name__}"
        raise InvalidInput("outside", given, 'give "drop", or what to do for each axis: {"age": "clamp"}')
    for name in declared:
        domain.axis(name)
    return tuple(_of_axis(axis, declared.get(axis.name, DROP)) for axis in domain.axes)


def _of_axis(axis: Axis, declared: object) -> Outside:
    argument = f"outside[{axis.name!r}]"
    if isinstance(axis, Categories):
        if declared in axis.labels and not isinstance(declared, bool):
            return Outside(collects=axis.labels.index(declared))
        wanted = 'give "drop", or one of the labels, which then collects all other values'
    else:
        if declared == CLAMP:
            return Outside(clamp=True)
        wanted = 'give "drop", or "clamp" for the nearest end cell'
    if declared == DROP:
        return Outside()
    shown = repr(declared) if isinstance(declared, str | int) else f"of type {type(declared).__name__}"
    raise InvalidInput(argument, shown[:60], wanted)
