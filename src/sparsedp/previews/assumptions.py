"""What a caller assumes, checked: the cells, the total, the shape, the mechanism."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Floats
from sparsedp.axes import Axis
from sparsedp.domain import Domain
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.previews.scenario import Guess
from sparsedp.previews.shapes import ALIASES, ALL_SHAPES, SHAPES, WITHOUT_ORDER

MOST = 2**53
YOURS = "as you guessed"
"""The name of a shape that the caller gave as an array."""
TOTAL_WANTED = "give a public guess of at least 1, or two for a range: (10_000, 50_000)"
Total = validate.Number | tuple[validate.Number, validate.Number]


def checked_domain(domain: object) -> Domain:
    """A domain, from itself, its axes, a shape, or a number of cells."""
    if isinstance(domain, Domain | Axis) or _names_axes(domain):
        return Domain.of(domain)  # type: ignore[arg-type]
    if isinstance(domain, Integral) and not isinstance(domain, bool):
        return Domain.of_shape((validate.whole("domain", domain),))
    if isinstance(domain, tuple) and domain:
        return Domain.of_shape([validate.whole("domain", side) for side in domain])
    remedy = (
        "give a sparsedp.Domain, its axes (['age:0..100/5', 'sex:F,M']), a shape such as (24, 7), or a number of "
        "cells; never the counts themselves"
    )
    raise InvalidInput("domain", "empty" if isinstance(domain, tuple) else _kind(domain), remedy)


def checked_totals(total: object) -> tuple[int, ...]:
    """One guess, or the two ends of a range."""
    if not isinstance(total, tuple | list):
        return (_checked_total(total),)
    if len(total) != 2:
        raise InvalidInput("total", f"{len(total)} numbers", TOTAL_WANTED)
    low, high = map(_checked_total, total)
    if low > high:
        raise InvalidInput("total", f"from {low:,} to {high:,}", "give the smaller guess first")
    return (low,) if low == high else (low, high)


def checked_guesses(smoothness: object, totals: tuple[int, ...], domain: Domain) -> list[Guess]:
    """Every shape at every total."""
    if isinstance(smoothness, str):
        return [Guess(shape, total) for total in totals for shape in _named(smoothness, domain)]
    shares = _checked_shares(smoothness, domain)
    return [Guess(YOURS, total, shares) for total in totals]


def _named(smoothness: str, domain: Domain) -> tuple[str, ...]:
    if smoothness == "unknown":
        has_order = any(axis.ordered and axis.length > 1 for axis in domain.axes)
        return ALL_SHAPES if has_order else WITHOUT_ORDER
    known = {**SHAPES, **ALIASES, "unknown": None}
    if smoothness not in known:
        names = ", ".join([*ALL_SHAPES, *ALIASES, "unknown"])
        remedy = f"choose one of {names}, or give an array of guessed shares"
        raise UnknownName("smoothness", smoothness, known, remedy)
    return (ALIASES.get(smoothness, smoothness),)


def _checked_shares(smoothness: object, domain: Domain) -> Floats:
    try:
        weights: npt.NDArray[np.float64] = np.array(smoothness, dtype=np.float64)
    except (TypeError, ValueError):
        remedy = f"choose one of {', '.join(ALL_SHAPES)}, or give an array of guessed shares"
        raise InvalidInput("smoothness", _kind(smoothness), remedy) from None
    if weights.shape != domain.shape:
        given = f"an array of shape {weights.shape}"
        raise InvalidInput("smoothness", given, f"give the domain's shape, {domain.shape}, or the name of a shape")
    if not np.isfinite(weights).all() or (weights < 0).any() or not 0 < weights.sum() < np.inf:
        given = "an array that cannot be shares of a total"
        raise InvalidInput("smoothness", given, "give finite numbers of at least 0, not all of them 0")
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _checked_total(total: object) -> int:
    try:
        number = validate.exact_number("total", total)
    except InvalidInput as error:
        raise InvalidInput("total", error.given, TOTAL_WANTED) from None
    if not 1 <= number <= MOST:
        raise InvalidInput("total", validate.shown(number), TOTAL_WANTED if number < 1 else "give at most 2**53")
    return round(number)


def _names_axes(domain: object) -> bool:
    """Whether it is axes or texts that begin with the name of one: "sex:F,M"."""
    parts = domain if isinstance(domain, list | tuple) and domain else [domain]
    return all(isinstance(part, Axis) or (isinstance(part, str) and ":" in part) for part in parts)


def _kind(given: object) -> str:
    return f"of type {type(given).__name__}"
