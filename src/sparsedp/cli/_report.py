"""`sparsedp report` and `sparsedp plot`: a page about a release for a browser, and a picture of it."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsedp.cli._files import STANDARD, check_endings, to_read, to_write
from sparsedp.cli._options import AsJson, Memory, Overwrite
from sparsedp.cli._speaking import show, show_json
from sparsedp.errors import InvalidInput

# `sparsedp report`: a page about a release, for a browser.

REPORT_EXAMPLES = """
sparsedp report flights.release.parquet -o flights.html \\
  --title 'Flights per day, 2013'
"""


def write_report(
    file: Annotated[str, typer.Argument(help="A release; - for standard input.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The page to write, .html; - for standard output.")
    ],
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The page's title.")] = None,
    overwrite: Overwrite = False,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained page: what was published, its promise in plain words, and a chart with error bands."""
    check_endings(output, (".html", ".htm"))
    if output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")

    from sparsedp.releases.release_file import open_release

    with to_write(output, ".html", overwrite=overwrite, binary=False) as path:
        with to_read(file) as source:
            release = open_release(source, memory=memory)
        release.report(path, title=title)
    if as_json:
        show_json({"report": output, "release": file, "digest": release.digest})
    elif output != STANDARD:
        show(f"Wrote {output}: open it in a browser; it needs no network.")


# `sparsedp plot`: a picture of a release.

PLOT_EXAMPLES = """
sparsedp plot flights.release.parquet -o flights.png
sparsedp plot flights.release.parquet --marginal day.weekday,origin \\
  -o weekdays.png
"""
PICTURES = (".png", ".svg", ".pdf")


def plot_release(
    file: Annotated[str, typer.Argument(help="A release; - for standard input.")],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The picture, .png, .svg or .pdf; - for PNG to standard output."
        ),
    ],
    marginal: Annotated[
        list[str] | None,
        typer.Option(
            "--marginal",
            metavar="AXIS",
            help="Draw the table of these axes or groups of cells, summed over all else: day.weekday,origin.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Draw a release with its errors."""
    check_endings(output, PICTURES)
    if output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")

    from sparsedp.cli._answers import axes_named
    from sparsedp.releases.release_file import open_release

    with to_write(output, ".png", overwrite=overwrite) as path:
        with to_read(file) as source:
            release = open_release(source, memory=memory)
        shown = release.marginal(*axes_named(marginal, release.domain)) if marginal else release
        shown.plot(path)
    if as_json:
        show_json({"picture": output, "release": file, "digest": release.digest})
    elif output != STANDARD:
        show(f"Wrote {output}.")
