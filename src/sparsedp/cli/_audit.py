"""`sparsedp audit`: hold the code against its promises, for the officer who signs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedp.cli._files import check_output
from sparsedp.cli._options import FILES, PEOPLE, AsJson, By, Delta, Epsilon, NeighboursName, Overwrite, Rho, domain_of
from sparsedp.cli._running import ExitCode
from sparsedp.cli._speaking import note, show, show_json
from sparsedp.errors import InvalidInput
from sparsedp.files.whole_file import written_whole

if TYPE_CHECKING:
    from sparsedp.publishing.order import Order


AUDIT_EXAMPLES = """
sparsedp audit laplace --epsilon 1 --by 'age:0..100/5' --by 'sex:F,M' \\
  --replays 50 --runs 0
sparsedp audit continual_counter --runs 0
"""


def audit_promises(
    mechanism: Annotated[
        str | None,
        typer.Argument(
            metavar="MECHANISM",
            help="adaptive:cells, laplace, …; a stream, such as continual_counter; or records. "
            "Without it, what the project file says.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every mechanism, every stream, and the way from records to counts.")
    ] = False,
    project: Annotated[
        str | None, typer.Option("--project", metavar="FILE", help="The order in this project file.")
    ] = None,
    by: By = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    contribution: Annotated[
        int,
        typer.Option("--max-contributions", metavar="COUNT", help="Records of one person.", rich_help_panel=PEOPLE),
    ] = 1,
    neighbours: NeighboursName = None,
    replays: Annotated[int, typer.Option("--replays", metavar="COUNT", help="Lists of answers to replay.")] = 1500,
    runs: Annotated[
        int, typer.Option("--runs", metavar="COUNT", help="Releases that an attack sees; 0 for no attack.")
    ] = 20_000,
    jobs: Annotated[int | None, typer.Option("--jobs", metavar="COUNT", help="Processes; one a core.")] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the table as Markdown, too.", rich_help_panel=FILES),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Hold the code against what it promises. No records are read, and nothing is spent.

    Every step is replayed on made-up neighbours with the same noisy answers; how much likelier these were for one of
    them is computed exactly; what was drawn is held against its law; and an attack measures what real releases give
    away. Exit code 1 if anything exceeds its bound.
    """
    if output is not None:
        check_output(output, overwrite=overwrite)
    if everything and (mechanism is not None or project is not None or by or epsilon or rho or delta):
        raise InvalidInput("--all", "given beside what it holds already", "leave one of the two out")

    from sparsedp.audits import audit, audit_order

    settings = {"replays": replays, "runs": runs, "jobs": jobs, "told": _told}
    if everything:
        found = audit(**settings)  # type: ignore[arg-type]
    elif mechanism is not None:
        found = audit(
            mechanism,
            epsilon=epsilon,
            rho=rho,
            delta=delta,
            domain=domain_of(by) if by else None,
            contribution=contribution,
            neighbours=neighbours or "add_remove",
            **settings,  # type: ignore[arg-type]
        )
    else:
        found = audit_order(_order(project), **settings)  # type: ignore[arg-type]
    if output is not None:
        written_whole(Path(output), lambda file: file.write(found.markdown(_command()).encode()))
    if as_json:
        show_json(found.describe())
    else:
        for line in str(found).splitlines():
            show(line)
    if not found.passed:
        raise typer.Exit(ExitCode.REFUSED)


def _order(project: str | None) -> Order:
    """What the project file asks for; what is asked for without one is not known."""
    from sparsedp.cli._project import NAME
    from sparsedp.cli._release import declared

    if project is None and not Path(NAME).is_file():
        given = f"missing, and there is no {NAME} here"
        raise InvalidInput("mechanism", given, "name one, such as adaptive, or say --all")
    wanted = declared({}, project, no_ledger=True, form=None, overwrite=True)
    return wanted.order(wanted.source)


def _told(done: int, of: int) -> None:
    """A line now and then, for whoever waits."""
    if done == of or done % 10 == 0:
        note(f"{done} of {of} cases are done.")


def _command() -> str:
    """As it was typed."""
    return shlex.join(["sparsedp", *sys.argv[1:]])
