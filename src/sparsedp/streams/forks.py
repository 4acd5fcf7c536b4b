"""What a forked child must forget: a copy of a counter's state would be a second version of it."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forgetful(Protocol):
    """Holds what must not live on in a forked child."""

    def forget_in_child(self) -> None:
        """Called in the child, first of all."""


# The one thing here that a module keeps: Python calls what is registered for forks for ever, so one call serves all.
_HELD: WeakSet[Forgetful] = WeakSet()


def forget_in_forks(holder: Forgetful) -> None:
    """From now on, and for as long as it lives, `holder` forgets in every forked child."""
    _HELD.add(holder)


def _forget_all() -> None:
    for holder in list(_HELD):
        holder.forget_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
