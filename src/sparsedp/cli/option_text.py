"""What options say in their own small languages: axes, `name=value`, `low..high`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.domain import Domain


def domain_of(by: Sequence[str] | None) -> Domain:
    """The domain of the axes that were declared."""
    if not by:
        raise InvalidInput("--by", "missing", "declare at least one axis, such as --by 'day:2024-01-01..2024-12-31/1d'")

    from sparsedp.domain import Domain

    return Domain.parse(list(by))


def pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """`axis=what` of a repeatable option, by axis."""
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InvalidInput(option, f"{text!r}"[:60], f"write it as NAME=…, such as {option} age=…")
        if name in found:
            raise InvalidInput(option, f"given twice for {name!r}", "say it once")
        found[name] = value
    return found


def bounds(option: str, text: str) -> tuple[str, str]:
    """Two numbers of an option, `low..high`."""
    low, dots, high = text.partition("..")
    if not dots or not low or not high:
        raise InvalidInput(option, f"{text!r}"[:60], f"write it as low..high, such as {option} 0..500")
    return low, high
