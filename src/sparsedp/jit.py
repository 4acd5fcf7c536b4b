"""Compiled kernels: numba with its on-disk cache, and a line on the terminal while the first call compiles."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` on its first call and cache the machine code on disk for every later process.

    No fast-math: integer kernels wrap modulo 2⁶⁴ and float kernels keep IEEE semantics.
    """
    return cast(F, njit(cache=True, nogil=True)(function))


class CompileNotice(event.Listener):
    """Tells a person at a terminal that the pause is a one-time compilation; silent otherwise."""

    def __init__(self) -> None:
        self._depth = 0

    def on_start(self, started: Any) -> None:  # noqa: D102
        self._depth += 1
        dispatcher = started.data["dispatcher"]
        ours = dispatcher.py_func.__module__.startswith("sparsedp.")
        if self._depth == 1 and ours and sys.stderr.isatty():
            name = dispatcher.py_func.__name__.strip("_").replace("_", " ")
            sys.stderr.write(f"\r\x1b[2Ksparsedp: compiling {name} (first use only) …")
            sys.stderr.flush()

    def on_end(self, ended: Any) -> None:  # noqa: D102
        self._depth -= 1
        if self._depth == 0 and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


event.register("numba:compile", CompileNotice())  # type: ignore[no-untyped-call]  # numba is half-typed
