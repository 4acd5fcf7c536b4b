"""`sparsedp compare`: two releases side by side, or, for the owner of the data, a release and the truth."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sparsedp.cli.files import STANDARD, to_read
from sparsedp.cli.options import AsJson
from sparsedp.cli.speaking import show, show_json, warn
from sparsedp.errors import InvalidInput

COMPARE_EXAMPLES = """
sparsedp release flights.parquet --by 'origin:EWR,JFK,LGA' --unit tailnum \\
  --max-contributions 20 --epsilon 0.2 --ledger flights.db \\
  -o first.release.parquet
sparsedp release flights.parquet --by 'origin:EWR,JFK,LGA' --unit tailnum \\
  --max-contributions 20 --epsilon 0.8 --ledger flights.db \\
  -o second.release.parquet
sparsedp compare first.release.parquet second.release.parquet
sparsedp compare first.release.parquet --truth flights.parquet \\
  --unit tailnum --max-contributions 20
"""
NOT_PRIVATE = (
    "NOT PRIVATE: this compares with the data themselves. Keep it to yourself: publishing it, or choosing what to "
    "publish by it, breaks the guarantee."
)
TRUTH = "For owners of the data"


def compare_releases(
    file: Annotated[str, typer.Argument(help="A release; - for standard input.")],
    other: Annotated[str | None, typer.Argument(help="Another release of the same cells.")] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth", metavar="SOURCE", help="The records. What is printed is NOT PRIVATE.", rich_help_panel=TRUTH
        ),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option("--unit", metavar="COLUMN", help="Whose a record is, as for the release.", rich_help_panel=TRUTH),
    ] = None,
    max_contributions: Annotated[
        int,
        typer.Option("--max-contributions", metavar="COUNT", help="As for the release.", rich_help_panel=TRUTH),
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Say how far two releases of the same cells are apart, beside what their errors let expect."""
    if (other is None) == (truth is None):
        raise InvalidInput("other", "missing" if other is None else "given beside --truth", "give one of the two")
    if file == STANDARD and other == STANDARD:
        raise InvalidInput("-", "given twice", "standard input can be only one of the two")
    if truth is not None:
        warn(NOT_PRIVATE)

    from sparsedp.release_file import open_release
    from sparsedp.releases import comparison

    with to_read(file) as path:
        release = open_release(path)
    found: Any
    if other is not None:
        with to_read(other) as path:
            found = comparison.compare(release, open_release(path))
    else:
        found = comparison.compare_with_truth(release, _counted(release, str(truth), unit, max_contributions))
    if as_json:
        show_json({**found.describe(), "not_private": truth is not None})
    else:
        show(str(found))


def _counted(release: Any, source: str, unit: list[str] | None, max_contributions: int) -> Any:
    from sparsedp.cli.records import records_from
    from sparsedp.ingest import count

    if release.domain is None:
        raise InvalidInput("release", "without axes", "the truth can be counted only by the axes of a domain")
    whose = None if not unit else unit[0] if len(unit) == 1 else unit
    return count(records_from(source), release.domain, privacy_unit=whose, max_contributions=max_contributions)
