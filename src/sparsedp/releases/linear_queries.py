"""Linear queries as people ask them, a cell, a range, a box or weights, turned into one weight for each cell."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes.base import Cells
from sparsedp.errors import InvalidInput
from sparsedp.releases.places import place_of, range_bounds

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

WANTED = "give a cell, a slice, a (start, stop) range, a box by name, or one weight for each cell"

SMALLEST, LARGEST = 1e-100, 1e100
"""Of the largest weight: squares and sums of such weights are floats, whatever the cells hold."""


def weights_of(release: Release, query: object) -> Floats:
    """The weights of a query; cells that are asked for as they are weigh 1."""
    if isinstance(query, Mapping):
        return _ones(release, np.ix_(*_numbers(release.shape, release.box(query))))
    if isinstance(query, tuple) and len(query) == 2 and len(release.shape) == 1:
        start, stop = (int(bound) for bound in range_bounds(release, *query))
        return _ones(release, slice(start, stop))
    if isinstance(query, tuple) and len(query) != len(release.shape):
        raise InvalidInput("query", f"a place on {len(query)} axes", f"there are {len(release.shape)}; {WANTED}")
    if isinstance(query, np.ndarray | list):
        return given_weights("query", query, release.shape)
    if isinstance(query, tuple) or _is_place(query):
        if not all(_is_place(part) for part in (query if isinstance(query, tuple) else (query,))):
            raise InvalidInput("query", "a place not of cell numbers", WANTED)
        return _ones(release, place_of(release, query))
    raise InvalidInput("query", f"of type {type(query).__name__}", WANTED)


def given_weights(argument: str, weights: Any, shape: tuple[int, ...]) -> Floats:
    """One number for each cell."""
    array = np.asarray(weights)
    if array.shape != shape or array.dtype.kind not in "biuf":
        given = f"an array of shape {array.shape} and type {array.dtype}"
        cells = f"each of the {shape[0]} cells" if len(shape) == 1 else f"each cell of the shape {shape}"
        function = "a function, or " if argument == "question" else ""
        raise InvalidInput(argument, given, f"give {function}one number for {cells}")
    if not np.isfinite(array).all():
        raise InvalidInput(argument, "not finite somewhere", "give finite weights")
    with np.errstate(over="ignore"):  # of wider floats; they are refused below
        numbers = array.astype(np.float64)
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest and not SMALLEST <= largest <= LARGEST:
        given = f"weights of up to {largest:.1g}, whose squares or sums leave what floats hold"
        raise InvalidInput(argument, given, f"give weights whose largest is between {SMALLEST:g} and {LARGEST:g}")
    return numbers


def _ones(release: Release, cells: Any) -> Floats:
    weights = np.zeros(release.shape)
    try:
        weights[cells] = 1.0
    except (IndexError, TypeError):
        raise InvalidInput("query", "outside the cells", f"their shape is {release.shape}") from None
    return weights


def _is_place(query: object) -> bool:
    if isinstance(query, bool | np.timedelta64):
        return False
    return isinstance(query, Integral | slice | str | np.datetime64) or hasattr(query, "year")


def _numbers(shape: tuple[int, ...], box: tuple[Cells, ...]) -> list[Any]:
    return [np.arange(length)[cells] for length, cells in zip(shape, box, strict=True)]
