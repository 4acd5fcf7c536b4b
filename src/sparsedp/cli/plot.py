"""`sparsedp plot`: a picture of a release."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsedp.cli.files import STANDARD, check_endings, to_read, to_write
from sparsedp.cli.options import AsJson, Memory, Overwrite
from sparsedp.cli.speaking import show, show_json
from sparsedp.errors import InvalidInput

PLOT_EXAMPLES = """
sparsedp plot flights.release.parquet -o flights.png
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
    overwrite: Overwrite = False,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Draw a release with its errors."""
    check_endings(output, PICTURES)
    if output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")

    from sparsedp.release_file import open_release

    with to_write(output, ".png", overwrite=overwrite) as path:
        with to_read(file) as source:
            release = open_release(source, memory=memory)
        release.plot(path)
    if as_json:
        show_json({"picture": output, "release": file, "digest": release.digest})
    elif output != STANDARD:
        show(f"Wrote {output}.")
