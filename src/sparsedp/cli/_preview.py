"""`sparsedp preview`: how wrong a release would be, before anything is spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedp.cli._files import check_endings, check_output
from sparsedp.cli._options import (
    FILES,
    PEOPLE,
    AsJson,
    By,
    Delta,
    Epsilon,
    MechanismName,
    NeighboursName,
    Overwrite,
    ProjectFile,
    Rho,
    Workload,
    chosen_mechanism,
    domain_of,
)
from sparsedp.cli._project import Settings, project_settings, refuse_outside, taken_from, taken_in_words
from sparsedp.cli._release import merged
from sparsedp.cli._report import PICTURES
from sparsedp.cli._speaking import note, show_json, show_lines, show_table, warn
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.previews import Preview

PREVIEW_EXAMPLES = """
sparsedp preview --by 'day:2024-01-01..2024-12-31/1d' --by 'sex:F,M' \\
  --epsilon 0.5 --max-contributions 3 --total 50000 --shape smooth
"""


def preview_release(
    total: Annotated[
        str, typer.Option("--total", metavar="COUNT", help="A public guess at the sum of all cells, or 10000..50000.")
    ],
    by: By = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    max_contributions: Annotated[
        int | None,
        typer.Option(
            "--max-contributions",
            metavar="COUNT",
            help="How many records of one person are counted; left out, 1.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    neighbours: NeighboursName = None,
    mechanism: MechanismName = None,
    workload: Workload = None,
    shape: Annotated[
        str,
        typer.Option(
            "--shape",
            metavar="NAME",
            help="How the counts run: flat, smooth, steps, spiky, rough, unordered, linked; unknown tries them all.",
        ),
    ] = "unknown",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Draw it, too: .png, .svg, .pdf.", rich_help_panel=FILES),
    ] = None,
    overwrite: Overwrite = False,
    project: ProjectFile = None,
    as_json: AsJson = False,
) -> None:
    """Say how far off a release would be, from public assumptions alone: no data is read and nothing is spent.

    Never read --total off the counts that you mean to publish: take last year's table, a census, an order of magnitude.
    The axes, the budget, the mechanism and the bound on contributions may stand in sparsedp.toml.
    """
    if output is not None:
        check_endings(output, PICTURES)
        check_output(output, overwrite=overwrite)
    given: Settings = {
        "by": by,
        "max_contributions": max_contributions,
        "neighbours": neighbours,
        "epsilon": epsilon,
        "rho": rho,
        "delta": delta,
        "mechanism": mechanism,
        "workload": workload,
    }
    settings, remarks = _declared(given, project)
    domain = domain_of(settings.get("by"))
    chosen = chosen_mechanism(settings.get("mechanism"), settings.get("workload"))
    wanted = _total(total)
    for say, remark in remarks:
        say(remark)

    from sparsedp.previews import preview

    found = preview(
        domain,
        epsilon=settings.get("epsilon"),
        rho=settings.get("rho"),
        delta=settings.get("delta"),
        total=wanted,
        smoothness=shape,
        mechanism=chosen,
        contribution=settings.get("max_contributions", 1),
        neighbours=settings.get("neighbours", "add_remove"),
    )
    if output is not None:
        found.plot(output)
    if as_json:
        from sparsedp.mechanisms import name_and_settings

        show_json(
            {
                "budget": found.setting.budget.describe(),
                "mechanism": name_and_settings(chosen),
                "errors": found.table,
                "questions": found.questions,
                "left_out": found.left_out,
                "suggestions": found.suggestions,
            }
        )
    else:
        _show(found)


def _show(found: Preview) -> None:
    """Paragraphs and tables, one under the other."""
    from sparsedp.previews import parts_of

    for place, part in enumerate(parts_of(found)):
        if place:
            show_lines("")
        if isinstance(part, str):
            show_lines(part)
        else:
            show_table(part.headings, part.rows)


def _declared(given: Settings, project: str | None) -> tuple[Settings, list[tuple[Callable[[str], None], str]]]:
    """What was typed over what the project file says of it, and what is to be said of that."""
    file, said = project_settings(project)
    known = {name: value for name, value in said.items() if name in given}
    settings = merged(known, given)
    taken = taken_from(known, settings, given)
    if file is not None:
        refuse_outside(file, settings, [name for name in taken if name == "by"])  # no other file is looked at
    remarks: list[tuple[Callable[[str], None], str]] = []
    if file is not None and taken:
        remarks.append((note, taken_in_words(file, settings, taken)))
    if file is not None and "value" in said:
        text = (
            f"{file} publishes sums of {said['value']}; a preview is of counts of records, which do not say how far "
            "off such sums would be."
        )
        remarks.append((warn, text))
    return settings, remarks


def _total(text: str) -> int | tuple[int, int]:
    try:
        low, dots, high = text.replace("_", "").partition("..")
        return (int(low), int(high)) if dots else int(low)
    except ValueError:
        raise InvalidInput("total", "not a whole number", "give one, such as 50000, or two: 10000..50000") from None
