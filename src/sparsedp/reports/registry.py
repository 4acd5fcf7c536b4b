"""A deployment record: what a public registry of deployments asks about a release, as far as the release knows it.

The fields are those of the Differential Privacy Deployments Registry of OpenDP (github.com/opendp, repository
deployments-registry-data, schemas/deployments-schema.yaml). What a release cannot know is left empty and marked
`# to fill in`: nothing is guessed, and nothing is said that is not in the published file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsedp.errors import InvalidInput
from sparsedp.reports._statement import bought, protected_unit

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


class Open(NamedTuple):
    """Something for people to fill in, or to go on from what is known."""

    hint: str = ""
    known: str | int | Decimal = ""


def registry_record(release: Release) -> str:
    """The record as YAML, with `# to fill in` where people have to."""
    if not release.private:
        remedy = "publish one with real noise; nothing is deployed by this one"
        raise InvalidInput("release", "made with noise for tests, which protects nobody", remedy)
    return "\n".join(_yaml(_record(release), "")) + "\n"


def _record(release: Release) -> dict[str, Any]:
    return {
        "url_slug": Open("a name for the address of this record"),
        "status": "Draft",
        "tier": Open("3 once all of it is filled in", 2),
        "deployment": {
            "basic": _basic(release),
            "dp_variant": _variant(release),
            "privacy_loss": _loss(release),
            "deployment_model": _model(release),
            "accounting": _accounting(release),
            "implementation": _implementation(release),
            "administrative": _administrative(release),
        },
    }


def _basic(release: Release) -> dict[str, Any]:
    value = release.quantity.value
    counted = "Counts of records" if value is None else f"Sums of {value}"
    counted += "" if release.counts is None else " and counts of the records they are of"
    return {
        "name": Open(),
        "data_curators": [Open("who publishes it")],
        "intended_use": Open(),
        "data_product_type": "Summary statistics",
        "data_product_region": Open(),
        "description": Open("what the records are", f"{counted} in {len(release):,} cells: {release.span}."),
        "publication_date": Open("as '2026-01-31'"),
        "data_product_sector": Open("Technology, Healthcare, Education, Government, Energy or Finance"),
    }


def _variant(release: Release) -> dict[str, Any]:
    guarantee = release.guarantee
    if guarantee.spent.rho is not None:
        name = "Zero-concentrated DP"
    else:
        name = "Approximate DP" if guarantee.spent.delta else "Pure DP"
    public = "The cells (their number, edges and labels), the contribution bound, the mechanism and its parameters."
    totals = " Totals that were declared public; they are published as they are." * guarantee.neighbours.invariant
    return {
        "variant_name": name,
        "data_domain": Open("what the records are", f"Data sets of records, counted by {release.span}."),
        "unprotected_quantities": Open("anything that is published beside this release", public + totals),
    }


def _loss(release: Release) -> dict[str, Any]:
    guarantee = release.guarantee
    spent = guarantee.spent
    exact = {name: value for name, value in _parameters(release).items() if value}
    return {
        "privacy_unit": f"{protected_unit(guarantee).capitalize()}-level",
        "privacy_unit_details": f"Adjacent data sets differ by {guarantee.whom}.",
        "privacy_parameters": {name: _rounded_up(value) for name, value in exact.items()},
        "privacy_parameters_details": f"{guarantee} Exactly: {spent.amount}.",
    }


def _parameters(release: Release) -> dict[str, Fraction | None]:
    spent = release.guarantee.spent
    return {"epsilon": spent.epsilon, "delta": spent.delta, "rho": spent.rho}


def _model(release: Release) -> dict[str, Any]:
    stream = release.guarantee.intrusions is not None
    over_time = "One budget covers everything that is published over the whole life of the stream."
    return {
        "model_name": "Central",
        "model_name_details": "A trusted curator holds the records, and adds the noise before anything is published.",
        "actors": Open("who sees the records, who is trusted, and against whom it protects"),
        "release_type": "Many releases" if stream else "One release",
        "release_type_details": Open("what else will be published", over_time if stream else ""),
        "data_source_type": "Dynamic" if stream else Open("Static or Dynamic"),
        "data_source_type_details": Open(),
        "access_type": "Non-interactive",
        "access_type_details": "The published copy can be asked any number of questions; the records cannot be asked.",
    }


def _accounting(release: Release) -> dict[str, Any]:
    plan = release.plan or {}
    after = [f"All cells were estimated from the noisy measurement by the recovery {release.recovery.get('name')!r}."]
    if release.mechanism in ("adaptive", "continual_adaptive") and release.nonnegative:
        after.append("Estimates were made non-negative.")
    if "constraints" in plan:
        after.append(f"Public constraints were imposed: {', '.join(sorted(plan['constraints']))}.")
    if release.summed_to is not None:
        after.append(f"The cells were then summed to {', '.join(release.summed_to)}.")
    parts = "; ".join(f"{purpose}: {amount}" for purpose, amount in bought(release).items())
    composed = f"Within this release, sequential composition: {parts}."
    record = release.record
    if record is None:
        return {
            "post_processing": " ".join(after),
            "composition": Open("releases of the same people: no ledger has recorded this one", composed),
        }
    ledger = (
        f" Across releases, a ledger for the data set {record.get('data_set')!r}: total {record.get('total')}, spent "
        f"with this release {record.get('spent')}, left {record.get('left')}."
    )
    return {"post_processing": " ".join(after), "composition": composed + ledger}


def _implementation(release: Release) -> dict[str, Any]:
    counted = release.guarantee.neighbours.counted
    bound = "promised by the curator" if counted is None else counted.how
    exact = "The noise is an exact sample of a discrete law, added to integers."
    noise = ", ".join(sorted(_laws(release.noise))).replace("_", " ")
    return {
        "preprocessing_and_hyperparameter_tuning": Open(
            "how the cells, the bound and the budget were chosen, and whether that looked at the data",
            f"Contribution bound: {bound}.",
        ),
        "mechanisms": Open(
            "how the records and the machine are protected",
            f"Mechanism {release.mechanism!r} with {noise} noise, by {release.written_by}. {exact}",
        ),
        "justification": Open("why this budget, this unit and these cells"),
    }


def _laws(noise: Mapping[str, Any]) -> Iterator[str]:
    """The names of all laws of noise that were drawn from."""
    parts = [part for value in noise.values() for part in (value if isinstance(value, list) else [value])]
    within = {name for part in parts if isinstance(part, Mapping) for name in _laws(part)}
    yield from within or {str(noise.get("name", "unknown"))}


def _administrative(release: Release) -> dict[str, Any]:
    signed = "" if release.signature is None else f"; signed with the key {release.signature.fingerprint}"
    return {
        "sources": Open("where the release, its documents and its public key are"),
        "notes": f"Digest of the published file: {release.digest}{signed}.",
        "registry_authors": [Open("who filled in this record")],
    }


# ---- YAML


def _yaml(node: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _yaml(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_scalar(entry)}" for entry in value)
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: Open | str | int | Decimal) -> str:
    if isinstance(value, Open):
        hint = f": {value.hint}" if value.hint else ""
        return f"{_scalar(value.known)}  # to fill in{hint}"
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _escaped(sign: str) -> str:
    """A character within double quotes; whatever could end the text, the line or the file is written as its number."""
    if sign in '"\\':
        return f"\\{sign}"
    number = ord(sign)
    if 0xD800 <= number < 0xE000:  # half a character, which no file can hold
        return "\ufffd"
    if sign.isprintable():
        return sign
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _rounded_up(number: Fraction) -> Decimal:
    """A decimal of at most twelve digits that is not smaller."""
    return Context(prec=12, rounding=ROUND_CEILING).divide(Decimal(number.numerator), Decimal(number.denominator))
