"""What is publicly known of a table before it is measured, and what its release therefore obeys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints, Mask
from sparsedp.constraints._checked import MOST, CheckedConstraints, check, whole_totals
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable
from sparsedp.validate import MAX_CELLS, MAX_DIMENSIONS, one_of, whole, yes_or_no

_Axis = int | str
_Axes = _Axis | tuple[_Axis, ...]

_DIRECTIONS = {"increasing": 1, "decreasing": -1}


@dataclass(frozen=True, eq=False)
class Constraints:
    """Public knowledge that a release is made to obey (`constraints.md`). Cells are non-negative in any case.

    `total`: the sum of all cells. `totals`: for an axis (its number or name), the sums at each of its places; for a
    tuple of axes, a table of sums. `zeros`: True where a cell can only be zero. `monotone`: for an axis, "increasing"
    or "decreasing": no line along it ever falls, or ever rises. `integers`: cells are whole numbers.

    None of this may come from the data, except totals that are public: they are an invariant, which the release does
    not protect. It then protects neighbours with the same totals only.

    >>> print(Constraints(total=100, integers=True))
    Cells are non-negative whole numbers; the public total is kept.
    """

    total: int | None = None
    totals: Mapping[Any, npt.ArrayLike] | None = None
    zeros: npt.ArrayLike | None = None
    monotone: Mapping[Any, str] | None = None
    integers: bool = False

    def __post_init__(self) -> None:
        keep = object.__setattr__
        if self.total is not None:
            keep(self, "total", whole("total", self.total, least=0, most=MOST))
        if self.totals is not None:
            given = _mapping("totals", self.totals, "give the totals of each axis, {axis: totals}")
            keep(self, "totals", {_axes(axes): whole_totals(axes, sums) for axes, sums in given.items()} or None)
        if self.zeros is not None:
            keep(self, "zeros", _mask(self.zeros))
        if self.monotone is not None:
            given = _mapping("monotone", self.monotone, "give {axis: 'increasing'} or {axis: 'decreasing'}")
            for axis, direction in given.items():
                _axis("monotone", axis)
                one_of("monotone", direction, _DIRECTIONS)
            keep(self, "monotone", dict(given) or None)
        yes_or_no("integers", self.integers)

    @property
    def is_invariant(self) -> bool:
        """Whether a release fixes sums of the data exactly: it then protects replace-one neighbours only (2c)."""
        return self.total is not None or self.totals is not None

    def checked(self, shape: Sequence[int], axis_names: Sequence[str] | None = None) -> CheckedConstraints:
        """These constraints on a table of this shape; refused here if no table can obey them, before any spending."""
        totals: dict[tuple[_Axis, ...], Ints] = {}
        for axes, sums in (self.totals or {}).items():
            totals[axes if isinstance(axes, tuple) else (axes,)] = np.asarray(sums, np.int64)
        signs = {axis: _DIRECTIONS[direction] for axis, direction in (self.monotone or {}).items()}
        zeros = None if self.zeros is None else np.asarray(self.zeros, np.bool_)
        return check(tuple(shape), axis_names, self.total, totals, zeros, signs, self.integers)

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Constraints.from_description` gives equal constraints back."""
        description: dict[str, Any] = {"integers": self.integers}
        if self.total is not None:
            description["total"] = self.total
        if self.totals is not None:
            description["totals"] = [
                {"axes": list(axes) if isinstance(axes, tuple) else axes, "totals": np.asarray(sums).tolist()}
                for axes, sums in self.totals.items()
            ]
        if self.zeros is not None:
            description["zeros"] = runs_of(np.asarray(self.zeros))
        if self.monotone is not None:
            description["monotone"] = [[axis, direction] for axis, direction in self.monotone.items()]
        return description

    @classmethod
    def from_description(cls, description: Mapping[str, Any], cells: int = MAX_CELLS) -> Constraints:
        """The constraints that `describe()` described, on a table of at most so many cells."""
        try:
            totals = [
                (tuple(entry["axes"]) if isinstance(entry["axes"], list) else entry["axes"], entry["totals"])
                for entry in description.get("totals", ())
            ]
            return cls(
                total=description.get("total"),
                totals=dict(totals) or None,
                zeros=mask_from(description["zeros"], cells) if "zeros" in description else None,
                monotone=dict(description.get("monotone", ())) or None,
                integers=description["integers"],
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("constraints", "not described in full", "give what `describe()` returned") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraints) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(repr(self.describe()))

    def __str__(self) -> str:
        """What the release obeys, in a sentence."""
        parts = [f"cells are non-negative{' whole numbers' if self.integers else ''}"]
        if self.zeros is not None:
            count = int(np.sum(np.asarray(self.zeros)))
            parts.append(f"{count} {'cell is' if count == 1 else 'cells are'} known to be zero")
        parts += [f"counts are {direction} along {_shown(axis)}" for axis, direction in (self.monotone or {}).items()]
        kept = ["the public total"] * (self.total is not None)
        kept += [f"the public totals of {_shown(axes)}" for axes in self.totals or {}]
        if kept:
            parts.append(f"{' and '.join(kept)} {'is' if kept == ['the public total'] else 'are'} kept")
        sentence = "; ".join(parts)
        return printable(f"{sentence[0].upper()}{sentence[1:]}.")


def _shown(axes: _Axes) -> str:
    if isinstance(axes, tuple):
        return " by ".join(_shown(axis) for axis in axes)
    return f"axis {axes}" if isinstance(axes, int) else axes


def _mapping(argument: str, given: object, remedy: str) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise InvalidInput(argument, f"of type {type(given).__name__}", remedy)
    return given


def _axis(argument: str, axis: object) -> _Axis:
    if isinstance(axis, bool) or not isinstance(axis, int | str):
        raise InvalidInput(argument, f"for an axis of type {type(axis).__name__}", "name axes by number or name")
    return axis


def _axes(axes: object) -> _Axes:
    if isinstance(axes, tuple):
        return tuple(_axis("totals", axis) for axis in axes)
    return _axis("totals", axes)


def _mask(zeros: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    mask = np.array(zeros)
    if mask.dtype != np.bool_:
        raise InvalidInput("zeros", f"an array of type {mask.dtype}", "give True where a cell is known to be zero")
    mask.flags.writeable = False
    return mask


# A mask as the lengths of its runs: small in a file, since structural zeros come in blocks.


def runs_of(mask: Mask) -> dict[str, Any]:
    """Shape and run lengths of the flattened mask, the first run being of False (and perhaps empty)."""
    flat = mask.ravel()
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    bounds = [*([0] if flat.size and flat[0] else []), 0, *changes.tolist(), flat.size]
    return {"shape": list(mask.shape), "runs": np.diff(bounds).tolist()}


def mask_from(description: Mapping[str, Any], most: int = MAX_CELLS) -> Mask:
    """The mask that `runs_of` described, of at most so many cells."""
    wrong = InvalidInput("zeros", "not a mask's runs", "give what `describe()` returned")
    try:
        shape = tuple(int(size) for size in description["shape"][:MAX_DIMENSIONS])
        runs = np.array(description["runs"], np.int64)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise wrong from None
    cells = int(np.prod(shape, dtype=object))
    # The sum is taken in integers that cannot wrap: a forged file must not make it allocate.
    if runs.ndim != 1 or (runs < 0).any() or cells > most or sum(runs.tolist()) != cells:
        raise wrong
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(shape)
