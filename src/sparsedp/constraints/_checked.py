"""Constraints on a table of a given shape, found to be possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints, Mask
from sparsedp.constraints._margins import Margin, forced_zeros
from sparsedp.errors import InvalidInput, UnknownName

_MOST_WHOLE = 2**40
"""The largest total for whole numbers with several margins or monotone axes: fractions need digits left for them."""


@dataclass(frozen=True, eq=False)
class CheckedConstraints:
    """Constraints that some table of this shape obeys.

    `margins` agree and none contains another. `free` is False where a cell must be zero: a structural zero, under a
    total of zero, or below another zero on a monotone line. `monotone` has 1 for an axis that rises
    and −1 for one that falls.
    """

    shape: tuple[int, ...]
    margins: tuple[Margin, ...]
    free: Mask
    monotone: Mapping[int, int]
    integers: bool


def check(
    shape: tuple[int, ...],
    axis_names: Sequence[str] | None,
    total: int | None,
    totals: Mapping[tuple[int | str, ...], Ints],
    zeros: Mask | None,
    monotone: Mapping[int | str, int],
    integers: bool,
) -> CheckedConstraints:
    """Refuse, in one sentence, what no table of this shape can obey, or what cannot be imposed."""
    if axis_names is not None and len(axis_names) != len(shape):
        raise InvalidInput("axis_names", f"{len(axis_names)} names", f"give one for each of the {len(shape)} axes")
    margins = [_margin(shape, axis_names, axes, sums) for axes, sums in totals.items()]
    if total is not None:
        margins.append(Margin((), np.asarray(total, np.int64)))
    margins = _reconciled(margins)
    signs: dict[int, int] = {}
    for name, sign in monotone.items():
        axis = _axis_number("monotone", name, shape, axis_names)
        if signs.setdefault(axis, sign) != sign:
            raise InvalidInput("monotone", f"both increasing and decreasing along axis {axis}", "name it once")
    free = _free_cells(shape, margins, zeros, signs)
    _refuse_impossible(free, margins, signs)
    if integers:
        _refuse_impossible_integers(margins, signs)
    return CheckedConstraints(shape, tuple(margins), free, signs, integers)


def _axis_number(argument: str, name: int | str, shape: tuple[int, ...], names: Sequence[str] | None) -> int:
    if isinstance(name, str):
        if names is None:
            raise InvalidInput(argument, f"for {name!r}, but the axes have no names", "give the axis' number")
        if name not in names:
            raise UnknownName(argument, name, names)
        return list(names).index(name)
    if not -len(shape) <= name < len(shape):
        raise InvalidInput(argument, f"for axis {name}", f"give an axis from 0 to {len(shape) - 1}")
    return name % len(shape)


def _margin(shape: tuple[int, ...], names: Sequence[str] | None, axes: tuple[int | str, ...], sums: Ints) -> Margin:
    numbers = [_axis_number("totals", axis, shape, names) for axis in axes]
    if len(set(numbers)) < len(numbers) or not numbers:
        raise InvalidInput("totals", f"of axes {axes!r}", "name at least one axis, and each only once")
    wanted = tuple(shape[axis] for axis in numbers)
    if sums.shape != wanted:
        raise InvalidInput("totals", f"of shape {sums.shape} for {axes!r}", f"give totals of shape {wanted}")
    rising = np.argsort(numbers)
    return Margin(tuple(sorted(numbers)), np.ascontiguousarray(sums.transpose(rising)))


def _free_cells(
    shape: tuple[int, ...], margins: Sequence[Margin], zeros: Mask | None, signs: Mapping[int, int]
) -> Mask:
    if zeros is not None and zeros.shape != shape:
        raise InvalidInput("zeros", f"a mask of shape {zeros.shape}", f"give one of the table's shape, {shape}")
    closed = np.zeros(shape, np.bool_) if zeros is None else zeros.copy()
    for margin in margins:
        closed |= margin.over(len(shape), margin.totals) == 0
    return np.logical_not(forced_zeros(closed, signs))


def _refuse_impossible(free: Mask, margins: Sequence[Margin], signs: Mapping[int, int]) -> None:
    for margin in margins:
        if ((margin.totals > 0) & (margin.of(free) == 0)).any():
            cause = "all its cells must be zero"
            raise InvalidInput("totals", f"contradictory: one is above zero though {cause}", "mend totals or zeros")
    crossed = any(set(signs) & set(margin.axes) for margin in margins)
    if len(signs) > 1 and margins and (crossed or len(margins) > 1):
        given = "of a monotone axis, or of several margins, where several axes are monotone"
        raise InvalidInput("totals", given, "give the total alone, the totals of other axes, or one monotone axis")
    from sparsedp.constraints._solvers import is_feasible  # loads solvers that most releases never need

    if margins and not is_feasible(free, margins, signs):
        causes = ["totals", *(["zeros"] * (not free.all())), *(["monotone axes"] * bool(signs))]
        raise InvalidInput("constraints", "contradictory", f"no table has all these {', '.join(causes)} at once")


def _refuse_impossible_integers(margins: Sequence[Margin], signs: Mapping[int, int]) -> None:
    crossed = any(set(signs) & set(margin.axes) for margin in margins)
    if len(margins) > 2 or (signs and (crossed or len(margins) > 1)):
        given = "asked for with totals of " + ("a monotone axis" if crossed else f"{len(margins)} margins")
        raise InvalidInput("integers", given, "such whole tables need not exist: say integers=False")
    if (signs or len(margins) > 1) and any(int(margin.totals.sum()) > _MOST_WHOLE for margin in margins):
        raise InvalidInput("integers", "asked for with a total beyond 2**40", "say integers=False")


# Totals that are public: read, and compared with each other.

MOST = 2**53
"""The largest total: up to here floats hold every whole number."""


def whole_totals(axes: object, sums: npt.ArrayLike) -> Ints:
    """Totals over `axes` as read-only whole numbers."""
    where = f"of {axes!r}"
    try:
        given = np.array(sums)
    except ValueError:
        raise InvalidInput("totals", f"{where} not an array", "give one whole number for each place") from None
    if given.dtype.kind == "f" and np.isfinite(given).all() and (given == np.trunc(given)).all():
        given = np.clip(given, -1.0, 2.0 * MOST).astype(np.int64)
    if given.dtype.kind not in "iu" or given.ndim == 0:
        raise InvalidInput("totals", f"{where} not whole numbers", "give one whole number for each place")
    if given.size and (given.min() < 0 or sum(given.ravel().tolist()) > MOST):
        raise InvalidInput("totals", f"{where} negative somewhere or beyond 2**53 in all", "give totals of counts")
    whole = given.astype(np.int64)
    whole.flags.writeable = False
    return whole


def _reconciled(margins: Sequence[Margin]) -> list[Margin]:
    """The margins that say everything: those contained in another one are left out.

    Refused if two of them cannot be of one table: they differ over the axes they share (none: in their sums).
    """
    for one, other in combinations(margins, 2):
        ours, theirs = one.shared_with(other)
        if (ours != theirs).any():
            place = int(np.flatnonzero(ours.ravel() != theirs.ravel())[0])
            given = f"contradictory: {_named(one)} and {_named(other)} add up to {ours.ravel()[place]} and "
            given += f"{theirs.ravel()[place]}{' at the same place' if ours.ndim else ''}"
            raise InvalidInput("totals", given, "give totals of one table")
    kept: list[Margin] = []
    for margin in sorted(margins, key=lambda margin: -len(margin.axes)):
        if not any(set(margin.axes) <= set(other.axes) for other in kept):
            kept.append(margin)
    return kept


def _named(margin: Margin) -> str:
    if not margin.axes:
        return "the grand total"
    return f"those of axis {' by '.join(str(axis) for axis in margin.axes)}"
