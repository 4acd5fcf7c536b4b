"""`sparsedp stream publish`: an estimate of every tick so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sparsedp.cli.files import STANDARD
from sparsedp.cli.options import AsJson, Overwrite, PassphraseFd, Sign
from sparsedp.cli.release_output import Format, Output, write_release
from sparsedp.cli.speaking import show, show_json
from sparsedp.cli.stream.file import the_stream
from sparsedp.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from sparsedp.releases.release import Release
    from sparsedp.streams.base import Stream

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
    sign: Sign = None,
    passphrase_fd: PassphraseFd = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Publish all ticks so far, as often as you like: the budget is for the stream's whole life, nothing is spent."""
    with write_release(
        output, form, overwrite=overwrite, as_json=as_json, sign=sign, passphrase_fd=passphrase_fd
    ) as write:
        with the_stream(file) as stream:
            release = _recovered(stream, recovery)
        write(release)
    if as_json:
        show_json({"file": output, "ticks": len(release), "guarantee": str(release.guarantee)})
    elif output != STANDARD:
        show(f"Wrote {output}: {len(release):,} ticks. {release.guarantee} Nothing more was spent.")


def _recovered(stream: Stream, recovery: str | None) -> Release:
    """Every tick; of the many recoveries that are no choice of a publisher, none is offered."""
    try:
        return stream.release(recovery)
    except UnknownName as error:
        if error.argument != "recovery" or "direct" not in error.known:
            raise
        remedy = "leave it out for the best estimate, or say direct for the noisy ticks as they were published"
        raise InvalidInput("recovery", error.given, remedy) from None
