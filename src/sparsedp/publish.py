"""The one-line way in: `sparsedp.release(counts, epsilon="0.5")`."""

from __future__ import annotations

import numpy.typing as npt

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import MECHANISMS, Laplace, Mechanism
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.releases.release import Release

DEFAULT = Laplace()
"""The default: the least noise per cell under pure ε, no bias, and an error that is known beforehand."""


def release(
    counts: npt.ArrayLike,
    *,
    epsilon: validate.Number | Budget,
    mechanism: str | Mechanism = DEFAULT,
    contribution: int = 1,
    neighbours: str = "add_remove",
    negative: bool = False,
    ledger: Ledger | None = None,
    sampler: str = "sparsedp",
) -> Release:
    """Publish a vector of counts once under ε-differential privacy; then ask the release anything.

    `mechanism`: a name from `sparsedp.MECHANISMS`, or a mechanism with settings, such as
    `sparsedp.Compressive(basis="cosine")`. The other arguments are those of `Mechanism.measure`.
    """
    if isinstance(mechanism, str):
        mechanism = validate.one_of("mechanism", mechanism, MECHANISMS)()
    if isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        raise InvalidInput("mechanism", f"the class {mechanism.__name__}", f"give an object: {mechanism.__name__}()")
    if not isinstance(mechanism, Mechanism):
        given = f"of type {type(mechanism).__name__}"
        raise InvalidInput("mechanism", given, f"give a mechanism, or one of {', '.join(sorted(MECHANISMS))}")
    return mechanism.release(
        counts,
        epsilon=epsilon,
        contribution=contribution,
        neighbours=neighbours,
        negative=negative,
        ledger=ledger,
        sampler=sampler,
    )
