"""What the library's arrays are called, and the form in which the compiled kernels take them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp.errors import InvalidInput

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]
"""Of a kernel that is compiled for floats and again for unsigned integers, which wrap modulo 2⁶⁴."""

A = TypeVar("A", bound=npt.NDArray[Any])


def float_vector(argument: str, values: Floats, *lengths: int) -> Floats:
    """`values` as a contiguous writeable float64 vector of one of the `lengths`; copied only if it is not one."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) not in lengths:
        wanted = " or ".join(str(length) for length in dict.fromkeys(lengths))
        raise InvalidInput(argument, f"of shape {array.shape}", f"give a vector of {wanted} numbers")
    return writeable(array)


def writeable(array: A) -> A:
    """A read-only array is copied: compiling the kernels again for such arrays would cost more."""
    return array if array.flags.writeable else array.copy()


def usual_warnings() -> np.errstate:
    """NumPy's own settings while a function runs: a caller who has made every underflow an error must not lose a
    release that was paid for.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
