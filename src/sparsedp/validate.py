"""Argument checks, written once: one place, one wording.

Each function takes the argument's name first, returns the checked value in the type the library works with, and
raises `InvalidInput` otherwise. A check on private data says what kind of thing is wrong, never a value or a place.
"""

from __future__ import annotations

import os
import re
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Integral, Rational
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

MAX_CELLS = 2**31
"""More cells than this are refused: indices and exact sums in the kernels are proven up to here."""

Number = int | float | str | Decimal | Fraction
"""How a user may write an exact number. A float means the decimal it prints as: `0.1` is one tenth."""


WANTED = 'give a finite number such as "0.1", "1/3" or 2'
SHARE_WANTED = "give a number between 0 and 1, both excluded"

FARTHEST = 10**100
"""Budgets are at most this, at least one over it, and have no more digits: all that is computed stays printable."""


def exact_number(argument: str, value: object, wanted: str = WANTED) -> Fraction:
    """The exact rational a user meant: "0.1", "1/3", 1, Decimal("0.1"), and 0.1 (as one tenth)."""
    if type(value) is Fraction:
        return value
    if isinstance(value, bool):
        raise InvalidInput(argument, repr(value), wanted)
    if isinstance(value, np.floating):
        value = str(value)  # what it prints as in its own precision: float32(0.1) is one tenth too
    elif isinstance(value, float):
        value = repr(value)
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, str | Decimal):
        text = str(value).strip()
        try:
            # Refuse by length what would take gigabytes to write out as a rational: 1e999999999.
            # Python also reads 1_0 and digits of other scripts; a budget is not the place for such surprises.
            plain = len(text) <= 400 and text.isascii() and "_" not in text
            if plain and abs(int(text.lower().partition("e")[2] or "0")) <= 400:
                return Fraction(text)
        except (ValueError, ArithmeticError):
            pass
        raise InvalidInput(argument, repr(text[:40]), wanted)
    raise InvalidInput(argument, f"of type {type(value).__name__}", wanted)


MOST_STORED_DIGITS = 1000
"""Of a number in a file of ours: what is computed of budgets of a hundred digits has a few hundred."""

_STORED = re.compile(rf"-?[0-9]{{1,{MOST_STORED_DIGITS}}}(?:/[0-9]{{1,{MOST_STORED_DIGITS}}})?", re.ASCII)


def stored_number(argument: str, text: object) -> Fraction:
    """An exact number as the library writes it into a file: digits, or a fraction of them; never an exponent.

    Whoever made the file chose the text, so what would take long to read is refused by its looks: 1e300000000.
    """
    if isinstance(text, str) and _STORED.fullmatch(text):
        number, _, below = text.partition("/")
        if int(below or 1):
            return Fraction(int(number), int(below or 1))
    raise InvalidInput(argument, "not a number as this library writes it", "give what was stored")


_SIZES = {"": 1, "b": 1, **{f"{unit}b": 1000**power for power, unit in enumerate("kmgt", 1)}}
_SIZES |= {f"{unit}ib": 1024**power for power, unit in enumerate("kmgt", 1)}
_SIZE = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([kmgt]?i?b)?\s*", re.IGNORECASE | re.ASCII)


def bytes_of(argument: str, value: object) -> int:
    """How many bytes a person means: 2000000000, "2GB", "512 MB", "1.5GiB"."""
    written = _SIZE.fullmatch(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    unit = _SIZES.get((written[2] or "").lower()) if written else None
    if written is None or unit is None or not int(Fraction(written[1]) * unit):
        given = repr(value[:40]) if isinstance(value, str) else f"of type {type(value).__name__}"
        raise InvalidInput(argument, given, 'give a size such as "512MB" or "2GB"')
    return int(Fraction(written[1]) * unit)


def shown_bytes(size: int) -> str:
    """A size as people write it: 2GB, 512MB, 1.5GB; rounded up."""
    for unit in "TGMK":
        scale = _SIZES[f"{unit.lower()}b"]
        if size >= scale:
            return f"{-(-1000 * size // scale) / 1000:g}{unit}B"
    return f"{size} bytes"


def positive(argument: str, value: object) -> Fraction:
    """An exact number above zero."""
    number = exact_number(argument, value)
    if number <= 0:
        raise InvalidInput(argument, shown(number), "give a number above zero")
    return number


def budget(argument: str, value: object) -> Fraction:
    """A number above zero that a person wrote: short enough that everything computed from it stays printable."""
    number = positive(argument, value)
    usual = "1e-9" if argument == "delta" else "0.01 to 10"
    if number > FARTHEST:
        raise InvalidInput(argument, shown(number), f"give at most 1e+100; usual is {usual}")
    if number < Fraction(1, FARTHEST):
        raise InvalidInput(argument, shown(number), f"give at least 1e-100; usual is {usual}")
    if max(number.numerator, number.denominator) > FARTHEST:
        raise InvalidInput(argument, "a fraction of more than 100 digits", "round it, to 0.1 or 1/3 for instance")
    return number


def share(argument: str, value: object) -> Fraction:
    """An exact number strictly between zero and one."""
    number = exact_number(argument, value, SHARE_WANTED)
    if not 0 < number < 1:
        raise InvalidInput(argument, shown(number), SHARE_WANTED)
    return number


_MOST_SHOWN = 10**100


def whole(argument: str, value: object, *, least: int = 1, most: int | None = None, why: str = "") -> int:
    """A whole number within public limits; `why` explains the upper limit."""
    if type(value) is int and least <= value and (most is None or value <= most):
        return value
    limit = f"from {least} to {most}" if most is not None else f"of at least {least}"
    wanted = f"give a whole number {limit}{f' ({why})' if why else ''}"
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, Integral):
        raise InvalidInput(
            argument,
            f"{value!r}" if isinstance(value, float | str) else f"of type {type(value).__name__}",
            wanted,
        )
    number = int(value)
    if number < least or (most is not None and number > most):
        # Python refuses to write out numbers of thousands of digits, and nobody would read them.
        shown = f"{number}" if abs(number) < _MOST_SHOWN else "a number of very many digits"
        raise InvalidInput(argument, shown, wanted)
    return number


def file_path(argument: str, value: object, remedy: str = "give the path of a file") -> Path:
    """A path that the system can have: a name in its own encoding, not empty, without NUL."""
    if not isinstance(value, str | os.PathLike):
        raise InvalidInput(argument, f"of type {type(value).__name__}", remedy)
    try:
        name = os.fsdecode(value)
        possible = bool(os.fsencode(name)) and "\0" not in name
    except UnicodeError:
        possible = False
    if not possible:
        raise InvalidInput(argument, "not the name of a file", remedy)
    return Path(name)


def one_of(argument: str, name: object, known: Mapping[str, T], remedy: str = "") -> T:
    """The entry of a registry; an unknown name suggests the nearest, and what else would do, if that is told."""
    if not isinstance(name, str):
        raise InvalidInput(argument, f"of type {type(name).__name__}", f"choose one of {', '.join(sorted(known))}")
    if name not in known:
        raise UnknownName(argument, name, known, remedy)
    return known[name]


def shown(number: Fraction) -> str:
    """A rational as people write it: `0.1`, `1/3`; rounded, and said to be, when that would fill a line."""
    if max(abs(number.numerator), number.denominator) > 10**24:
        # Not by way of floats: these end long before what a user may write.
        about = Context(prec=6).divide(Decimal(number.numerator), Decimal(number.denominator))
        return f"about {about.normalize():g}"
    if number.denominator == 1:
        return str(number.numerator)
    reduced = number.denominator
    for prime in (2, 5):
        while reduced % prime == 0:
            reduced //= prime
    if reduced == 1 and number.denominator < 10**12:
        return f"{Decimal(number.numerator) / Decimal(number.denominator):f}"
    return str(number)


def named(argument: str, value: object) -> str:
    """A short text that names something, as files have it."""
    if not isinstance(value, str) or not 0 < len(value) <= MOST_NAME:
        raise InvalidInput(argument, "not a name", f"give a text of at most {MOST_NAME} characters")
    return value


MOST_NAME = 1000


def yes_or_no(argument: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise InvalidInput(argument, f"of type {type(value).__name__}", "say True or False")
    return value


def count(argument: str, value: object, *, negative: bool = False) -> int:
    """One private count; the message never quotes it. What `counts_vector` takes in an array is taken here alone."""
    if type(value) is not int or not (-(2**63) if negative else 0) <= value < 2**63:
        array = _as_array(value)
        if isinstance(value, np.ma.MaskedArray):
            raise InvalidInput(argument, "masked", "give a whole count, 0 if there was none")
        if array is None or array.ndim:
            raise InvalidInput(argument, f"of type {type(value).__name__}", "give one whole count")
        try:
            return int(counts_vector(argument, array.reshape(1), negative=negative)[0])
        except InvalidInput as error:
            raise InvalidInput(argument, *_of_one(error)) from None
    return value


def _of_one(error: InvalidInput) -> tuple[str, str]:
    """What is wrong with one count, from what is wrong with an array of it."""
    given = error.given.removesuffix(" everywhere").removesuffix(" somewhere").removeprefix("an array of ")
    remedy = error.remedy.replace("whole counts", "a whole count").replace("counts", "a count")
    return given.replace("whole numbers", "a whole number").replace(" values", ""), remedy


def counts_vector(argument: str, counts: object, *, negative: bool = False) -> npt.NDArray[np.int64]:
    """Private counts as a fresh int64 vector; messages never quote a value or a position.

    Whole-valued floats are accepted (pandas makes them of counts with gaps filled); anything that is not exactly an
    integer of 64 bits is refused. `negative=True` allows negative entries (sums of signed values).
    """
    array = _as_array(counts)
    if array is None:
        raise InvalidInput(argument, "not an array of numbers", "give a one-dimensional array of whole counts")
    if isinstance(counts, np.ma.MaskedArray):
        raise InvalidInput(argument, "an array with masked cells", "fill them first, with zeros if need be")
    if array.ndim == 0:
        raise InvalidInput(argument, "not an array", "give a one-dimensional array or list of whole counts")
    if array.ndim > 1:
        given = f"an array of {array.ndim} dimensions"
        raise InvalidInput(argument, given, "give a one-dimensional array (`numpy.ravel(counts)` flattens a table)")
    if array.size == 0:
        raise InvalidInput(argument, "empty", "give at least one cell")
    if array.size > MAX_CELLS:
        raise InvalidInput(argument, f"an array of {array.size} cells", f"give at most {MAX_CELLS}")
    if array.dtype == object:
        array = _integers_from_objects(argument, array)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InvalidInput(argument, "not finite everywhere", "replace missing and infinite values before counting")
        if not (array == np.trunc(array)).all():
            raise InvalidInput(argument, "not whole numbers everywhere", "give counts, or round to a resolution first")
        # From here on neighbouring integers share a float: rounding would move one person's count by hundreds.
        if (np.abs(array) >= 2.0 ** min(np.finfo(array.dtype).nmant + 1, 63)).any():
            raise InvalidInput(argument, "beyond what floats hold exactly", "give an array of int64")
    elif array.dtype.kind == "u":
        if (array > np.uint64(2**63 - 1)).any():
            raise InvalidInput(argument, "beyond 64-bit integers", "give counts below 2**63")
    elif array.dtype.kind not in "ib":
        kind = _KINDS.get(array.dtype.kind, "other")
        raise InvalidInput(argument, f"an array of {kind} values", "give whole counts")
    whole_counts = array.astype(np.int64, copy=True)
    if not negative and whole_counts.min() < 0:
        raise InvalidInput(
            argument,
            "negative somewhere",
            "give counts of at least zero, or say negative=True for signed sums",
        )
    return whole_counts


_KINDS = {"U": "text", "S": "bytes", "c": "complex", "M": "date", "m": "duration", "V": "record", "T": "text"}
"""What to call the values of an array; never its full type, which may say how long the longest text is."""


def kind_of(array: npt.NDArray[Any]) -> str:
    """What to call an array that is refused for its type, without saying how long its longest value is."""
    return f"an array of {_KINDS.get(array.dtype.kind, str(array.dtype))} values"


def _as_array(counts: object) -> npt.NDArray[Any] | None:
    """None where numpy refuses: its own message, and whatever it quotes, ends here."""
    try:
        return np.asarray(counts)
    except Exception:
        return None


def _integers_from_objects(argument: str, array: npt.NDArray[np.object_]) -> npt.NDArray[np.int64]:
    # Databases return sums as decimals: those that are whole are counts like any other.
    array = np.array([_whole_decimal(value) for value in array], dtype=object)
    if not all(isinstance(value, Integral) for value in array):
        raise InvalidInput(argument, "an array of mixed or non-numeric values", "give whole counts")
    if not all(-(2**63) <= int(value) < 2**63 for value in array):
        raise InvalidInput(argument, "beyond 64-bit integers", "give counts below 2**63")
    return array.astype(np.int64)


def _whole_decimal(value: object) -> object:
    if isinstance(value, Decimal) and value.is_finite() and abs(value) < 2**64 and value == int(value):
        return int(value)
    return value


def counts_array(
    argument: str, counts: object, *, negative: bool = False, shape: tuple[int, ...] | None = None
) -> npt.NDArray[np.int64]:
    """Private counts of any number of dimensions as a fresh contiguous int64 array, checked as `counts_vector` does.

    `shape` is the public one that the counts must have: a domain's. Shapes are public too, and may be quoted.
    """
    array = _as_array(counts)
    if array is None or isinstance(counts, np.ma.MaskedArray) or array.ndim == 0:
        return counts_vector(argument, counts, negative=negative)  # which says what is wrong with them
    if array.ndim > MAX_DIMENSIONS:
        raise InvalidInput(argument, f"an array of {array.ndim} dimensions", f"give at most {MAX_DIMENSIONS}")
    if shape is not None and array.shape != shape:
        raise InvalidInput(argument, f"an array of shape {array.shape}", f"give the domain's shape, {shape}")
    return counts_vector(argument, array.reshape(-1), negative=negative).reshape(array.shape)


MAX_DIMENSIONS = 32
"""Of an array of counts: one for each axis of a domain."""
