"""The one-line way in: `sparsedp.release(counts, epsilon="0.5")`."""

from __future__ import annotations

import os

import numpy.typing as npt

from sparsedp import validate
from sparsedp.axes.domain import Declared
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import MECHANISMS, Adaptive, Mechanism
from sparsedp.mechanisms.named import mechanism_named
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.releases.release import Release

DEFAULT = Adaptive()
"""The default: good for single cells and for sums at once, whatever the counts look like."""


def release(
    counts: npt.ArrayLike | Counts,
    *,
    epsilon: validate.Number | Budget | None = None,
    rho: validate.Number | None = None,
    delta: validate.Number | None = None,
    mechanism: str | Mechanism = DEFAULT,
    domain: Declared | None = None,
    contribution: int | None = None,
    neighbours: str = "add_remove",
    negative: bool = False,
    constraints: Constraints | None = None,
    ledger: Ledger | None = None,
    sampler: str = "sparsedp",
) -> Release:
    """Publish a vector or table of counts once under differential privacy; then ask the release anything.

    `counts`: ready-made counts, or what `sparsedp.count` made of records, which brings its domain and its bound.

    Say how much is spent in one of three ways: `epsilon=` (pure ε), `rho=` (ρ-zCDP), or `epsilon=` with `delta=`.
    `mechanism`: a name from `sparsedp.MECHANISMS`, "adaptive:cells" or "adaptive:ranges", or a mechanism with settings,
    such as `sparsedp.Compressive(basis="cosine")`.
    `domain`: what the cells are, for a table or for named axes: a `sparsedp.Domain`, or its axes, as objects or as text
    (["day:2024-01-01..2024-12-31", "sex:F,M"]). The release has its shape and its columns.
    The other arguments are those of `Mechanism.measure`.
    """
    chosen = checked_mechanism(mechanism)
    if isinstance(counts, str | os.PathLike):
        raise InvalidInput("counts", "a path", f"give an array of counts; {_RECORDS}")
    try:
        return chosen.release(
            counts,
            epsilon=epsilon,
            rho=rho,
            delta=delta,
            domain=domain,
            contribution=contribution,
            neighbours=neighbours,
            negative=negative,
            constraints=constraints,
            ledger=ledger,
            sampler=sampler,
        )
    except InvalidInput as error:
        # A frame may well be a table of counts; one that is refused was more likely meant as records.
        if error.argument != "counts" or not hasattr(counts, "columns"):
            raise
        raise InvalidInput("counts", error.given, f"{error.remedy}; {_RECORDS}") from None


_RECORDS = "`sparsedp.publish` counts records, and publishes that"


def checked_mechanism(mechanism: object) -> Mechanism:
    """A mechanism, from itself or its name."""
    if isinstance(mechanism, str):
        return mechanism_named(mechanism)
    if isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        raise InvalidInput("mechanism", f"the class {mechanism.__name__}", f"give an object: {mechanism.__name__}()")
    if not isinstance(mechanism, Mechanism):
        given = f"of type {type(mechanism).__name__}"
        raise InvalidInput("mechanism", given, f"give a mechanism, or one of {', '.join(sorted(MECHANISMS))}")
    return mechanism
