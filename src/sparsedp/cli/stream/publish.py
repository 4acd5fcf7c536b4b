"""`sparsedp stream publish`: an estimate of every tick so far."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsedp.cli.files import STANDARD
from sparsedp.cli.options import AsJson, Overwrite
from sparsedp.cli.release_output import Format, Output, write_release
from sparsedp.cli.speaking import show, show_json
from sparsedp.cli.stream.file import the_stream

PUBLISH_EXAMPLES = """
sparsedp stream publish visits.stream -o hours.release.parquet
sparsedp stream publish visits.stream --recovery direct -o - --format csv
"""


def publish_stream(
    file: Annotated[str, typer.Argument(help="The stream's file.")],
    output: Output,
    recovery: Annotated[
        str | None, typer.Option("--recovery", metavar="NAME", help="direct: the noisy ticks as they were published.")
    ] = None,
    form: Format = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Publish all ticks so far, as often as you like: the budget is for the stream's whole life, nothing is spent."""
    with write_release(output, form, overwrite=overwrite, as_json=as_json) as write:
        with the_stream(file) as stream:
            release = stream.release(recovery)
        write(release)
    if as_json:
        show_json({"file": output, "ticks": len(release), "guarantee": str(release.guarantee)})
    elif output != STANDARD:
        show(f"Wrote {output}: {len(release):,} ticks. {release.guarantee} Nothing more was spent.")
