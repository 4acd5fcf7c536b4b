"""Compiled kernels: numba with its on-disk cache; the status line says so while the first call compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

from sparsedp.progress import STATUS

F = TypeVar("F", bound=Callable[..., Any])

_COMPILING = "compiling (first use only)"


def kernel(function: F) -> F:
    """Compile `function` on its first call and cache the machine code on disk for every later process.

    No fast-math: integer kernels wrap modulo 2⁶⁴ and float kernels keep IEEE semantics.
    """
    return cast(F, njit(cache=True, nogil=True)(function))


class CompileNotice(event.Listener):
    """Puts every compilation of this library's kernels, and no one else's, on the status line."""

    def on_start(self, event: Any) -> None:
        """A compilation begins."""
        if _is_ours(event):
            STATUS.begin(_COMPILING)

    def on_end(self, event: Any) -> None:
        """It has ended."""
        if _is_ours(event):
            STATUS.end(_COMPILING)


def _is_ours(event: Any) -> bool:
    module: str = event.data["dispatcher"].py_func.__module__
    return module.startswith("sparsedp.")


event.register("numba:compile", CompileNotice())  # type: ignore[no-untyped-call]  # numba is half-typed
