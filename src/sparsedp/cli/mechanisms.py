"""Mechanisms as options name them: `--mechanism adaptive:cells`, or `--mechanism adaptive --workload cells`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.mechanisms.base import Mechanism


def chosen_mechanism(name: str | None, workload: str | None = None) -> Mechanism:
    """The mechanism of that name, the default where there is none, with a workload that may be given beside it."""
    from sparsedp.mechanisms import Adaptive
    from sparsedp.mechanisms.named import mechanism_named

    named = mechanism_named(name or Adaptive.name)
    if workload is None:
        return named
    if not isinstance(named, Adaptive):
        raise InvalidInput("workload", f"given for {named.name}", "it is a setting of adaptive only; leave it out")
    if name is not None and ":" in name and named.workload != workload:
        raise InvalidInput("workload", f"{workload!r} beside the mechanism {name!r}", "say it once")
    return Adaptive(workload)
