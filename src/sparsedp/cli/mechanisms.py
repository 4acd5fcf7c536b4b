"""Mechanisms as the command line names them: `laplace`, `adaptive:cells`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsedp.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from sparsedp.mechanisms.base import Mechanism

WORKLOADS = ("any", "cells", "ranges")


def mechanism_named(name: str | None, workload: str | None = None) -> Mechanism:
    """The mechanism of that name, with its settings behind a colon; the default where there is none."""
    from sparsedp.mechanisms import MECHANISMS, Adaptive

    base, _, setting = (name or Adaptive.name).partition(":")
    if base not in MECHANISMS:
        raise UnknownName("mechanism", base, MECHANISMS)
    if setting and workload is not None and setting != workload:
        raise InvalidInput("workload", f"{workload!r} beside the mechanism {name!r}", "say it once")
    wanted = setting or workload
    if wanted is None:
        return MECHANISMS[base]()
    if base != Adaptive.name:
        raise InvalidInput("workload", f"given for {base}", "it is a setting of adaptive only; leave it out")
    if wanted not in WORKLOADS:
        raise UnknownName("workload", wanted, WORKLOADS)
    return Adaptive(workload=wanted)
