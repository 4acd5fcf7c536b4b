"""Where a release goes: a Parquet file, or Parquet or CSV on standard output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedp.cli.files import STANDARD, check_output, to_write
from sparsedp.cli.options import FILES
from sparsedp.cli.signing_keys import key_to_sign
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.untrusted import printable
from sparsedp.whole_file import written_whole

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

FORMATS = ("parquet", "csv")

Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The file to write; - for standard output.",
        rich_help_panel=FILES,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="parquet, or csv: the table alone, without its promise.",
        rich_help_panel=FILES,
    ),
]


def form_of(output: str, form: str | None) -> str:
    """What is written: what was asked for, else what the name says, else Parquet."""
    if form is not None and form not in FORMATS:
        raise UnknownName("format", form, FORMATS)
    return form or ("csv" if Path(output).suffix.lower() == ".csv" else "parquet")


@contextmanager
def write_release(
    output: str,
    form: str | None,
    *,
    overwrite: bool,
    as_json: bool = False,
    sign: str | None = None,
    passphrase_fd: int | None = None,
) -> Iterator[Callable[[Release], None]]:
    """Check that the output can be written and the key be used, and give the function that writes it."""
    from sparsedp.columns_file import OTHER_FORMATS  # here, so that --help waits for none of it

    if output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")
    kind = form_of(output, form)
    if kind == "parquet" and Path(output).suffix.lower() in OTHER_FORMATS:
        given = f"a name ending in {Path(output).suffix}"
        raise InvalidInput("output", given, "give one ending in .parquet or .csv, whichever is to be written")
    check_output(output, overwrite=overwrite, binary=kind == "parquet")
    key = key_to_sign(sign, passphrase_fd, form=kind)

    def write(release: Release) -> None:
        release = release if key is None else release.sign(key)
        with to_write(output, ".parquet", overwrite=overwrite, binary=kind == "parquet") as path:
            if kind == "csv":
                write_csv(release, path, to_a_terminal=output == STANDARD)
            else:
                release.save(path)

    yield write


def write_csv(release: Release, path: Path, *, to_a_terminal: bool = False) -> None:
    """The columns of a release's file as CSV, all or nothing; escaped where it may be shown by a terminal."""
    import pyarrow as pa
    import pyarrow.csv

    table = release.to_arrow()
    for place, entry in enumerate(table.schema if to_a_terminal else ()):
        if pa.types.is_string(entry.type):
            words = [printable(word) for word in table.column(place).to_pylist()]
            table = table.set_column(place, entry.name, pa.array(words, pa.string()))
    written_whole(path, lambda file: pyarrow.csv.write_csv(table, file))
