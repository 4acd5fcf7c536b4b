"""The ways in, in one call: `sparsedp.release`, from counts, and `sparsedp.publish`, from records to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from sparsedp import validate
from sparsedp.axes.domain import Declared
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.files.signatures import signing_key
from sparsedp.ingest.request import Request
from sparsedp.mechanisms import MECHANISMS, Adaptive, Mechanism, mechanism_named
from sparsedp.privacy.budget import Budget, asked_for
from sparsedp.privacy.ledger import Ledger
from sparsedp.publishing.order import FileDelivery, Order
from sparsedp.publishing.run import Run
from sparsedp.releases.release import Release

if TYPE_CHECKING:
    from sparsedp.files.signatures import Private


# The one-line way in: `sparsedp.release(counts, epsilon="0.5")`.

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
    counts_share: validate.Number | None = None,
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
            counts_share=counts_share,
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


# From records to a published file in one call.


def publish(
    source: Any,
    *,
    to: str | os.PathLike[str],
    domain: Declared,
    privacy_unit: str | Sequence[str] | None,
    max_contributions: int | str = 1,
    cut_share: validate.Number | None = None,
    clamp_share: validate.Number | None = None,
    epsilon: validate.Number | Budget | None = None,
    rho: validate.Number | None = None,
    delta: validate.Number | None = None,
    mechanism: str | Mechanism = DEFAULT,
    ledger: Ledger | None,
    overwrite: bool = False,
    columns: Mapping[str, str] | None = None,
    outside: str | Mapping[str, str | int] = "drop",
    value: str | None = None,
    clamp: tuple[validate.Number, validate.Number] | str | None = None,
    resolution: validate.Number | None = None,
    with_counts: bool = False,
    counts_share: validate.Number | None = None,
    csv: Mapping[str, Any] | None = None,
    neighbours: str = "add_remove",
    constraints: Constraints | None = None,
    allow_empty: bool = False,
    sign: Private | None = None,
    passphrase: str | bytes | None = None,
) -> Release:
    """Count records, publish the counts once under differential privacy, and write the release to a file.

    `source`, `domain`, `privacy_unit`, `max_contributions`, `columns`, `outside`, `value`, `clamp`, `resolution`,
    `csv`: as for `sparsedp.count`. `epsilon`, `rho`, `delta`, `mechanism`, `neighbours`, `constraints`: as for
    `sparsedp.release`.
    `with_counts`: with a value, publishes how many records there are beside their sums, of the very same records and
    under the same budget: `release.counts`, `release.mean(by="ward")`. `counts_share` of the budget is for the counts,
    a quarter if left out.
    `max_contributions="auto"`: the bound is chosen by a private look at how many records people have.
    `cut_share`: the share of the budget that is spent to say what the bound leaves out (`release.cut`), and to choose
    it if it is to be chosen: 0.02 if nothing is said, 0.05 to choose, "0" to do without. None of it is spent where
    every record is another person's.
    `clamp="auto"`: what values are clamped to is chosen by a private look at how large they are, for which
    `clamp_share` of the budget is spent, 0.05 if nothing is said: powers of two times the resolution.
    `to`: the file to write; one that exists is refused unless `overwrite` says so.
    `ledger`: a data set of a ledger file (`sparsedp.open_ledger("budget.db", "visits")`), or one in memory; None says
    aloud that nobody keeps count of what is spent.
    `allow_empty`: records of which not one can be read into the table (a wrong format of dates, say) are refused before
    anything is spent, for their owner alone to see; True publishes them as any others.
    `sign`: a private key that signs the file (`sparsedp.new_key` makes one), unlocked by `passphrase` if it is locked.

    With a ledger file an interruption costs nothing twice: once the noisy measurement is stored beside the ledger, the
    same call goes on from there, reads no records and spends nothing; of records in a file also if `to` is another.
    What was stored is what was paid for, even if the file has changed since. Stopped between the debit and that moment,
    the budget is spent, which the next call says before it spends again.
    """
    validate.yes_or_no("overwrite", overwrite)
    validate.yes_or_no("allow_empty", allow_empty)
    key = None if sign is None else signing_key(sign, passphrase, argument="sign")
    if ledger is not None and not isinstance(ledger, Ledger):
        remedy = 'give `sparsedp.open_ledger("budget.db", "name")`, or None if you keep count of it elsewhere'
        raise InvalidInput("ledger", f"of type {type(ledger).__name__}", remedy)
    request = Request.of(
        source,
        domain,
        privacy_unit=privacy_unit,
        max_contributions=max_contributions,
        columns=columns,
        outside=outside,
        value=value,
        clamp=clamp,
        resolution=resolution,
        with_counts=with_counts,
        csv=csv,
    )
    order = Order.of(
        request,
        asked_for(epsilon, rho, delta),
        checked_mechanism(mechanism),
        FileDelivery(to, overwrite=overwrite),
        ledger=ledger,
        neighbours=neighbours,
        constraints=constraints,
        sign=key,
        counts_share=counts_share,
        allow_empty=allow_empty,
        cut_share=cut_share,
        clamp_share=clamp_share,
    )
    return Run(order).carried_out()
