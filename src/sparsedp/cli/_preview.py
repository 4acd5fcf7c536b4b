"""`sparsedp preview`: how wrong a release would be, before anything is spent."""

from __future__ import annotations

from typing import Annotated

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
    Rho,
    chosen_mechanism,
    domain_of,
)
from sparsedp.cli._report import PICTURES
from sparsedp.cli._speaking import show_json, show_lines
from sparsedp.errors import InvalidInput

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
    contribution: Annotated[
        int,
        typer.Option(
            "--max-contributions",
            metavar="COUNT",
            help="How many records of one person are counted.",
            rich_help_panel=PEOPLE,
        ),
    ] = 1,
    neighbours: NeighboursName = None,
    mechanism: MechanismName = None,
    shape: Annotated[
        str,
        typer.Option(
            "--shape",
            metavar="NAME",
            help="How the counts run: flat, smooth, steps, spiky, rough, unordered; unknown tries them all.",
        ),
    ] = "unknown",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Draw it, too: .png, .svg, .pdf.", rich_help_panel=FILES),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Say how far off a release would be, from public assumptions alone: no data is read and nothing is spent.

    Never read --total off the counts that you mean to publish: take last year's table, a census, an order of magnitude.
    """
    if output is not None:
        check_endings(output, PICTURES)
        check_output(output, overwrite=overwrite)
    domain = domain_of(by)
    chosen = chosen_mechanism(mechanism)

    from sparsedp.previews import preview

    found = preview(
        domain,
        epsilon=epsilon,
        rho=rho,
        delta=delta,
        total=_total(total),
        smoothness=shape,
        mechanism=chosen,
        contribution=contribution,
        neighbours=neighbours or "add_remove",
    )
    if output is not None:
        found.plot(output)
    if as_json:
        from sparsedp.mechanisms import name_and_settings

        budget = found.setting.budget.describe()
        show_json({"budget": budget, "mechanism": name_and_settings(chosen), "errors": found.table})
    else:
        show_lines(str(found))


def _total(text: str) -> int | tuple[int, int]:
    try:
        low, dots, high = text.replace("_", "").partition("..")
        return (int(low), int(high)) if dots else int(low)
    except ValueError:
        raise InvalidInput("total", "not a whole number", "give one, such as 50000, or two: 10000..50000") from None
