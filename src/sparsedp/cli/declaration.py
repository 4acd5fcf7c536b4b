"""What `sparsedp release` was asked for: the command line over the project file, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.cli.as_typed import check_axes
from sparsedp.cli.budgets import ledger_named
from sparsedp.cli.files import STANDARD
from sparsedp.cli.mechanisms import chosen_mechanism
from sparsedp.cli.option_text import bounds, domain_of, pairs
from sparsedp.cli.project import Settings, project_settings, refuse_outside, taken_from, taken_in_words
from sparsedp.cli.release_output import form_of
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.domain import Domain
    from sparsedp.mechanisms.base import Mechanism
    from sparsedp.privacy.asked import Asked

TOGETHER = (("epsilon", "rho", "delta"), ("unit", "each_row_is_a_person"), ("value", "clamp", "resolution"))
"""Settings that are one choice: naming one of them on the command line sets aside what the project file says of all."""


@dataclass(frozen=True)
class Declaration:
    """Everything that a release is made of, and where it goes."""

    source: str
    domain: Domain
    unit: str | list[str] | None
    max_contributions: int
    asked: Asked
    mechanism: Mechanism
    neighbours: str
    ledger: str | None
    dataset: str | None
    output: str
    form: str
    overwrite: bool
    report: str | None
    title: str | None
    integers: bool
    sign: str | None = None
    passphrase_fd: int | None = None
    counting: dict[str, Any] = field(default_factory=dict)
    """What `sparsedp.count` takes beside these: columns, outside, value, clamp, resolution, csv."""
    from_project: str | None = None
    """What the project file decides, in words."""


def declared(
    given: Settings,
    project: str | None,
    *,
    no_ledger: bool,
    form: str | None,
    overwrite: bool,
    passphrase_fd: int | None = None,
) -> Declaration:
    """The declaration, or the first thing that is missing or contradicts itself."""
    file, said = project_settings(project)
    settings = merged(said, given)
    if no_ledger:
        settings.pop("ledger", None)
    taken = taken_from(said, settings, given)
    if file is not None:
        refuse_outside(file, settings, taken)
    source = settings.get("source")
    if source is None:
        raise InvalidInput("source", "missing", "name the records: `sparsedp release visits.parquet …`")
    ledger = ledger_named(given.get("ledger"), no_ledger=no_ledger, otherwise=settings.get("ledger"))
    domain = domain_of(settings.get("by"))
    mechanism = chosen_mechanism(settings.get("mechanism"), settings.get("workload"))
    output = settings.get("release") or _beside(source)

    from sparsedp.privacy.asked import asked_for

    return Declaration(
        source=source,
        domain=domain,
        unit=_unit(settings),
        max_contributions=settings.get("max_contributions", 1),
        asked=asked_for(settings.get("epsilon"), settings.get("rho"), settings.get("delta")),
        mechanism=mechanism,
        neighbours=settings.get("neighbours", "add_remove"),
        ledger=ledger,
        dataset=settings.get("dataset"),
        output=output,
        form=form_of(output, form),
        overwrite=overwrite,
        report=settings.get("report"),
        title=settings.get("title"),
        integers=settings.get("integers", False),
        sign=settings.get("sign"),
        passphrase_fd=passphrase_fd,
        counting=_checked_sums(counting_of(settings, domain.names)),
        from_project=None if file is None or not taken else taken_in_words(file, settings, taken),
    )


def merged(project: Settings, given: Settings) -> Settings:
    """What is given on the command line over what the project file says."""
    said = {name: value for name, value in given.items() if value is not None and value != []}
    aside = {name for group in TOGETHER if said.keys() & set(group) for name in group}
    if said.get("each_row_is_a_person"):
        aside.add("max_contributions")  # it was of another unit
    return {**{name: value for name, value in project.items() if name not in aside}, **said}


def _unit(settings: Settings) -> str | list[str] | None:
    unit = settings.get("unit")
    if settings.get("each_row_is_a_person"):
        if unit:
            raise InvalidInput("unit", "given beside --each-row-is-a-person", "leave one of the two out")
        return None
    if not unit:
        remedy = (
            "say which column tells whose a record is, such as --unit patient_id; or promise that no person has two "
            "records with --each-row-is-a-person"
        )
        raise InvalidInput("unit", "missing", remedy)
    if isinstance(unit, list) and len(unit) == 1:
        return str(unit[0])
    return unit if isinstance(unit, str) else [str(column) for column in unit]


CSV_SETTINGS = ("delimiter", "decimal", "date_format", "encoding", "multiline")
"""How CSV is written; declared, never guessed."""


def counting_of(settings: Settings, axes: Sequence[str]) -> dict[str, Any]:
    """The arguments that `sparsedp.count` has for records beyond the usual; `axes`: those that there are."""
    outside, columns, clamp = settings.get("outside"), settings.get("columns"), settings.get("clamp")
    found = {
        "columns": pairs("--column", columns) if isinstance(columns, list) else columns,
        "outside": pairs("--outside", outside) if isinstance(outside, list) else outside,
        "value": settings.get("value"),
        "clamp": bounds("--clamp", clamp) if isinstance(clamp, str) else None if clamp is None else tuple(clamp),
        "resolution": settings.get("resolution"),
        "csv": {name: settings[name] for name in CSV_SETTINGS if name in settings} or None,
    }
    for option, name in (("--column", "columns"), ("--outside", "outside")):
        said = found[name]
        if isinstance(said, dict):
            check_axes(option if isinstance(settings[name], list) else f"{name} in the project file", said, axes)
    return {name: value for name, value in found.items() if value is not None}


def _checked_sums(counting: dict[str, Any]) -> dict[str, Any]:
    """All that a sum needs and was not given is asked for at once."""
    needed = {"clamp": "--clamp 0..500", "resolution": "--resolution 0.01"}
    missing = [name for name in needed if "value" in counting and name not in counting]
    if missing:
        given = f"given without {' and '.join(f'--{name}' for name in missing)}"
        what = {"clamp": "the bounds of one record's value", "resolution": "what values are rounded to"}
        remedy = f"declare {' and '.join(what[name] for name in missing)}: {' '.join(needed[name] for name in missing)}"
        raise InvalidInput("--value", given, remedy)
    return counting


def _beside(source: str) -> str:
    """The output where none is named: in the current folder, after the source."""
    if source == STANDARD or any(sign in source for sign in "*?["):
        raise InvalidInput("output", "missing", "name the file to write: -o visits.release.parquet")
    name = Path(source).name
    for ending in (".gz", ".csv", ".parquet"):
        name = name.removesuffix(ending)
    return f"{name}.release.parquet"
